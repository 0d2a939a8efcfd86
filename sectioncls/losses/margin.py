"""Triplet margin loss over explicit triples, as SPECTER, SciNCL and SciRepEval train their encoders.

Papers: arXiv 2004.07180 (SPECTER), equation 2; arXiv 2202.06671 (SciNCL), section 3: Euclidean distance, margin 1. On
unit vectors, where no distance exceeds 2, a margin of 1 is very large: scale it, or drop the normalisation.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sectioncls.losses.infonce import NEGATIVE, POSITIVE, QUERY

__all__ = ["triplet_margin_loss"]


def triplet_margin_loss(vectors: Tensor, text: Tensor, group: Tensor, role: Tensor, margin: float = 1.0) -> Tensor:
    """Give the mean over negatives of ``max(0, |q − p| − |q − n| + margin)``, q and p those of the negative's group.

    Columns as in infonce_loss. Nothing else of the batch counts. A negative with the text of its query or positive is
    left out; without any negative the loss is zero with a graph. Computed in float32 at least.
    """
    with torch.autocast(vectors.device.type, enabled=False):
        rows = vectors.float() if vectors.dtype in (torch.bfloat16, torch.float16) else vectors
        negatives = (role == NEGATIVE).nonzero().squeeze(1)
        query, positive = (_of_group(group, role == kind, negatives) for kind in (QUERY, POSITIVE))
        apart = (text[negatives] != text[query]) & (text[negatives] != text[positive])
        query, positive, negatives = query[apart], positive[apart], negatives[apart]
        if not len(negatives):
            return 0 * rows.sum()
        near = torch.linalg.vector_norm(rows[query] - rows[positive], dim=1)
        far = torch.linalg.vector_norm(rows[query] - rows[negatives], dim=1)
        loss: Tensor = (near - far + margin).clamp_min(0).mean()
        return loss


def _of_group(group: Tensor, there: Tensor, rows: Tensor) -> Tensor:
    """Give for each of ``rows`` the row of its group that is ``there``."""
    places = there.nonzero().squeeze(1)
    order = torch.argsort(group[places])
    found: Tensor = places[order[torch.searchsorted(group[places][order].contiguous(), group[rows])]]
    return found
