"""Losses with a learnt centre per label: ArcFace and center loss. They are modules, for they have weights.

Papers: arXiv 1801.07698 (ArcFace), equation 3; Wen et al., ECCV 2016 (center loss), equation 2.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["ArcFaceLoss", "CentreLoss"]


class ArcFaceLoss(nn.Module):
    """Cross-entropy over angles to one direction per label, the right angle widened by ``margin`` (radians).

    ``forward(vectors, targets)`` takes (B, dimension) and (B,) class ids. ``scale`` is the paper's s.
    """

    def __init__(self, dimension: int, classes: int, margin: float = 0.3, scale: float = 16.0) -> None:
        super().__init__()
        self.margin = margin
        self.scale = scale
        self.directions = nn.Parameter(torch.empty(classes, dimension))
        nn.init.xavier_uniform_(self.directions)

    def forward(self, vectors: Tensor, targets: Tensor) -> Tensor:
        """Give the mean loss."""
        rows = nn.functional.normalize(vectors.to(self.directions.dtype), dim=1)
        cosines = rows @ nn.functional.normalize(self.directions, dim=1).T
        own = nn.functional.one_hot(targets, cosines.shape[1]).bool()
        # arccos has no gradient at ±1; and an angle past π would turn the penalty round.
        angle = torch.acos(cosines.clamp(-1 + 1e-6, 1 - 1e-6))
        widened = torch.cos((angle + self.margin).clamp_max(torch.pi))
        return nn.functional.cross_entropy(self.scale * torch.where(own, widened, cosines), targets)


class CentreLoss(nn.Module):
    """Half the mean squared distance of vectors to the learnt centre of their label; to be added to another loss.

    Alone it is at its best when all vectors and centres are one point.
    """

    def __init__(self, dimension: int, classes: int) -> None:
        super().__init__()
        self.centres = nn.Parameter(torch.zeros(classes, dimension))

    def forward(self, vectors: Tensor, targets: Tensor) -> Tensor:
        """Give the mean loss."""
        return 0.5 * (vectors.to(self.centres.dtype) - self.centres[targets]).pow(2).sum(1).mean()
