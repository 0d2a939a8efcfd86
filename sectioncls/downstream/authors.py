"""Papers of one author: B³ of clusters, and the plain clustering by embeddings that it judges.

Same-author detection as a ranking is measured_scores with ``map``. S2AND (arXiv 2103.07534) trains a classifier
of pairs on names, affiliations and embeddings; that classifier is not rebuilt. What stands here clusters by the
embeddings alone, with the one bound on their distance chosen on other blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_ids, as_matrix
from sectioncls.downstream.intervals import draws, mean_interval
from sectioncls.downstream.significance import RESAMPLES
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = ["BOUNDS", "LARGEST", "author_clusters", "author_scores", "b_cubed", "choose_bound"]

BOUNDS = tuple(round(0.05 * step, 2) for step in range(1, 21))
"""Bounds of the mean cosine distance among which one is chosen."""

LARGEST = 5000
"""Papers of one block: distances of all pairs are held at once."""

Floats = npt.NDArray[np.float64]


def b_cubed(truth: npt.ArrayLike, found: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Precision and recall (n,) of each paper: the share of its cluster that is its author's, and the reverse.

    The B³ precision and recall are their means, F1 is that of the means (Bagga and Baldwin 1998).
    """
    authors = np.unique(np.asarray(truth), return_inverse=True)[1]
    clusters = np.unique(np.asarray(found), return_inverse=True)[1]
    if len(authors) != len(clusters) or not len(authors):
        raise InputError(f"{len(authors)} authors but {len(clusters)} clusters", "clusters")
    _, back, common = np.unique(
        authors.astype(np.int64) * (clusters.max() + 1) + clusters, return_inverse=True, return_counts=True
    )
    shared = common[back].astype(np.float64)
    return shared / np.bincount(clusters)[clusters], shared / np.bincount(authors)[authors]


def author_clusters(x: npt.ArrayLike, block: Sequence[str], bound: float) -> Ids:
    """Cluster ids (n,) of papers, apart in each block (papers whose author has the same written name).

    Papers are joined while the mean cosine distance of two clusters is below ``bound``. Raises InputError for a
    block of more than LARGEST papers.
    """
    from sklearn.cluster import AgglomerativeClustering

    rows = as_matrix(x)
    if len(rows) != len(block):
        raise InputError(f"{len(rows)} rows but {len(block)} block names", "blocks")
    names, where = np.unique(np.asarray(block, dtype=np.str_), return_inverse=True)
    counts = np.bincount(where)
    if counts.max() > LARGEST:
        name = str(names[int(counts.argmax())])
        raise InputError(f"block {name!r} has {counts.max()} papers, the most is {LARGEST}", "blocks")
    found = np.empty(len(rows), dtype=np.int64)
    used = 0
    for one in range(len(names)):
        mine = np.flatnonzero(where == one)
        ids = np.zeros(len(mine), dtype=np.int64)
        if len(mine) > 1:
            model = AgglomerativeClustering(
                n_clusters=None, distance_threshold=bound, metric="precomputed", linkage="average"
            )
            ids = model.fit_predict(_distances(rows[mine])).astype(np.int64)
        found[mine] = ids + used
        used += int(ids.max()) + 1
    return found


def choose_bound(
    x: npt.ArrayLike, block: Sequence[str], truth: npt.ArrayLike, bounds: Iterable[float] = BOUNDS
) -> float:
    """The bound whose clusters have the highest B³ F1 on these (dev) papers, the lowest of equal ones."""
    return max(bounds, key=lambda bound: (_f1(*b_cubed(truth, author_clusters(x, block, bound))), -bound))


def author_scores(
    truth: npt.ArrayLike, found: npt.ArrayLike, *, like: Score, resamples: int = RESAMPLES, seed: int = 0
) -> list[Score]:
    """Rows ``b3-precision``, ``b3-recall`` and ``b3-f1``, with 95 % intervals over papers.

    The interval of F1 resamples papers and keeps each one's precision and recall.
    """
    authors = as_ids(np.unique(np.asarray(truth), return_inverse=True)[1], len(np.asarray(truth)), "authors")
    precision, recall = b_cubed(authors, found)
    rows = []
    for metric, values in (("b3-precision", precision), ("b3-recall", recall)):
        low, high = mean_interval(values, resamples=resamples, seed=seed) or (None, None)
        rows.append(replace(like, metric=metric, value=float(values.mean()), low=low, high=high))
    low, high = _f1_interval(precision, recall, resamples, seed)
    rows.append(replace(like, metric="b3-f1", value=_f1(precision, recall), low=low, high=high))
    return [replace(row, n=len(authors), unit="paper") for row in rows]


def _f1_interval(precision: Floats, recall: Floats, resamples: int, seed: int) -> tuple[float, float]:
    n = len(precision)
    values = [_harmonic(w @ precision / n, w @ recall / n) for w in draws(n, resamples, seed)]
    low, high = np.percentile(np.concatenate(values), [2.5, 97.5])
    return float(low), float(high)


def _f1(precision: Floats, recall: Floats) -> float:
    return float(_harmonic(np.asarray(precision.mean()), np.asarray(recall.mean())))


def _harmonic(one: Floats, other: Floats) -> Floats:
    return np.asarray(2 * one * other / (one + other))


def _distances(rows: npt.NDArray[np.floating]) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = (rows / np.where(norms > 0, norms, 1)).astype(np.float64)
    distances = np.clip(1 - unit @ unit.T, 0, 2)
    np.fill_diagonal(distances, 0)
    return np.asarray((distances + distances.T) / 2)
