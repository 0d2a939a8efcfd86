"""Other triplet losses over labels: hardest, semi-hard, and batch-all with a soft margin.

Papers: arXiv 1703.07737 (batch hard, equation 5; soft margin, section 2); arXiv 1503.03832 (semi-hard, section 3.2).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from sectioncls.losses.batch_all import Distance
from sectioncls.losses.pairs import distances, pairs_of, weighted_mean

__all__ = ["batch_hard_triplet_loss", "batch_semi_hard_triplet_loss", "soft_triplet_loss"]

# Terms of one block of the soft margin, which has no closed form: 64 MB in float32.
_TERMS = 1 << 24


def batch_hard_triplet_loss(
    embeddings: Tensor,
    labels: Tensor,
    margin: float | None = 0.25,
    distance: Distance = "euclidean",
    *,
    groups: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Give the mean over anchors of ``max(0, d(a, farthest p) − d(a, nearest n) + margin)``.

    ``margin=None`` is the soft margin, ``log(1 + e^{d(a,p) − d(a,n)})``. Anchors without positive or negative are left
    out. ``groups`` as in pairs_of, ``weights`` (B,) weighs anchors.
    """
    positive, negative = pairs_of(labels, groups)
    matrix = distances(embeddings, distance)
    valid = positive.any(1) & negative.any(1)
    farthest = matrix.masked_fill(~positive, -torch.inf).amax(1).masked_fill(~valid, 0.0)
    nearest = matrix.masked_fill(~negative, torch.inf).amin(1).masked_fill(~valid, 0.0)
    gap = farthest - nearest
    terms = torch.nn.functional.softplus(gap) if margin is None else (gap + margin).clamp_min(0)
    return weighted_mean(terms, valid, weights)


def batch_semi_hard_triplet_loss(
    embeddings: Tensor,
    labels: Tensor,
    margin: float = 0.25,
    distance: Distance = "euclidean",
    *,
    groups: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Give the mean over (anchor, positive) of ``max(0, d(a,p) − d(a,n) + margin)`` with the semi-hard n.

    n is the nearest negative farther than p, or where none is, the farthest negative, as in FaceNet's public code.
    ``groups`` as in pairs_of, ``weights`` (B,) weighs anchors.
    """
    positive, negative = pairs_of(labels, groups)
    matrix = distances(embeddings, distance)
    with torch.no_grad():
        ordered, places = matrix.masked_fill(~negative, torch.inf).sort(dim=1)
        counts = negative.sum(1, keepdim=True)
        beyond = torch.searchsorted(ordered, matrix.contiguous(), right=True)
        chosen = places.gather(1, torch.where(beyond < counts, beyond, (counts - 1).clamp_min(0)))
    terms = (matrix - matrix.gather(1, chosen) + margin).clamp_min(0)
    valid = positive & (counts > 0)
    anchors = None if weights is None else weights[:, None].expand_as(terms)
    return weighted_mean(terms.flatten(), valid.flatten(), None if anchors is None else anchors.flatten())


def soft_triplet_loss(
    embeddings: Tensor,
    labels: Tensor,
    distance: Distance = "euclidean",
    *,
    groups: Tensor | None = None,
) -> Tensor:
    """Give the mean over all triplets of ``log(1 + e^{d(a,p) − d(a,n)})``: batch-all with the soft margin.

    Takes O(B³) time; memory stays bounded, blocks of anchors are computed again for the gradient.
    """
    positive, negative = pairs_of(labels, groups)
    matrix = distances(embeddings, distance)
    step = max(1, _TERMS // max(1, len(labels) ** 2))
    total = matrix.new_zeros(()) + 0 * matrix.sum()
    for first in range(0, len(labels), step):
        rows = slice(first, first + step)
        total = total + checkpoint(_soft_block, matrix[rows], positive[rows], negative[rows], use_reentrant=False)
    count = (positive.sum(1) * negative.sum(1)).sum()
    return total / count.clamp_min(1)


def _soft_block(matrix: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    terms = torch.nn.functional.softplus(matrix[:, :, None] - matrix[:, None, :])
    return torch.where(positive[:, :, None] & negative[:, None, :], terms, 0.0).sum()
