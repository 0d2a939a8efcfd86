"""Adapters: a small bottleneck a format in each layer of a frozen network.

Papers: arXiv 2211.13308, section 4.2 (SciRepEval: one adapter a format); arXiv 2005.00247 (placement ``pfeiffer``: one
after the feed-forward block); arXiv 1902.00751 (``houlsby``: one after either block, before the residual). Placement
``pfeiffer`` is computed as AdapterHub's ``seq_bn``: the bottleneck reads what the layer's LayerNorm makes of block and
residual, its output is added to the block's, and the same LayerNorm acts again on block and residual.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.packed import Layout, attend, attention_of
from sectioncls.errors import UsageError

__all__ = ["ACTIVATIONS", "Adapters", "Bottleneck"]

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU, "swish": nn.SiLU}
_PLACEMENTS = ("pfeiffer", "houlsby")


class Bottleneck(nn.Module):
    """Down, activation, up: what is to be added to ``hidden`` (T, width); zero at the start."""

    def __init__(self, width: int, size: int, activation: str) -> None:
        super().__init__()
        self.down = nn.Linear(width, size)
        self.activation = ACTIVATIONS[activation]()
        self.up = nn.Linear(size, width)
        nn.init.normal_(self.down.weight, std=0.02)
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, hidden: Tensor) -> Tensor:
        """Give the addition, (T, width)."""
        return self.up(self.activation(self.down(hidden)))  # type: ignore[no-any-return]


class Adapters(Conditioning):
    """One bottleneck a format and layer, of width / ``reduction``; ``placement`` is ``pfeiffer`` or ``houlsby``.

    ``adapters[route][layer]`` are those after the feed-forward block, ``inner[route][layer]`` those after attention.
    """

    name = "adapters"
    by_format = True
    default_trains = "own"

    def __init__(
        self,
        bert: Any,
        routes: tuple[str, ...],
        reduction: float = 16,
        placement: str = "pfeiffer",
        activation: str = "relu",
    ) -> None:
        super().__init__(bert, routes)
        width, layers = bert.config.hidden_size, bert.config.num_hidden_layers
        size = max(1, int(width // reduction))

        def stack() -> nn.ModuleDict:
            return nn.ModuleDict(
                {route: nn.ModuleList(Bottleneck(width, size, activation) for _ in range(layers)) for route in routes}
            )

        self.adapters: Any = stack()
        self.inner: Any = stack() if placement == "houlsby" else None

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the options; refuse a placement, an activation or a reduction that there isn't."""
        options = super().resolve(model, routes, options)
        placement, activation = options.get("placement", "pfeiffer"), options.get("activation", "relu")
        if placement not in _PLACEMENTS:
            raise UsageError(f"unknown placement {placement!r}", todo=f"known: {', '.join(_PLACEMENTS)}")
        if activation not in ACTIVATIONS:
            raise UsageError(f"unknown activation {activation!r}", todo=f"known: {', '.join(ACTIVATIONS)}")
        if not options.get("reduction", 16) > 0:
            raise UsageError("the reduction must be above 0", todo="16 is usual")
        return options

    def layer(self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: Any) -> Tensor:
        """Give the states after one layer, the route's bottlenecks included."""
        own = self.adapters[self.routes[route]][index]
        if self.inner is None:
            mixed = attention_of(layer, hidden, layout)
            block = layer.output.dropout(layer.output.dense(layer.intermediate(mixed)))
            norm = layer.output.LayerNorm
            return norm(own(norm(block + mixed)) + block + mixed)  # type: ignore[no-any-return]
        inner, output = self.inner[self.routes[route]][index], layer.attention.output
        block = output.dropout(output.dense(attend(layer.attention.self, hidden, layout)))
        mixed = output.LayerNorm(inner(block) + block + hidden)
        block = layer.output.dropout(layer.output.dense(layer.intermediate(mixed)))
        return layer.output.LayerNorm(own(block) + block + mixed)  # type: ignore[no-any-return]
