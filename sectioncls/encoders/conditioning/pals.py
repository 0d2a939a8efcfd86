"""Projected attention layers: a narrow self-attention a format beside each layer.

Papers: arXiv 1902.02671 (PALs); arXiv 2211.13308, section 4.2 (SciRepEval). The layer's input goes through a
down-projection, a self-attention without output matrix, an up-projection and GELU, and is added to what the layer's
last LayerNorm normalises. A format has one pair of projections for all layers. The whole network is trained. The width
of 204 and the 6 heads of the public code belong to BERT-base; other widths are scaled, 12 heads can be asked for. The
up-projection starts at zero (ours: the plain network is the exact start).

``low_rank`` is both papers' variant without attention: each layer has its own down-projection, GELU and up-projection,
100 wide in BERT-base, about as many weights as 204 with attention.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from sectioncls.encoders.conditioning.adapters import Bottleneck
from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.packed import Layout, attend, attention_of
from sectioncls.errors import UsageError

__all__ = ["Pals"]


# Of BERT-base: hidden width, and the width of a projected attention and of a low-rank layer.
_BASE, _SIZE, _LOW = 768, 204, 100


class Pals(Conditioning):
    """One projected attention a format and layer, ``size`` wide with ``heads`` heads, or a ``low_rank`` layer."""

    name = "pals"
    by_format = True

    def __init__(
        self, bert: Any, routes: tuple[str, ...], size: int, heads: int | None = 6, low_rank: bool = False
    ) -> None:
        super().__init__(bert, routes)
        config = bert.config
        self.low_rank = low_rank
        self.pals: Any = nn.ModuleDict(
            {
                route: nn.ModuleList(
                    Bottleneck(config.hidden_size, size, "gelu") for _ in range(config.num_hidden_layers)
                )
                if low_rank
                else _Pal(config, size, heads or 1)
                for route in routes
            }
        )

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the options, the width scaled from BERT-base's 204 (low rank: 100) where none is given."""
        options = super().resolve(model, routes, options)
        width = model[0].auto_model.config.hidden_size
        if options.get("low_rank"):
            if options.get("heads") is not None:
                raise UsageError("low-rank layers have no heads", todo="leave heads out")
            size = options.setdefault("size", max(1, round(_LOW * width / _BASE)))
            if size < 1:
                raise UsageError("a low-rank layer must be 1 wide at least")
            return options
        heads = options.setdefault("heads", 6)
        if heads < 1:
            raise UsageError("there must be one head at least")
        size = options.setdefault("size", heads * max(1, round(_SIZE * width / _BASE / heads)))
        if size < 1 or size % heads:
            raise UsageError(f"{heads} heads can't share a width of {size}", todo="choose a multiple of the heads")
        return options

    def layer(self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: Any) -> Tensor:
        """Give the states after one layer and the route's attention beside it."""
        pal = self.pals[self.routes[route]]
        if self.low_rank:
            beside = pal[index](hidden)
        else:
            beside = nn.functional.gelu(pal.up(attend(pal.attention[index], pal.down(hidden), layout)))
        mixed = attention_of(layer, hidden, layout)
        return layer.output(layer.intermediate(mixed), mixed + beside)  # type: ignore[no-any-return]


class _Pal(nn.Module):
    """A format's projections, and its attention in each layer."""

    def __init__(self, config: Any, size: int, heads: int) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(config.hidden_size, size), nn.Linear(size, config.hidden_size)
        self.attention = nn.ModuleList(
            _Attention(size, heads, config.attention_probs_dropout_prob) for _ in range(config.num_hidden_layers)
        )
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.normal_(part.weight, std=config.initializer_range)
                nn.init.zeros_(part.bias)
        nn.init.zeros_(self.up.weight)


class _Attention(nn.Module):
    """What attend asks of an attention."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.num_attention_heads, self.attention_head_size = heads, size // heads
        self.scaling = self.attention_head_size**-0.5
        self.query, self.key, self.value = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.dropout = nn.Dropout(dropout)
