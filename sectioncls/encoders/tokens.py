"""Token ids of many texts in two flat arrays: no padding, rows by slicing, lengths for free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sectioncls.errors import UsageError

__all__ = ["Batch", "Tokens", "join_tokens", "places_of", "put_second", "tokenise"]

_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class Tokens:
    """``ids[offsets[i]:offsets[i + 1]]`` are the token ids of text i, special tokens included.

    ``routes`` (n,) name each text's route through a conditioned encoder; None for encoders without.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    routes: npt.NDArray[np.int32] | None = None

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

    def batch(self, rows: npt.NDArray[np.int64]) -> Batch:
        """Give the texts at ``rows`` as one batch, each text one row and one span."""
        ids = torch.from_numpy(self.ids[places_of(self.offsets, rows)].astype(np.int64))
        routes = None if self.routes is None else torch.from_numpy(self.routes[rows])
        return Batch(ids=ids, lengths=torch.from_numpy(self.lengths[rows]), routes=routes)


@dataclass(frozen=True, slots=True)
class Batch:
    """What an encoder reads: rows of tokens end to end, and the spans that each become one vector.

    ``ids`` is (T,), ``lengths`` (rows,) with sum T. ``spans`` is (S, 2) of first and past-last positions in ``ids``;
    None makes each row one span. ``routes`` (rows,) are int32 numbers of a conditioned encoder's routes and stay on the
    CPU, where rows are grouped by them; None for encoders without. ``start`` (T, hidden) are known states before layer
    ``first`` (see frozen.py); without, the encoder begins at the ids.
    """

    ids: Tensor
    lengths: Tensor
    spans: Tensor | None = None
    routes: Tensor | None = None
    start: Tensor | None = None
    first: int = 0

    def to(self, device: torch.device | str) -> Batch:
        """Give the same batch on another device."""
        spans = None if self.spans is None else self.spans.to(device)
        start = None if self.start is None else self.start.to(device)
        return replace(self, ids=self.ids.to(device), lengths=self.lengths.to(device), spans=spans, start=start)

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


def join_tokens(parts: Sequence[Tokens]) -> Tokens:
    """Give the texts of all ``parts``, one after another. Raises UsageError where only some of them have routes."""
    if len({part.routes is None for part in parts}) > 1:
        raise UsageError("only some of the texts have a route", todo="tokenise all of them for a task")
    if not parts:
        return Tokens(ids=np.zeros(0, dtype=np.int32), offsets=np.zeros(1, dtype=np.int64))
    lengths = np.concatenate([part.lengths for part in parts])
    known = [part.routes for part in parts if part.routes is not None]
    return Tokens(
        ids=np.concatenate([part.ids for part in parts]),
        offsets=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]),
        routes=np.concatenate(known) if known else None,
    )


def put_second(ids: Tensor, lengths: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Give the rows, end to end in ``ids`` (T,), with ``values`` (rows,) behind each row's first token."""
    longer = ids.new_empty(len(ids) + len(lengths))
    places = (lengths + 1).cumsum(0) - lengths
    mask = torch.ones(len(longer), dtype=torch.bool, device=ids.device)
    mask[places] = False
    longer[mask] = ids
    longer[places] = values
    return longer, lengths + 1


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
