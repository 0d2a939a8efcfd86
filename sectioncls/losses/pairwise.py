"""Losses over pairs: the contrastive loss and multi-similarity.

Papers: Hadsell, Chopra and LeCun, CVPR 2006, equation 4; Wang et al., arXiv 1904.06627, equation 15 with the mining of
section 4.2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sectioncls.losses.batch_all import Distance
from sectioncls.losses.pairs import distances, pairs_of, similarities, weighted_mean

__all__ = ["contrastive_loss", "multi_similarity_loss"]


def contrastive_loss(
    embeddings: Tensor,
    labels: Tensor,
    margin: float = 0.5,
    distance: Distance = "euclidean",
    *,
    groups: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Give the mean over all ordered pairs of ``d²`` (same label) and ``max(0, margin − d)²`` (other label).

    Each kind of pair counts one half, so that few positives are not drowned. The paper's argument for triplets
    (arXiv 2404.00224) is that this loss pulls a label into one point. ``groups`` as in pairs_of, ``weights`` (B,).
    """
    positive, negative = pairs_of(labels, groups)
    matrix = distances(embeddings, distance)
    anchors = None if weights is None else weights[:, None].expand_as(matrix).flatten()
    near = weighted_mean((matrix**2).flatten(), positive.flatten(), anchors)
    far = weighted_mean(((margin - matrix).clamp_min(0) ** 2).flatten(), negative.flatten(), anchors)
    return (near + far) / 2


def multi_similarity_loss(
    embeddings: Tensor,
    labels: Tensor,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
    epsilon: float = 0.1,
    *,
    groups: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Give the mean over anchors of ``1/α log(1+Σ_p e^{−α(s−λ)}) + 1/β log(1+Σ_n e^{β(s−λ)})`` over mined pairs.

    s is the cosine, λ is ``base``. A negative counts when it is more alike than the least alike positive less
    ``epsilon``, a positive when it is less alike than the most alike negative plus ``epsilon``; the paper's values are
    the defaults. ``groups`` as in pairs_of, ``weights`` (B,) weighs anchors.
    """
    positive, negative = pairs_of(labels, groups)
    matrix = similarities(embeddings)
    with torch.no_grad():
        weakest = matrix.masked_fill(~positive, torch.inf).amin(1, keepdim=True)
        strongest = matrix.masked_fill(~negative, -torch.inf).amax(1, keepdim=True)
        positive = positive & (matrix - epsilon < strongest)
        negative = negative & (matrix + epsilon > weakest)
    pull = _log_one_plus(-alpha * (matrix - base), positive) / alpha
    push = _log_one_plus(beta * (matrix - base), negative) / beta
    return weighted_mean(pull + push, positive.any(1) | negative.any(1), weights)


def _log_one_plus(exponents: Tensor, mask: Tensor) -> Tensor:
    """Give ``log(1 + Σ e^x)`` over the masked entries of each row, (B,), without overflow."""
    padded = torch.nn.functional.pad(exponents.masked_fill(~mask, -torch.inf), (0, 1))
    return torch.logsumexp(padded, dim=1)
