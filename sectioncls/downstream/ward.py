"""Agglomerative clustering by Ward's criterion, on distances that are computed as matrix products."""

from __future__ import annotations

import numpy as np

from sectioncls.downstream.arrays import Ids, Matrix
from sectioncls.errors import InputError

__all__ = ["MOST_ROWS", "ward"]

MOST_ROWS = 20_000
"""Rows that are compared each with each: twice 1.6 GB of distances."""

ROUNDING = 1e-7
_BLOCK = 1024


def ward(x: Matrix, k: int) -> Ids:
    """Ids of the ``k`` clusters that are left when the closest two are joined again and again, numbered by first row.

    Equal to scikit-learn's AgglomerativeClustering, whose distances take several times as long. Raises InputError for
    more than 20,000 rows.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(x)
    if n > MOST_ROWS:
        what = f"{n} rows are too many to be compared each with each ({MOST_ROWS} at most)"
        raise InputError(what, "agglomerative", "take kmeans, minibatch-kmeans or spherical-kmeans")
    if n < 2:
        return np.zeros(n, dtype=np.int64)
    tree = linkage(_distances(x), "ward")
    # Rows that are alike to the last digits are one point, however many clusters are asked for.
    alike = int((tree[:, 2] <= ROUNDING * tree[-1, 2]).sum())
    merges = tree[: max(n - k, alike), :2].astype(np.int64)
    # The i-th merge makes node n + i of two nodes below it; what hangs together in the end is a cluster.
    nodes = n + np.arange(len(merges))
    ends = np.concatenate([merges[:, 0], merges[:, 1]])
    graph = coo_array((np.ones(len(ends)), (ends, np.tile(nodes, 2))), shape=(n + len(merges),) * 2)
    parts = connected_components(graph, directed=False)[1][:n]
    _, first, ids = np.unique(parts, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[ids].astype(np.int64)


def _distances(x: Matrix) -> Matrix:
    """Euclidean distances of all pairs of rows, in the order of scipy's pdist."""
    from sklearn.metrics.pairwise import euclidean_distances

    n = len(x)
    rows = np.asarray(x, dtype=np.float64)
    rows = rows - rows.mean(axis=0)  # nearer to the origin, the squares of which distances are made lose less
    squares = (rows * rows).sum(axis=1)
    found = np.empty(n * (n - 1) // 2)
    place = 0
    for start in range(0, n, _BLOCK):
        block = euclidean_distances(
            rows[start : start + _BLOCK], rows[start:], X_norm_squared=squares[start : start + _BLOCK, None],
            Y_norm_squared=squares[None, start:],
        )  # fmt: skip
        for row in range(len(block)):
            part = block[row, row + 1 :]
            found[place : place + len(part)] = part
            place += len(part)
    return found
