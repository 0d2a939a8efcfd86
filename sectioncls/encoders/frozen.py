"""Freezing the lowest layers: what they give is computed once and kept, every epoch starts above them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.packed import can_pack, packed_hidden
from sectioncls.encoders.tokens import Batch, Tokens, places_of
from sectioncls.encoders.windows import Windows
from sectioncls.errors import UsageError

__all__ = ["KeptTokens", "freeze_lowest", "keep_lowest"]

# Tokens whose states are computed at once.
_BUDGET = 4096


@dataclass(frozen=True, slots=True)
class KeptTokens:
    """Tokens with their states before layer ``first``: ``states`` (T, hidden) in 16 bit, in the order of the tokens."""

    tokens: Tokens | Windows
    states: npt.NDArray[np.float16]
    first: int

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens per row, (rows,)."""
        return self.tokens.lengths

    @property
    def items(self) -> int:
        """The number of texts."""
        return self.tokens.items

    def members(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Give the texts whose vectors the rows give."""
        return self.tokens.members(rows)

    def batch(self, rows: npt.NDArray[np.int64]) -> Batch:
        """Give the rows as one batch that starts above the frozen layers."""
        states = self.states[places_of(self.tokens.offsets, rows)]
        start = torch.from_numpy(states.astype(np.float32))
        return replace(self.tokens.batch(rows), start=start, first=self.first)


def freeze_lowest(encoder: Encoder, layers: int) -> None:
    """Train no weight of the embeddings and of the lowest ``layers``.

    Raises UsageError for a backbone other than a plain BERT (a conditioned one included), or without a layer above.
    """
    if not can_pack(encoder.backbone) or encoder.conditioning is not None:
        raise UsageError("only a plain BERT's lowest layers can be frozen", todo="train without --freeze")
    bert = encoder.backbone
    if layers >= len(bert.encoder.layer):
        raise UsageError(f"the model has {len(bert.encoder.layer)} layers, all would be frozen", todo="lower --freeze")
    for module in (bert.embeddings, *bert.encoder.layer[:layers]):
        module.requires_grad_(False)


def keep_lowest(encoder: Encoder, tokens: Tokens | Windows, layers: int) -> KeptTokens:
    """Give the tokens with what the embeddings and the lowest ``layers`` make of them, without dropout.

    Takes two bytes per token and hidden unit: 17 kB for a sentence of 22 tokens in MiniLM.
    """
    states = np.zeros((len(tokens.ids), encoder.backbone.config.hidden_size), dtype=np.float16)
    was_training = encoder.training
    encoder.eval()
    try:
        with torch.inference_mode():
            # Rows of like length share a batch, for attention pads.
            order = np.argsort(tokens.lengths, kind="stable")
            ends = np.cumsum(tokens.lengths[order])
            for part in np.split(order, np.flatnonzero(np.diff(ends // _BUDGET)) + 1):
                batch = tokens.batch(part).to(encoder.device)
                hidden = packed_hidden(encoder.backbone, batch.ids, batch.lengths, last=layers).half().cpu().numpy()
                states[places_of(tokens.offsets, part)] = hidden
    finally:
        encoder.train(was_training)
    return KeptTokens(tokens, states, layers)
