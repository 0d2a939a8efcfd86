"""Experts: every second block has one copy of a sub-layer a task.

Paper: arXiv 2305.14232, section 3.2 (SciMult). Blocks 2, 4, 6, … carry experts, so that the last of an even number
does. MHA experts have query, key, value and output matrix of their own and share the LayerNorm behind; FFN experts have
both matrices and the LayerNorm of their own. All experts start as copies of the shared sub-layer.
"""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn

from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.packed import Layout, attend, attention_of, feed_forward, layer_of
from sectioncls.errors import UsageError

__all__ = ["FfnExperts", "MhaExperts"]


class MhaExperts(Conditioning):
    """One attention a task in every ``every``-th block; the sub-layer that it replaces is taken out."""

    name = "mha-experts"

    def __init__(self, bert: Any, routes: tuple[str, ...], every: int = 2) -> None:
        super().__init__(bert, routes)
        self.experts: Any = nn.ModuleDict()
        for index, layer in _chosen(bert, every):
            attention = layer.attention
            shared = nn.ModuleDict({"self": attention.self, "dense": attention.output.dense})
            self.experts[str(index)] = nn.ModuleList(copy.deepcopy(shared) for _ in routes)
            attention.self = attention.output.dense = None

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the options; refuse to leave the network without experts."""
        return _checked(model, super().resolve(model, routes, options))

    def layer(self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: Any) -> Tensor:
        """Give the states after one layer, by the route's expert where it has any."""
        if str(index) not in self.experts:
            return layer_of(layer, hidden, layout)
        expert, shared = self.experts[str(index)][route], layer.attention.output
        block = shared.dropout(expert["dense"](attend(expert["self"], hidden, layout)))
        return feed_forward(layer, shared.LayerNorm(block + hidden))


class FfnExperts(Conditioning):
    """One feed-forward block a task in every ``every``-th block; the sub-layer that it replaces is taken out."""

    name = "ffn-experts"

    def __init__(self, bert: Any, routes: tuple[str, ...], every: int = 2) -> None:
        super().__init__(bert, routes)
        self.experts: Any = nn.ModuleDict()
        for index, layer in _chosen(bert, every):
            shared = nn.ModuleDict({"intermediate": layer.intermediate, "output": layer.output})
            self.experts[str(index)] = nn.ModuleList(copy.deepcopy(shared) for _ in routes)
            layer.intermediate = layer.output = None

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the options; refuse to leave the network without experts."""
        return _checked(model, super().resolve(model, routes, options))

    def layer(self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: Any) -> Tensor:
        """Give the states after one layer, by the route's expert where it has any."""
        if str(index) not in self.experts:
            return layer_of(layer, hidden, layout)
        expert = self.experts[str(index)][route]
        mixed = attention_of(layer, hidden, layout)
        return expert["output"](expert["intermediate"](mixed), mixed)  # type: ignore[no-any-return]


def _chosen(bert: Any, every: int) -> list[tuple[int, Any]]:
    """Give the blocks that have experts, by number."""
    return [(index, layer) for index, layer in enumerate(bert.encoder.layer) if (index + 1) % every == 0]


def _checked(model: Any, options: dict[str, Any]) -> dict[str, Any]:
    every, blocks = options.get("every", 2), model[0].auto_model.config.num_hidden_layers
    if not 1 <= every <= blocks:
        raise UsageError(f"every {every}-th of {blocks} blocks can't have experts", todo="choose another number")
    return options
