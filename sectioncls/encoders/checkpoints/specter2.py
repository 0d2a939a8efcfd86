"""SPECTER2: a base with one adapter in AdapterHub's form for each format, as our ``adapters``.

Paper: arXiv 2211.13308. The adapters lie in ``adapters/NAME/`` of the base's folder, alone in a folder that names its
base, or each in a repository of the hub. The hub's are published pickled: convert_weights turns a folder of downloads
into one that is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from sectioncls.encoders.backbones import HubModel, PackagedModel, adapter_of
from sectioncls.encoders.checkpoints.adapterhub import (
    CONFIG,
    MAX_CONFIG,
    WEIGHTS,
    AdapterWeights,
    Bottleneck,
    adapters_in,
)
from sectioncls.encoders.conditioning.adapters import ACTIVATIONS
from sectioncls.encoders.conditioning.condition import condition
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.routes import TASKS
from sectioncls.errors import ModelError

__all__ = ["adapter_folder", "find_adapters", "with_adapters"]

# Parts of the names under which adapters are published, and the task of each.
_TASKS: Mapping[str, str] = {
    "adhoc_query": "search",
    "search": "search",
    "qry": "search",
    "proximity": "proximity",
    "prx": "proximity",
    "classification": "classification",
    "clf": "classification",
    "regression": "regression",
    "rgn": "regression",
}


def find_adapters(name: str, row: HubModel | PackagedModel | None) -> tuple[str, dict[str, str]]:
    """Give the base of a model and its adapters by task, each a folder or a hub id; no adapters for a plain model.

    ``row`` is what the table of backbones says of ``name``.
    Raises ModelError for a folder whose adapters don't say which task they serve.
    """
    if row is not None:
        rows = row.adapters if isinstance(row, HubModel) else ()
        return (row.hub_id if rows else name), {adapter.task: adapter.hub_id for adapter in rows}
    known = adapter_of(name)
    if known is not None:
        base, adapter = known
        return base.hub_id, {adapter.task: name}
    folder = Path(name).expanduser()
    if (folder / "config.json").is_file():
        places: dict[str, str] = {}
        for place in adapters_in(folder):
            task = _task_of(place)
            if task in places:
                raise ModelError(f"two adapters serve the task {task}", place, f"the other is {places[task]}")
            places[task] = str(place)
        return name, places
    if (folder / CONFIG).is_file():
        base_name = _said(folder, "model_name")
        if base_name:  # of a PEFT folder, which has the same file, there is none
            beside = folder / base_name
            return str(beside) if beside.is_dir() else base_name, {_task_of(folder): str(folder)}
    return name, {}


def adapter_folder(place: str, hub: Mapping[str, Any]) -> Path:
    """Give the folder of an adapter, fetched from the hub (at the table's revision) where ``place`` is no folder.

    ``hub`` says where the cache lies and whether to go online. Raises ModelError when it can't be reached.
    """
    folder = Path(place).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    known = adapter_of(place)
    try:
        return Path(
            snapshot_download(
                place,
                revision=known[1].revision if known else None,
                cache_dir=hub["cache_folder"],
                local_files_only=hub["local_files_only"],
                allow_patterns=[CONFIG, WEIGHTS, "pytorch_adapter.bin"],
            )
        )
    except Exception as error:  # the hub's errors have no common root
        raise ModelError(
            "the adapter can't be reached on the model hub", place, "go online once to fetch it"
        ) from error


def with_adapters(base: Encoder, adapters: Mapping[str, AdapterWeights]) -> Encoder:
    """Give ``base`` conditioned by ``adapters``, by task. ``base`` stays as it is.

    Raises ModelError for adapters of different shapes, for those of another backbone, and for one of search alone: the
    documents of a search take the adapter of proximity.
    """
    if set(adapters) == {"search"}:
        raise ModelError(
            "an adapter for search queries alone can't encode documents",
            adapters["search"].name,
            "put the one for proximity beside it",
        )
    shapes = {_shape(weights) for weights in adapters.values()}
    if len(shapes) > 1:
        raise ModelError(f"the adapters have different shapes: {sorted(map(str, shapes))}")
    placement, activation, size, layers = shapes.pop()
    config = base.backbone.config
    widths = {weights.after_ffn[0].width for weights in adapters.values()}
    if layers != config.num_hidden_layers or widths != {config.hidden_size}:
        raise ModelError(f"the adapters belong to another backbone ({layers} layers, width {min(widths)})")
    tasks = [task for task in TASKS if task in adapters]
    options = {"reduction": config.hidden_size / size, "placement": placement, "activation": activation}
    encoder = condition(base, "adapters", tasks=tasks, **options)
    for task, weights in adapters.items():
        _put(encoder.conditioning.adapters[task], weights.after_ffn)
        if weights.after_attention:
            _put(encoder.conditioning.inner[task], weights.after_attention)
    return encoder


def _shape(weights: AdapterWeights) -> tuple[str, str, int, int]:
    """Give placement, activation, size and layers. Raises ModelError for what our adapters don't compute."""
    if weights.normed == bool(weights.after_attention):
        raise ModelError("the adapter is neither seq_bn nor double_seq_bn", weights.name)
    if weights.activation not in ACTIVATIONS:
        raise ModelError(f"the adapter's activation {weights.activation!r} is not known", weights.name)
    bottlenecks = (*weights.after_ffn, *weights.after_attention)
    sizes = {bottleneck.down_weight.shape[0] for bottleneck in bottlenecks}
    if len(sizes) > 1:
        raise ModelError(f"the adapter's bottlenecks have different sizes: {sorted(sizes)}", weights.name)
    placement = "houlsby" if weights.after_attention else "pfeiffer"
    return placement, weights.activation, sizes.pop(), len(weights.after_ffn)


def _put(modules: Any, bottlenecks: tuple[Bottleneck, ...]) -> None:
    with torch.no_grad():
        for module, bottleneck in zip(modules, bottlenecks, strict=True):
            module.down.weight.copy_(bottleneck.down_weight)
            module.down.bias.copy_(bottleneck.down_bias)
            module.up.weight.copy_(bottleneck.up_weight)
            module.up.bias.copy_(bottleneck.up_bias)


def _task_of(folder: Path) -> str:
    """Give the task that an adapter serves, by the name of its folder or its own."""
    for name in (folder.name.lower(), _said(folder, "name").lower()):
        for part, task in _TASKS.items():
            if part in name:
                return task
    raise ModelError(
        "the adapter does not say which task it serves", folder, f"call its folder one of {', '.join(TASKS)}"
    )


def _said(folder: Path, key: str) -> str:
    """Give what an adapter's description says under ``key``, empty where it says nothing readable."""
    try:
        if (folder / CONFIG).stat().st_size > MAX_CONFIG:
            return ""
        facts = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return str(facts.get(key) or "")
    except (OSError, ValueError, AttributeError):
        return ""
