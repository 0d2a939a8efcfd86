"""Pairs of papers that a citation graph makes alike: cited together, or citing the same works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["cocited", "coupled", "matrix_of"]

Edges = NDArray[np.int64]
_CELLS = 1 << 22  # products of one slice of papers, at most


def cocited(edges: Edges, least: int = 2, *, busiest: int | None = None) -> tuple[Edges, NDArray[np.int64]]:
    """Give the pairs of papers that ``least`` papers or more cite together, and by how many.

    ``edges`` are (n, 2) rows of citing and cited paper; self-citations and doubles don't count. The pairs are (m, 2)
    with the smaller row first, sorted, the numbers (m,). Papers that cite more than ``busiest`` others are left out,
    for a paper with d references makes d² / 2 pairs; None takes all.
    """
    return _together(edges[:, ::-1], least, busiest)


def coupled(edges: Edges, least: int = 4, *, busiest: int | None = None) -> tuple[Edges, NDArray[np.int64]]:
    """Give the pairs of papers that share ``least`` references or more (bibliographic coupling), and how many.

    As ``cocited``, with works that more than ``busiest`` papers cite left out. Works outside the set may stand in
    ``edges`` under row numbers of their own beyond the papers'.
    """
    return _together(edges, least, busiest)


def matrix_of(edges: Edges, rows: int, columns: int) -> csr_array:
    """Give the (rows, columns) matrix with a 1 for each edge, however often it is given, and none on the diagonal."""
    from scipy.sparse import csr_array

    edges = edges[edges[:, 0] != edges[:, 1]]
    ones = np.ones(len(edges), dtype=np.int32)
    matrix = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(rows, columns))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _together(edges: Edges, least: int, busiest: int | None) -> tuple[Edges, NDArray[np.int64]]:
    """Give the pairs of first ends that share second ends, slice by slice of the first ends."""
    if not len(edges):
        return np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
    rows, columns = (int(top) + 1 for top in edges.max(axis=0))
    matrix: Any = matrix_of(edges, rows, columns)
    shares = np.bincount(matrix.indices, minlength=columns)
    if busiest is not None:
        matrix = matrix[:, shares <= busiest]
        shares = shares[shares <= busiest]
    other = matrix.T.tocsr()
    work = np.cumsum(matrix @ shares)
    pairs, weights = [], []
    start = 0
    while start < rows:
        end = max(start + 1, int(np.searchsorted(work, (work[start - 1] if start else 0) + _CELLS, side="right")))
        product = (matrix[start:end] @ other).tocoo()
        kept = (product.data >= least) & (product.row + start < product.col)
        pairs.append(np.stack([product.row[kept] + start, product.col[kept]], axis=1).astype(np.int64))
        weights.append(product.data[kept].astype(np.int64))
        start = end
    together, numbers = np.concatenate(pairs), np.concatenate(weights)
    order = np.lexsort((together[:, 1], together[:, 0]))
    return together[order], numbers[order]
