"""A BERT's forward pass over real tokens only.

Padding a batch of sentences to its longest wastes half the work of the linear layers. Here all tokens of a batch lie
end to end, (T, hidden); only attention, a small part of the cost for sentences, sees a padded view.

A conditioned backbone (see conditioning/) goes the same way: its conditioning computes each layer from the parts here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

__all__ = [
    "Layout",
    "attend",
    "attention_of",
    "can_pack",
    "embed",
    "feed_forward",
    "layer_of",
    "packed_hidden",
    "padded_hidden",
    "states_before",
]


def can_pack(backbone: nn.Module) -> bool:
    """Say whether ``packed_hidden`` computes this backbone: a plain bidirectional BERT, conditioned or not."""
    from transformers import BertModel

    config = getattr(backbone, "config", None)
    return (
        (type(backbone) is BertModel or (isinstance(backbone, BertModel) and hasattr(backbone, "conditioning")))
        and not getattr(config, "is_decoder", False)
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
    )


def packed_hidden(
    bert: Any,
    ids: Tensor,
    lengths: Tensor,
    *,
    routes: Tensor | None = None,
    start: Tensor | None = None,
    first: int = 0,
    last: int | None = None,
) -> Tensor:
    """Give the hidden states, (T, hidden), of rows that lie end to end in ``ids`` (T,), after layer ``last``.

    Equal to the padded forward pass up to rounding; dropout acts where BERT has it. With ``start`` (T, hidden), the
    states before layer ``first``, only the layers from there on are run. ``routes`` (rows,), on the CPU, names each
    row's route in a conditioned backbone; rows of one route are computed together.
    """
    conditioning = getattr(bert, "conditioning", None)
    routes = torch.zeros(1) if routes is None else routes
    present = torch.unique(routes).tolist()
    if conditioning is None or not conditioning.grouped or len(present) == 1:
        return _through(bert, ids, lengths, start, first, last, conditioning, int(present[0]))
    parts, order = [], []
    for route in present:
        rows = (routes == route).to(ids.device)
        places = rows.repeat_interleave(lengths).nonzero().squeeze(1)
        begin = None if start is None else start[places]
        parts.append(_through(bert, ids[places], lengths[rows], begin, first, last, conditioning, route))
        order.append(places)
    return torch.cat(parts).index_select(0, torch.cat(order).argsort())


def _through(
    bert: Any,
    ids: Tensor,
    lengths: Tensor,
    start: Tensor | None,
    first: int,
    last: int | None,
    conditioning: Any,
    route: int,
) -> Tensor:
    """Give the states of rows of one route after the layers ``first:last``."""
    layout = Layout(lengths)
    if start is None:
        start = embed(bert, ids, layout, None if conditioning is None else conditioning.words(bert, ids))
    hidden = start
    prepared = None if conditioning is None else conditioning.prepare(bert, route)
    for index, layer in enumerate(bert.encoder.layer[first:last], start=first):
        if conditioning is None:
            hidden = layer_of(layer, hidden, layout)
        else:
            hidden = conditioning.layer(index, layer, hidden, layout, route, prepared)
    return hidden


def padded_hidden(backbone: Any, ids: Tensor, lengths: Tensor, pad: int) -> Tensor:
    """Give the same, (T, hidden), for any transformer, through its own padded forward pass."""
    layout = Layout(lengths)
    padded = ids.new_full((len(lengths), layout.longest), pad)
    padded[layout.mask] = ids
    output = backbone(input_ids=padded, attention_mask=layout.mask.long())
    return output.last_hidden_state[layout.mask]  # type: ignore[no-any-return]


class Layout:
    """Where each token stands: its position in its row, and the (rows, longest) mask of real tokens."""

    def __init__(self, lengths: Tensor) -> None:
        self.longest = int(lengths.max())
        steps = torch.arange(self.longest, device=lengths.device)
        self.mask = steps[None, :] < lengths[:, None]
        self.positions = steps.expand(len(lengths), -1)[self.mask]
        # Flat places of the real tokens in the padded view; None when there is no padding at all.
        full = bool((lengths == self.longest).all())
        self.places = None if full else self.mask.flatten().nonzero().squeeze(1)

    def pad(self, flat: Tensor) -> Tensor:
        """(T, d) to (rows, longest, d)."""
        if self.places is not None:
            flat = flat.new_zeros(self.mask.numel(), flat.shape[1]).index_copy(0, self.places, flat)
        return flat.view(*self.mask.shape, -1)

    def unpad(self, padded: Tensor) -> Tensor:
        """(rows, longest, d) to (T, d)."""
        flat = padded.reshape(self.mask.numel(), -1)
        return flat if self.places is None else flat.index_select(0, self.places)


def embed(bert: Any, ids: Tensor, layout: Layout, words: Tensor | None = None) -> Tensor:
    """Give the states before the first layer, (T, hidden); ``words`` stand in for the ids' own word embeddings."""
    embeddings = bert.embeddings
    words = embeddings.word_embeddings(ids) if words is None else words
    places = embeddings.position_embeddings(layout.positions)
    types = embeddings.token_type_embeddings.weight[0]
    return embeddings.dropout(embeddings.LayerNorm(words + types + places))  # type: ignore[no-any-return]


def layer_of(layer: Any, hidden: Tensor, layout: Layout, extra: Tensor | None = None) -> Tensor:
    """Give what one BERT layer makes of ``hidden`` (T, hidden); see attend for ``extra``."""
    return feed_forward(layer, attention_of(layer, hidden, layout, extra))


def attention_of(layer: Any, hidden: Tensor, layout: Layout, extra: Tensor | None = None) -> Tensor:
    """Give what the layer's attention block makes of ``hidden``, residual and LayerNorm included, (T, hidden)."""
    mixed = attend(layer.attention.self, hidden, layout, extra)
    return layer.attention.output(mixed, hidden)  # type: ignore[no-any-return]


def feed_forward(layer: Any, mixed: Tensor) -> Tensor:
    """Give what the layer's feed-forward block makes of ``mixed``, residual and LayerNorm included, (T, hidden)."""
    return layer.output(layer.intermediate(mixed), mixed)  # type: ignore[no-any-return]


def attend(attention: Any, hidden: Tensor, layout: Layout, extra: Tensor | None = None) -> Tensor:
    """Self-attention of each row over its own tokens, (T, width), before the output matrix.

    ``extra`` (m, hidden) are states that every row attends to besides its own tokens, through the same key and value
    matrices: more keys and values, no more queries, and no token's position moves.
    """
    heads, width = attention.num_attention_heads, attention.attention_head_size

    def split(flat: Tensor) -> Tensor:
        padded = layout.pad(flat)
        return padded.view(*padded.shape[:2], heads, width).transpose(1, 2)

    keys, values = split(attention.key(hidden)), split(attention.value(hidden))
    mask = None if layout.places is None else layout.mask[:, None, None, :]
    if extra is not None:
        rows = keys.shape[0]

        def shared(flat: Tensor) -> Tensor:
            return flat.view(1, -1, heads, width).transpose(1, 2).expand(rows, -1, -1, -1)

        keys = torch.cat([shared(attention.key(extra)), keys], dim=2)
        values = torch.cat([shared(attention.value(extra)), values], dim=2)
        mask = None if mask is None else nn.functional.pad(mask, (len(extra), 0), value=True)
    mixed = nn.functional.scaled_dot_product_attention(
        split(attention.query(hidden)),
        keys,
        values,
        attn_mask=mask,
        dropout_p=attention.dropout.p if attention.training else 0.0,
        scale=attention.scaling,
    )
    return layout.unpad(mixed.transpose(1, 2))


def states_before(bert: Any, ids: Tensor, lengths: Tensor) -> Iterator[Tensor]:
    """Yield the states before each layer of the plain network and, last, those after all, each (T, hidden)."""
    layout = Layout(lengths)
    hidden = embed(bert, ids, layout)
    yield hidden
    for layer in bert.encoder.layer:
        hidden = layer_of(layer, hidden, layout)
        yield hidden
