"""Exact nearest rows by dot product, in blocks: what an index would approximate, at a bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError

__all__ = ["top_k", "top_k_blocks"]

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

# Scores of a block, at most (32 MB), and queries of a block, at most.
CELLS, QUERIES = 8_000_000, 1024


def top_k(
    queries: npt.ArrayLike, items: npt.ArrayLike, k: int, *, exclude: npt.ArrayLike | None = None
) -> tuple[Floats, Rows]:
    """Give the ``k`` best items of each query by dot product: scores and item rows, both (queries, k), best first.

    Exact; equal scores are in ascending order of rows. For cosines give rows of unit length. ``exclude``, (queries,) or
    (queries, m), names items that a query may not get, such as itself; -1 names none. Raises InputError for shapes that
    don't fit, for NaN or infinite values and where fewer than ``k`` items are left.
    """
    blocks = [(scores, rows) for _, scores, rows in top_k_blocks(queries, items, k, exclude=exclude)]
    if not blocks:
        return np.zeros((0, k), dtype=np.float32), np.zeros((0, k), dtype=np.int64)
    return np.concatenate([scores for scores, _ in blocks]), np.concatenate([rows for _, rows in blocks])


def top_k_blocks(
    queries: npt.ArrayLike, items: npt.ArrayLike, k: int, *, exclude: npt.ArrayLike | None = None
) -> Iterator[tuple[int, Floats, Rows]]:
    """Give ``top_k`` a block of queries at a time: the number of its first query, scores, item rows."""
    asked, offered = _matrix(queries, "queries"), _matrix(items, "items")
    if asked.shape[1] != offered.shape[1]:
        raise InputError(f"queries of {asked.shape[1]} dimensions, items of {offered.shape[1]}", "nearest rows")
    barred = _excluded(exclude, len(asked), len(offered))
    left = len(offered) - _most(barred)
    if not 1 <= k <= left:
        raise InputError(f"k = {k}, but a query has {left} items to choose from", "nearest rows", "take a smaller k")
    size = max(1, min(QUERIES, CELLS // len(offered)))
    for start in range(0, len(asked), size):
        scores = asked[start : start + size] @ offered.T
        scores += np.float32(0)  # no -0, which would sort apart from 0
        some, column = np.nonzero(barred[start : start + size] >= 0)
        scores[some, barred[start + some, column]] = -np.inf
        yield start, *_best(scores, k)


def _best(scores: Floats, k: int) -> tuple[Floats, Rows]:
    """Give the ``k`` largest of each row and their columns, best first, equal ones by column."""
    columns = scores.shape[1]
    least = np.partition(scores, columns - k, axis=1)[:, columns - k, None]
    chosen = scores >= least
    for row in np.flatnonzero(chosen.sum(axis=1) > k):  # ties at the edge: the lowest columns stay
        tied = np.flatnonzero(scores[row] == least[row])
        chosen[row, tied[k - int((scores[row] > least[row]).sum()) :]] = False
    found = np.nonzero(chosen)[1].reshape(len(scores), k)
    # One sort of whole numbers: descending score above, ascending column below.
    bits = np.take_along_axis(scores, found, axis=1).view(np.int32).astype(np.int64)
    ascending = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    keys = (-ascending << 32) | found
    keys.sort(axis=1)
    rows = keys & 0xFFFFFFFF
    return np.take_along_axis(scores, rows, axis=1), rows


def _matrix(x: npt.ArrayLike, where: str) -> Floats:
    rows = np.ascontiguousarray(x, dtype=np.float32)
    if rows.ndim != 2:
        raise InputError(f"expected a matrix of rows x dimensions, got shape {rows.shape}", where)
    if not np.isfinite(rows).all():
        raise InputError("the vectors hold NaN or infinite values", where)
    return rows


def _excluded(exclude: npt.ArrayLike | None, queries: int, items: int) -> Rows:
    if exclude is None:
        return np.full((queries, 1), -1, dtype=np.int64)
    rows = np.asarray(exclude, dtype=np.int64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or len(rows) != queries:
        raise InputError(f"{queries} queries, but items to exclude of shape {np.shape(exclude)}", "nearest rows")
    if rows.size and rows.max() >= items:
        raise InputError(f"item {rows.max()} of {items} is to be excluded", "nearest rows")
    return rows


def _most(barred: Rows) -> int:
    """Give the largest number of different items that one query may not get."""
    if not barred.size:
        return 0
    ordered = np.sort(barred, axis=1)
    new = np.diff(ordered, axis=1, prepend=-1) > 0
    return int(new.sum(axis=1).max())
