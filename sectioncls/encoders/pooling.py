"""From token vectors to span vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

__all__ = ["POOLINGS", "cls", "mean"]


def mean(hidden: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Give the mean token vector of each span, (S, hidden); special tokens count, as in sentence-transformers."""
    lengths = ends - starts
    owner = torch.repeat_interleave(torch.arange(len(starts), device=hidden.device), lengths)
    tokens = hidden if _adjacent(starts, ends, len(hidden)) else hidden[_members(starts, lengths)]
    sums = hidden.new_zeros(len(starts), hidden.shape[1]).index_add(0, owner, tokens)
    return sums / lengths[:, None].to(hidden.dtype)


def cls(hidden: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Give the vector of each span's first token, (S, hidden)."""
    return hidden[starts]


POOLINGS: Mapping[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {"mean": mean, "cls": cls}


def _adjacent(starts: Tensor, ends: Tensor, total: int) -> bool:
    """Say whether the spans cover all tokens in order, the case of one span a row."""
    return bool(starts[0] == 0 and ends[-1] == total and (starts[1:] == ends[:-1]).all())


def _members(starts: Tensor, lengths: Tensor) -> Tensor:
    """Give the positions of all tokens of all spans, span by span."""
    ends = lengths.cumsum(0)
    shift = torch.repeat_interleave(starts - (ends - lengths), lengths)
    return torch.arange(int(ends[-1]), device=starts.device) + shift
