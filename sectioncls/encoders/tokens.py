"""Token ids of many texts in two flat arrays: no padding, rows by slicing, lengths for free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

__all__ = ["Batch", "Tokens", "places_of", "tokenise"]

_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class Tokens:
    """``ids[offsets[i]:offsets[i + 1]]`` are the token ids of text i, special tokens included."""

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens per text, (n,)."""
        return np.diff(self.offsets)

    @property
    def items(self) -> int:
        """The number of texts: each row gives one vector."""
        return len(self)

    def members(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Give the texts whose vectors the rows give: the rows themselves."""
        return rows

    def batch(self, rows: npt.NDArray[np.int64], route: str | None = None) -> Batch:
        """Give the texts at ``rows`` as one batch, each text one row and one span."""
        ids = torch.from_numpy(self.ids[places_of(self.offsets, rows)].astype(np.int64))
        return Batch(ids=ids, lengths=torch.from_numpy(self.lengths[rows]), route=route)


@dataclass(frozen=True, slots=True)
class Batch:
    """What an encoder reads: rows of tokens end to end, and the spans that each become one vector.

    ``ids`` is (T,), ``lengths`` (rows,) with sum T. ``spans`` is (S, 2) of first and past-last positions in ``ids``;
    None makes each row one span. ``route`` names the task for conditioned encoders. ``start`` (T, hidden) are known
    states before layer ``first`` (see frozen.py); without, the encoder begins at the ids.
    """

    ids: Tensor
    lengths: Tensor
    spans: Tensor | None = None
    route: str | None = None
    start: Tensor | None = None
    first: int = 0

    def to(self, device: torch.device | str) -> Batch:
        """Give the same batch on another device."""
        spans = None if self.spans is None else self.spans.to(device)
        start = None if self.start is None else self.start.to(device)
        return Batch(self.ids.to(device), self.lengths.to(device), spans, self.route, start, self.first)

    def bounds(self) -> tuple[Tensor, Tensor]:
        """Give the first and past-last token of every span, each (S,)."""
        if self.spans is not None:
            return self.spans[:, 0], self.spans[:, 1]
        ends = self.lengths.cumsum(0)
        return ends - self.lengths, ends


def places_of(offsets: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give the places ``offsets[i]:offsets[i + 1]`` of all ``rows``, end to end."""
    starts, lengths = offsets[rows], np.diff(offsets)[rows]
    ends = np.cumsum(lengths)
    places: npt.NDArray[np.int64] = np.arange(int(lengths.sum())) + np.repeat(starts - (ends - lengths), lengths)
    return places


def tokenise(tokenizer: Any, texts: Sequence[str], max_length: int, *, special: bool = True) -> Tokens:
    """Give the token ids of ``texts``, each cut at ``max_length`` tokens, special tokens included unless told not."""
    ids: list[npt.NDArray[np.int32]] = []
    lengths = np.zeros(len(texts) + 1, dtype=np.int64)
    for first in range(0, len(texts), _CHUNK):
        encoded = tokenizer(
            list(texts[first : first + _CHUNK]),
            add_special_tokens=special,
            truncation=True,
            max_length=max_length,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        for row, tokens in enumerate(encoded, start=first + 1):
            lengths[row] = len(tokens)
        ids.extend(np.asarray(tokens, dtype=np.int32) for tokens in encoded)
    flat = np.concatenate(ids) if ids else np.zeros(0, dtype=np.int32)
    return Tokens(ids=flat, offsets=np.cumsum(lengths))
