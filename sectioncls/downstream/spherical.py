"""k-means on directions: rows and centres have unit length, and a row belongs where its cosine is largest.

After Dhillon and Modha 2001, "Concept decompositions for large sparse text data using clustering".
"""

from __future__ import annotations

import numpy as np

from sectioncls.downstream.arrays import Ids, Matrix
from sectioncls.errors import InputError

__all__ = ["spherical_kmeans"]

ROUNDS = 300


def spherical_kmeans(x: Matrix, k: int, *, n_init: int, seed: int) -> Ids:
    """Ids of ``k`` clusters of the directions of ``x``, of ``n_init`` starts those with the largest sum of cosines.

    Starts are drawn as by k-means++. A centre that loses its last row moves to the row that lies worst; where fewer
    than k directions exist, fewer clusters come out. Raises InputError for a row of zeros, which has no direction.
    """
    from sklearn.cluster import kmeans_plusplus

    rows = np.asarray(x, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    if not lengths.all():
        zeros = int((lengths == 0).sum())
        raise InputError(f"{zeros} of {len(rows)} rows are zero and have no direction", "embeddings")
    rows = rows / lengths[:, None]
    best: tuple[float, Ids] = (-np.inf, np.zeros(len(rows), dtype=np.int64))
    for start in np.random.default_rng(seed).integers(0, 2**31, n_init):
        centres, _ = kmeans_plusplus(rows, k, random_state=int(start))
        total, ids = _settle(rows, centres)
        if total > best[0]:
            best = (total, ids)
    return best[1]


def _settle(rows: Matrix, centres: Matrix) -> tuple[float, Ids]:
    """The sum of cosines and the ids when no row changes its centre any more."""
    ids = np.full(len(rows), -1, dtype=np.int64)
    for _ in range(ROUNDS):
        cosines = rows @ centres.T
        nearest = cosines.argmax(axis=1)
        if (nearest == ids).all():
            break
        ids = nearest
        centres = _centres(rows, ids, cosines[np.arange(len(rows)), ids], centres)
    return float((rows * centres[ids]).sum()), ids


def _centres(rows: Matrix, ids: Ids, cosines: Matrix, old: Matrix) -> Matrix:
    """The mean direction of each cluster; an empty one moves to the row that lies worst, if any lies badly."""
    members = np.zeros((len(old), len(rows)))
    members[ids, np.arange(len(rows))] = 1
    sums = members @ rows
    worst = iter(np.argsort(cosines, kind="stable"))
    for empty in np.flatnonzero(members.sum(axis=1) == 0):
        row = next(worst)
        sums[empty] = rows[row] if cosines[row] < 1 - 1e-9 else old[empty]
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # Rows that cancel out leave no direction; their centre stays.
    return np.where(lengths > 1e-12, sums / np.maximum(lengths, 1e-12), old)
