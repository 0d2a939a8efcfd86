"""Plain numpy on matrices of embeddings: how widely they spread."""

from __future__ import annotations

from sectioncls.vectors.spread import LabelSpread, effective_rank, label_spread, mean_distance, residual_variance

__all__ = ["LabelSpread", "effective_rank", "label_spread", "mean_distance", "residual_variance"]
