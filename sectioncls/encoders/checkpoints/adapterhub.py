"""Adapters in AdapterHub's form: ``adapter_config.json`` with ``adapter.safetensors``, as the library adapters has it.

SPECTER2 (arXiv 2211.13308, section 5) is a base model with one adapter for each task format in this form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from sectioncls.encoders.checkpoints.weights import converting, pickled_in, read_weights
from sectioncls.errors import ModelError

__all__ = ["AdapterWeights", "Bottleneck", "adapters_in", "read_adapter"]

CONFIG, WEIGHTS = "adapter_config.json", "adapter.safetensors"

# What our module computes, and what a file may say of it; the library's defaults where a file says nothing.
_SUPPORTED: Mapping[str, Any] = {
    "adapter_residual_before_ln": False,
    "cross_adapter": False,
    "inv_adapter": None,
    "is_parallel": False,
    "leave_out": [],
    "ln_after": False,
    "ln_before": False,
    "original_ln_after": True,
    "output_adapter": True,
    "phm_layer": False,
    "residual_before_ln": True,
    "scaling": 1.0,
    "stochastic_depth": 0.0,
    "use_gating": False,
}
MAX_CONFIG = 1 << 20
_NAME = re.compile(
    r"(?:bert\.)?encoder\.layer\.(?P<layer>\d+)\.(?P<place>attention\.output|output)\.adapters\.(?P<name>.+)\."
    r"(?P<part>adapter_down\.0|adapter_up)\.(?P<kind>weight|bias)"
)


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """One bottleneck: ``down`` (size, hidden) and ``up`` (hidden, size) with their biases."""

    down_weight: Tensor
    down_bias: Tensor
    up_weight: Tensor
    up_bias: Tensor

    @property
    def width(self) -> int:
        """The hidden size of its backbone."""
        return self.up_bias.numel()

    @property
    def fits(self) -> bool:
        """Whether the four parts have shapes that go together."""
        size = self.down_bias.numel()
        shapes = [tuple(part.shape) for part in (self.down_weight, self.down_bias, self.up_weight, self.up_bias)]
        return size > 0 and shapes == [(size, self.width), (size,), (self.width, size), (self.width,)]


@dataclass(frozen=True, slots=True)
class AdapterWeights:
    """An adapter of a BERT: the bottleneck after the FFN of each layer, after attention too in Houlsby's placement.

    ``normed``: the bottlenecks read the state that the layer's own normalisation gives (AdapterHub's ``seq_bn``), not
    the raw one (``double_seq_bn``). ``base`` is what the file calls its base model: a hub id, or a path from its
    folder.
    """

    name: str
    base: str
    activation: str
    normed: bool
    after_ffn: tuple[Bottleneck, ...]
    after_attention: tuple[Bottleneck, ...] = ()


def adapters_in(folder: Path) -> list[Path]:
    """Give the folders of the adapters that lie beside their base, in ``adapters/NAME`` of ``folder``, by name."""
    return sorted(path.parent for path in folder.glob(f"adapters/*/{CONFIG}"))


def read_adapter(folder: Path) -> AdapterWeights:
    """Give the adapter of a folder. Raises ModelError for pickled weights, another kind, or missing parts."""
    facts = _facts(folder / CONFIG)
    config = facts["config"]
    strange = [key for key, value in _SUPPORTED.items() if config.get(key, value) != value]
    if strange:
        raise ModelError(
            f"is an adapter of a kind that is not read: {strange[0]} = {config[strange[0]]!r}",
            folder / CONFIG,
            "bottlenecks as in seq_bn and double_seq_bn are",
        )
    if not (folder / WEIGHTS).is_file():
        pickled = pickled_in(folder)
        todo = None if pickled is None else converting(pickled)
        raise ModelError(f"holds no {WEIGHTS}" + (", only pickled weights" if pickled else ""), folder, todo)
    places = _bottlenecks(read_weights(folder / WEIGHTS), folder / WEIGHTS)
    after_ffn, after_attention = places.get("output", ()), places.get("attention.output", ())
    if not after_ffn or bool(config.get("mh_adapter", False)) != bool(after_attention):
        raise ModelError("the weights are not those of the described adapter", folder / WEIGHTS)
    return AdapterWeights(
        name=str(facts.get("name", folder.name)),
        base=str(facts.get("model_name") or ""),
        activation=str(config.get("non_linearity", "relu")),
        normed=bool(config.get("original_ln_before", True)),
        after_ffn=after_ffn,
        after_attention=after_attention,
    )


def _facts(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_CONFIG:
            raise ValueError("too large")
        facts = json.loads(path.read_text(encoding="utf-8"))
        config = facts["config"]
        if not isinstance(config, dict):  # the name of a library's preset
            config = {"original_ln_before": config not in ("houlsby", "double_seq_bn")}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError("is not the description of an AdapterHub adapter", path) from error
    if facts.get("model_type", "bert") != "bert":
        raise ModelError(f"belongs to a {facts['model_type']}, not to a BERT", path)
    return {**facts, "config": config}


def _bottlenecks(weights: Mapping[str, Tensor], path: Path) -> dict[str, tuple[Bottleneck, ...]]:
    """Give the bottlenecks of each place in the order of the layers. Raises ModelError when a part is missing."""
    parts: dict[tuple[str, int], dict[str, Tensor]] = {}
    for name, tensor in weights.items():
        match = _NAME.fullmatch(name)
        if match is None:
            raise ModelError(f"holds {name!r}, which is no part of a BERT's bottleneck adapter", path)
        side = "down" if match["part"].startswith("adapter_down") else "up"
        parts.setdefault((match["place"], int(match["layer"])), {})[f"{side}_{match['kind']}"] = tensor
    places: dict[str, tuple[Bottleneck, ...]] = {}
    try:
        for place in {place for place, _ in parts}:
            layers = sorted(layer for other, layer in parts if other == place)
            if layers != list(range(len(layers))):
                raise ValueError(f"layers {layers}")
            places[place] = tuple(Bottleneck(**parts[place, layer]) for layer in layers)
    except (TypeError, ValueError) as error:
        raise ModelError(f"parts of the adapter are missing: {error}", path) from error
    if len({bottleneck.width for made in places.values() for bottleneck in made}) > 1:
        raise ModelError("holds bottlenecks of different widths", path)
    if not all(bottleneck.fits for made in places.values() for bottleneck in made):
        raise ModelError("holds a bottleneck whose parts don't fit each other", path)
    return places
