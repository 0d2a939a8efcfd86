"""Who is whose positive and negative in a batch of labels, and the (B, B) matrices that the pair losses share."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sectioncls.losses.batch_all import Distance

__all__ = ["Pairs", "distances", "pairs_of", "similarities", "weighted_mean"]


class Pairs(NamedTuple):
    """Masks, (B, B) of bool: row i's positives (same label) and negatives (other label); i itself is neither."""

    positive: Tensor
    negative: Tensor


def pairs_of(labels: Tensor, groups: Tensor | None = None) -> Pairs:
    """Give the masks of a batch. Rows of one ``groups`` value (the same text, say) are left out for each other.

    ``labels`` and ``groups`` are (B,) of integers. A repeated text is a positive that teaches nothing, and where its
    copies bear two labels a negative that no encoder can push away; give its group to ignore both.
    """
    same = labels[:, None] == labels[None, :]
    if groups is None:
        apart = ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    else:
        apart = groups[:, None] != groups[None, :]
    return Pairs(same & apart, ~same & apart)


def similarities(embeddings: Tensor) -> Tensor:
    """Give the cosine similarities of all rows, (B, B), in float32 at least."""
    rows = torch.nn.functional.normalize(_wide(embeddings), dim=1)
    return rows @ rows.T


def distances(embeddings: Tensor, distance: Distance = "euclidean") -> Tensor:
    """Give all distances, (B, B); where one is zero its gradient is zero, never infinite.

    Raises ValueError for an unknown distance.
    """
    if distance == "cosine":
        return 1 - similarities(embeddings)
    if distance != "euclidean":
        raise ValueError(f"distance is 'euclidean' or 'cosine', not {distance!r}")
    rows = _wide(embeddings)
    squares = (rows * rows).sum(1)
    square = (squares[:, None] + squares[None, :] - 2 * (rows @ rows.T)).clamp_min(0)
    touching = square <= _touching(rows, squares)
    return torch.where(touching, 0.0, torch.where(touching, 1.0, square).sqrt())


def weighted_mean(terms: Tensor, valid: Tensor, weights: Tensor | None) -> Tensor:
    """Give the weighted mean of the ``valid`` terms, (B,); zero with a graph when none counts."""
    share = valid.to(terms.dtype) if weights is None else valid * weights.to(terms.dtype)
    return (torch.where(valid, terms, 0.0) * share).sum() / share.sum().clamp_min(torch.finfo(terms.dtype).tiny)


def _touching(rows: Tensor, squares: Tensor) -> Tensor:
    """Give what counts as a squared distance of zero: what rounding leaves of one, (B, B)."""
    return 8 * torch.finfo(rows.dtype).eps * (squares[:, None] + squares[None, :]).detach()


def _wide(embeddings: Tensor) -> Tensor:
    return embeddings.float() if embeddings.dtype in (torch.bfloat16, torch.float16) else embeddings
