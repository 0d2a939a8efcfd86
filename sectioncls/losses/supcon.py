"""Supervised contrastive loss, and N-pair, its relative with one positive at a time.

Papers: arXiv 2004.11362 (SupCon), equation 2; Sohn, NeurIPS 2016 (multi-class N-pair), equation 1, over all pairs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sectioncls.losses.pairs import pairs_of, similarities, weighted_mean

__all__ = ["npair_loss", "supcon_loss"]


def supcon_loss(
    embeddings: Tensor,
    labels: Tensor,
    temperature: float = 0.1,
    *,
    groups: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Give the mean over anchors of ``−1/|P| Σ_p log(e^{s(a,p)/τ} / Σ_{k≠a} e^{s(a,k)/τ})``, s the cosine.

    ``embeddings`` is (B, dim), ``labels`` (B,); ``groups`` as in pairs_of; ``weights`` (B,) weighs anchors (annotators'
    agreement, say). Anchors without a positive are left out; without any the loss is zero with a graph.
    """
    positive, negative = pairs_of(labels, groups)
    logits = (similarities(embeddings) / temperature).masked_fill(~(positive | negative), -torch.inf)
    # An anchor whose whole batch is its own group has nothing to compare with.
    alone = ~(positive | negative).any(1)
    total = torch.logsumexp(logits.masked_fill(alone[:, None], 0.0), dim=1, keepdim=True)
    counts = positive.sum(1)
    shares = torch.where(positive, logits - total, 0.0).sum(1) / counts.clamp_min(1)
    return weighted_mean(-shares, counts > 0, weights)


def npair_loss(
    embeddings: Tensor,
    labels: Tensor,
    temperature: float = 0.1,
    *,
    groups: Tensor | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Give the mean over anchors and their positives of ``log(1 + Σ_n e^{(s(a,n) − s(a,p))/τ})``, s the cosine.

    This is multiple-negatives ranking with every positive in turn, and no positive of the anchor among its negatives.
    Arguments as in supcon_loss.
    """
    positive, negative = pairs_of(labels, groups)
    logits = similarities(embeddings) / temperature
    lost = ~negative.any(1)
    others = torch.logsumexp(logits.masked_fill(~negative, -torch.inf).masked_fill(lost[:, None], 0.0), dim=1)
    terms = torch.nn.functional.softplus(others[:, None] - logits)
    counts = positive.sum(1)
    shares = torch.where(positive, terms, 0.0).sum(1) / counts.clamp_min(1)
    return weighted_mean(shares, (counts > 0) & ~lost, weights)
