"""Plain numpy on matrices of embeddings: how widely they spread, which rows are nearest, a saved index to search."""

from __future__ import annotations

from sectioncls.vectors.index import Hit, Index, find_index, index_folder, load_index
from sectioncls.vectors.spread import LabelSpread, effective_rank, label_spread, mean_distance, residual_variance
from sectioncls.vectors.topk import top_k, top_k_blocks

__all__ = [
    "Hit",
    "Index",
    "LabelSpread",
    "effective_rank",
    "find_index",
    "index_folder",
    "label_spread",
    "load_index",
    "mean_distance",
    "residual_variance",
    "top_k",
    "top_k_blocks",
]
