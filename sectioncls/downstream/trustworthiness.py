"""How far a picture can be trusted: whether what lies near in it was near before."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import as_matrix
from sectioncls.errors import InputError

__all__ = ["JUDGED", "trustworthiness"]

JUDGED = 2000
"""Rows that stand for all where there are more."""

# Distances that are held at once.
_BLOCK = 2_000_000


def trustworthiness(
    x: npt.ArrayLike, points: npt.ArrayLike, *, neighbours: int = 5, limit: int = JUDGED, seed: int = 0
) -> tuple[float, int] | None:
    """The trustworthiness of ``points`` (rows x 2) as a picture of ``x``, 0 to 1, and how many rows it is a mean of.

    1 where the ``neighbours`` nearest of each row in the picture are its nearest in ``x`` (Euclidean); what intrudes
    costs its rank there. Above ``limit`` rows, as many drawn with ``seed`` are judged, each against every row, so the
    value has no bias. It agrees with scikit-learn, which holds all distances at once and judges all rows. None for
    fewer than 3 rows, where nothing can intrude. Paper: Venna and Kaski 2001, "Neighborhood preservation in nonlinear
    projection methods". Raises InputError for unequal numbers of rows.
    """
    from sklearn.metrics.pairwise import euclidean_distances

    rows, placed = as_matrix(x).astype(np.float64), as_matrix(points, "points").astype(np.float64)
    n = len(rows)
    if len(placed) != n:
        raise InputError(f"{n} rows but {len(placed)} points", "points")
    k = min(neighbours, (n - 1) // 2)
    if k < 1:
        return None
    judged = np.arange(n) if n <= limit else np.sort(np.random.default_rng(seed).choice(n, limit, replace=False))
    rows -= rows.mean(axis=0)  # nearer to the origin, the squares lose fewer digits
    squares = (rows * rows).sum(axis=1)[None]
    step = max(1, _BLOCK // n)
    lost = 0.0
    for start in range(0, len(judged), step):
        block = judged[start : start + step]
        here = np.arange(len(block))
        apart = euclidean_distances(placed[block], placed, squared=True)
        apart[here, block] = np.inf
        near = np.argpartition(apart, k - 1, axis=1)[:, :k]
        before = euclidean_distances(rows[block], rows, Y_norm_squared=squares, squared=True)
        before[here, block] = np.inf
        for column in range(k):
            ranks = (before < before[here, near[:, column]][:, None]).sum(axis=1) + 1
            lost += float(np.maximum(ranks - k, 0).sum())
    return 1 - lost * 2 / (len(judged) * k * (2 * n - 3 * k - 1)), len(judged)
