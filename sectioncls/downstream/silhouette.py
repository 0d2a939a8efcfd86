"""How much nearer rows lie to their own cluster than to the next: exact for some rows, sampled for many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix
from sectioncls.downstream.sampling import stratified_rows

__all__ = ["SAMPLE", "silhouette", "silhouette_values"]

SAMPLE = 5000
"""Rows that stand for all where there are more than an exact silhouette is asked for."""

# Distances that are held at once.
_BLOCK = 1_000_000


def silhouette(x: Any, ids: Ids, *, exact_rows: int | None = None, seed: int = 0) -> tuple[float, int] | None:
    """The mean silhouette (Euclidean, -1 to 1) and the number of rows that it is a mean of.

    Over ``exact_rows`` rows a sample of 5,000, stratified by ``ids`` and drawn with ``seed``, stands for all: each
    of its rows is compared with every row, and each cluster weighs by its size, so the value has no bias. With
    ``exact_rows=None`` scikit-learn computes it on all rows. None where it is undefined: one cluster, or one row each.
    Paper: Rousseeuw 1987, "Silhouettes".
    """
    if not 2 <= len(np.unique(ids)) < len(ids):
        return None
    if exact_rows is None or not isinstance(x, np.ndarray):
        from sklearn.metrics import silhouette_score

        return float(silhouette_score(x, ids)), len(ids)
    rows = stratified_rows(ids, SAMPLE if len(ids) > exact_rows else len(ids), seed=seed)
    values = silhouette_values(x, ids, rows)
    names, place, counts = np.unique(ids, return_inverse=True, return_counts=True)
    means = np.bincount(place[rows], values, len(names)) / np.bincount(place[rows], minlength=len(names))
    return float((means * counts).sum() / len(ids)), len(rows)


def silhouette_values(x: Matrix, ids: Ids, rows: Ids) -> npt.NDArray[np.float64]:
    """Silhouette of each of ``rows`` (row numbers of ``x``) against all rows; 0 for a row alone in its cluster."""
    from sklearn.metrics.pairwise import euclidean_distances

    names, place, counts = np.unique(ids, return_inverse=True, return_counts=True)
    members = np.zeros((len(ids), len(names)))
    members[np.arange(len(ids)), place] = 1
    every = np.asarray(x, dtype=np.float64)
    every = every - every.mean(axis=0)  # nearer to the origin, the squares lose fewer digits
    squares = (every * every).sum(axis=1)[None]
    values = np.zeros(len(rows))
    step = max(1, _BLOCK // len(ids))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        distances = euclidean_distances(every[block], every, Y_norm_squared=squares)
        distances[np.arange(len(block)), block] = 0  # a row and itself, where rounding may leave something
        sums = distances @ members
        own = place[block]
        mine = sums[np.arange(len(block)), own] / np.maximum(counts[own] - 1, 1)
        means = sums / counts
        means[np.arange(len(block)), own] = np.inf
        other = means.min(axis=1)
        larger = np.maximum(mine, other)
        gap = np.divide(other - mine, larger, out=np.zeros(len(block)), where=larger > 0)
        values[start : start + step] = np.where(counts[own] == 1, 0, gap)
    return values
