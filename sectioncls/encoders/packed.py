"""A BERT's forward pass over real tokens only.

Padding a batch of sentences to its longest wastes half the work of the linear layers. Here all tokens of a batch lie
end to end, (T, hidden); only attention, a small part of the cost for sentences, sees a padded view.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["can_pack", "packed_hidden", "padded_hidden"]


def can_pack(backbone: nn.Module) -> bool:
    """Say whether ``packed_hidden`` computes this backbone: a plain bidirectional BERT."""
    from transformers import BertModel

    config = getattr(backbone, "config", None)
    return (
        type(backbone) is BertModel
        and not getattr(config, "is_decoder", False)
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
    )


def packed_hidden(
    bert: Any, ids: Tensor, lengths: Tensor, *, start: Tensor | None = None, first: int = 0, last: int | None = None
) -> Tensor:
    """Give the hidden states, (T, hidden), of rows that lie end to end in ``ids`` (T,), after layer ``last``.

    Equal to the padded forward pass up to rounding; dropout acts where BERT has it. With ``start`` (T, hidden), the
    states before layer ``first``, only the layers from there on are run.
    """
    layout = _Layout(lengths)
    hidden = _embed(bert.embeddings, ids, layout.positions) if start is None else start
    for layer in bert.encoder.layer[first:last]:
        attention = layer.attention
        mixed = _attend(attention.self, hidden, layout)
        mixed = attention.output(mixed, hidden)
        hidden = layer.output(layer.intermediate(mixed), mixed)
    return hidden


def padded_hidden(backbone: Any, ids: Tensor, lengths: Tensor, pad: int) -> Tensor:
    """Give the same, (T, hidden), for any transformer, through its own padded forward pass."""
    layout = _Layout(lengths)
    padded = ids.new_full((len(lengths), layout.longest), pad)
    padded[layout.mask] = ids
    output = backbone(input_ids=padded, attention_mask=layout.mask.long())
    return output.last_hidden_state[layout.mask]  # type: ignore[no-any-return]


class _Layout:
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


def _embed(embeddings: Any, ids: Tensor, positions: Tensor) -> Tensor:
    words = embeddings.word_embeddings(ids)
    places = embeddings.position_embeddings(positions)
    types = embeddings.token_type_embeddings.weight[0]
    return embeddings.dropout(embeddings.LayerNorm(words + types + places))  # type: ignore[no-any-return]


def _attend(attention: Any, hidden: Tensor, layout: _Layout) -> Tensor:
    """Self-attention of each row over its own tokens, (T, hidden)."""
    heads, width = attention.num_attention_heads, attention.attention_head_size

    def split(flat: Tensor) -> Tensor:
        padded = layout.pad(flat)
        return padded.view(*padded.shape[:2], heads, width).transpose(1, 2)

    mixed = nn.functional.scaled_dot_product_attention(
        split(attention.query(hidden)),
        split(attention.key(hidden)),
        split(attention.value(hidden)),
        attn_mask=None if layout.places is None else layout.mask[:, None, None, :],
        dropout_p=attention.dropout.p if attention.training else 0.0,
        scale=attention.scaling,
    )
    return layout.unpad(mixed.transpose(1, 2))
