"""Fusion of adapters: for each format a layer of attention over the adapters of all formats.

Papers: arXiv 2005.00247, section 3 (AdapterFusion); arXiv 2211.13308, section 4.2 (SciRepEval: trained after the single
adapters, which stay as they are). The query is the layer's normalised output, keys and values are what the
adapters would add. The value matrix starts as (nearly) the identity, so that a fusion starts as a mean of the
adapters, weighted by random matrices of query and key. The squared distance of each value matrix from the identity is a
penalty, weighted by 0.01 as in AdapterHub, so that mixing does not become a network of its own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from sectioncls.encoders.conditioning.adapters import Adapters
from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.packed import Layout, attention_of
from sectioncls.errors import UsageError

__all__ = ["Fusion"]


class Fusion(Conditioning):
    """Attention over the adapters that an encoder has already; ``adapters`` are these adapters' options.

    ``penalty`` weights the squared distance of a layer's value matrix from the identity; 0 leaves it out.
    """

    name = "fusion"
    by_format = True
    default_trains = "own"

    def __init__(self, bert: Any, routes: tuple[str, ...], adapters: dict[str, Any], penalty: float = 0.01) -> None:
        super().__init__(bert, routes)
        config = bert.config
        self.penalty = penalty
        self.adapters = Adapters(bert, routes, **adapters)
        self.fusions: Any = nn.ModuleDict(
            {
                route: nn.ModuleList(
                    _Mixer(config.hidden_size, config.attention_probs_dropout_prob)
                    for _ in range(config.num_hidden_layers)
                )
                for route in routes
            }
        )

    @classmethod
    def resolve(cls, model: Any, routes: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Give the options, those of the adapters that are fused too. Raises UsageError for an encoder without."""
        for option in options:
            if option != "penalty":
                raise UsageError(f"conditioning fusion has no option {option}", todo="known: penalty")
        options = super().resolve(model, routes, options)
        if not options.get("penalty", 0.01) >= 0:
            raise UsageError("the penalty must be 0 or more", todo="0.01 is usual")
        former = getattr(model[0].auto_model, "conditioning", None)
        if not isinstance(former, Adapters) or former.inner is not None:
            raise UsageError(
                "only an encoder with adapters behind its feed-forward blocks can be fused", todo="train adapters first"
            )
        if former.routes != routes:
            raise UsageError("a fusion has the tasks of its adapters", todo=f"tasks: {', '.join(former.routes)}")
        return {"adapters": model[0].auto_model.config.conditioning["options"], **options}

    def inherit(self, former: Conditioning | None) -> None:
        """Take over the adapters."""
        if isinstance(former, Adapters):
            self.adapters.load_state_dict(former.state_dict())

    def own_weights(self) -> list[nn.Parameter]:
        """Give the weights of the attention over the adapters; the adapters stay as they are."""
        return list(self.fusions.parameters())

    def penalise(self) -> None:
        """Add the penalty's gradient to the value matrices that the step moves."""
        if not self.penalty:
            return
        for mixers in self.fusions.values():
            for mixer in mixers:
                weight = mixer.value.weight
                if weight.grad is not None:
                    identity = torch.eye(len(weight), device=weight.device)
                    weight.grad.add_(weight.detach() - identity, alpha=2 * self.penalty)

    def layer(self, index: int, layer: Any, hidden: Tensor, layout: Layout, route: int, prepared: Any) -> Tensor:
        """Give the states after one layer with what all formats' adapters add, mixed for this route."""
        mixed = attention_of(layer, hidden, layout)
        block = layer.output.dropout(layer.output.dense(layer.intermediate(mixed)))
        norm = layer.output.LayerNorm
        normed = norm(block + mixed)
        added = torch.stack([self.adapters.adapters[name][index](normed) for name in self.routes], dim=1)
        return norm(self.fusions[self.routes[route]][index](normed, added) + block + mixed)  # type: ignore[no-any-return]


class _Mixer(nn.Module):
    """Attention of each token over the adapters' outputs."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value = nn.Linear(width, width, bias=False)
        self.dropout = nn.Dropout(dropout)
        for part in (self.query, self.key):
            nn.init.normal_(part.weight, std=0.02)
            nn.init.zeros_(part.bias)
        with torch.no_grad():
            self.value.weight.fill_(1e-6).fill_diagonal_(1.0)

    def forward(self, hidden: Tensor, added: Tensor) -> Tensor:
        """Mix ``added`` (T, adapters, width) by attention from ``hidden`` (T, width) to (T, width)."""
        query = self.query(hidden)
        # The matrices of key and value act once on a token, not once on each adapter: both are linear.
        scores = (added @ (query @ self.key.weight)[:, :, None]).squeeze(2) + (query @ self.key.bias)[:, None]
        weights = self.dropout(scores).softmax(1)
        return self.value((weights[:, None, :] @ added).squeeze(1))  # type: ignore[no-any-return]
