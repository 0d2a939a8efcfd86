"""Several rankings as one: reciprocal rank fusion of the nearest vectors and the best words.

Paper: Cormack, Clarke & Buettcher 2009.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sectioncls.vectors.topk import top_k

__all__ = ["DEPTH", "RRF", "best_words", "fuse", "nearest"]

RRF = 10
"""The constant of reciprocal rank fusion: a paper at rank r of a list gets 1 / (RRF + r) for it.

60 as published; 10 gave more on the development queries of three collections (docs/guides/search.md).
"""

DEPTH = 1000
"""So many papers of each list take part in the fusion."""

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


def nearest(vector: Floats, items: Floats, allowed: Mask, similarity: str = "cosine") -> tuple[Rows, Floats]:
    """Give the DEPTH nearest rows of ``items`` (n, dimensions) among the ``allowed``, and how near they are.

    ``similarity`` is ``cosine`` (of rows of unit length), ``dot`` or ``euclidean``, which gives negative distances.
    """
    depth = min(DEPTH, int(allowed.sum()))
    if not depth:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    barred = np.flatnonzero(~allowed)
    if similarity != "euclidean":
        scores, found = top_k(vector[None], items, depth, exclude=barred[None] if len(barred) else None)
        return found[0], scores[0]
    distances = np.linalg.norm(np.asarray(items) - vector, axis=1)
    distances[barred] = np.inf
    best = np.lexsort((np.arange(len(distances)), distances))[:depth]
    return best, -distances[best]


def best_words(scores: Floats, allowed: Mask) -> tuple[Rows, Floats]:
    """Give the DEPTH rows of the highest BM25 ``scores`` (n,) above 0 among the ``allowed``, and these scores."""
    scores = np.where(allowed, scores, np.float32(0))
    rows = np.lexsort((np.arange(len(scores)), -scores))[: min(DEPTH, int(np.count_nonzero(scores)))]
    return rows, scores[rows]


def fuse(lists: Sequence[Rows], weights: Sequence[float] | None = None) -> tuple[Rows, npt.NDArray[np.float64]]:
    """Give the rows of several ranked lists in one order, and their scores; equal ones stand by row.

    A row's score is the sum of weight / (RRF + rank) over the lists that have it, as a share of what a row gets that is
    first in all of them.
    """
    weighed = np.ones(len(lists)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows = np.concatenate([np.asarray(found, dtype=np.int64) for found in lists])
    gains = [weight / (RRF + np.arange(1, len(found) + 1)) for weight, found in zip(weighed, lists, strict=True)]
    names, place = np.unique(rows, return_inverse=True)
    scores = np.bincount(place, np.concatenate(gains), minlength=len(names)) * (RRF + 1) / weighed.sum()
    order = np.lexsort((names, -scores))
    return names[order], scores[order]
