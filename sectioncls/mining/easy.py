"""Easy negatives of SciNCL: four ways to draw a paper that is far from the query.

Paper: arXiv 2202.06671, section 4.3 and its ablations: filtered random, random, sorted random, k-means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sectioncls.mining.draws import Source, draw_places, fill_in, pool_source, ranges

__all__ = ["EASY", "SAMPLE", "Around", "EasyFrom"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
EasyFrom = Literal["filtered", "random", "sorted", "k-means"]

# Papers of which the sorted way takes the least similar ones.
SAMPLE = 100


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Queries of a block, (b,), and their nearest papers, (b, k)."""

    query: Rows
    nearest: Rows


# Fills the -1 of a block's negatives, (b, n), in place, and gives the number that it could not fill.
Draw = Callable[[Around, Rows], int]


def _filtered(unit: Floats, pool: Rows, random: np.random.Generator) -> Draw:
    """Any paper of the pool outside the neighbours."""

    def draw(around: Around, negatives: Rows) -> int:
        inside = np.zeros((len(around.query), len(unit)), dtype=np.bool_)
        np.put_along_axis(inside, around.nearest, True, axis=1)
        inside[np.arange(len(inside)), around.query] = True

        def accept(positions: Rows, candidates: Rows) -> Mask:
            return np.asarray(~inside[positions, candidates])

        return fill_in(negatives, range(negatives.shape[1]), pool_source(pool, accept, random), random)

    return draw


def _random(unit: Floats, pool: Rows, random: np.random.Generator) -> Draw:
    """Any paper of the pool but the query."""

    def draw(around: Around, negatives: Rows) -> int:
        source = pool_source(pool, lambda positions, candidates: candidates != around.query[positions], random)
        return fill_in(negatives, range(negatives.shape[1]), source, random)

    return draw


def _sorted(unit: Floats, pool: Rows, random: np.random.Generator) -> Draw:
    """Of SAMPLE papers of the pool the ones least similar to the query."""

    def draw(around: Around, negatives: Rows) -> int:
        sizes = np.full(len(around.query), len(pool))
        places = draw_places(sizes, min(SAMPLE, len(pool)), random)
        missing = 0
        for row, (query, place) in enumerate(zip(around.query.tolist(), places, strict=True)):
            papers = pool[place]
            papers = papers[(papers != query) & ~np.isin(papers, negatives[row])]
            papers = papers[np.argsort(unit[papers] @ unit[query], kind="stable")]
            wanted = np.flatnonzero(negatives[row] < 0)
            some = papers[: len(wanted)]
            negatives[row, wanted[: len(some)]] = some
            missing += len(wanted) - len(some)
        return missing

    return draw


def _k_means(unit: Floats, pool: Rows, random: np.random.Generator) -> Draw:
    """A paper of a cluster that is in the farther half of clusters, seen from the query's own: cluster, then paper."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    clusters = max(2, round(math.sqrt(len(pool)))) if len(pool) > 1 else 1
    with threadpool_limits(1):  # sums of several threads meet in no fixed order
        model = KMeans(clusters, n_init=1, max_iter=50, random_state=int(random.integers(2**31)))
        of_pool = np.asarray(model.fit_predict(unit[pool]), dtype=np.int64)
        of_all = np.asarray(model.predict(unit), dtype=np.int64)
    centres = model.cluster_centers_ / np.maximum(np.linalg.norm(model.cluster_centers_, axis=1, keepdims=True), 1e-12)
    members = pool[np.argsort(of_pool, kind="stable")]
    sizes = np.bincount(of_pool, minlength=clusters)
    starts = np.cumsum(sizes) - sizes
    filled = np.flatnonzero(sizes)
    order = np.argsort(centres @ centres[filled].T, axis=1, kind="stable")  # least similar first
    far = filled[order][:, : max(1, len(filled) // 2)]

    def draw(around: Around, negatives: Rows) -> int:
        own = far[of_all[around.query]]

        def propose(positions: Rows) -> Rows:
            cluster = own[positions, (random.random(len(positions)) * own.shape[1]).astype(np.int64)]
            place = (random.random(len(positions)) * sizes[cluster]).astype(np.int64)
            return np.asarray(members[starts[cluster] + place], dtype=np.int64)

        def listed(positions: Rows) -> tuple[Rows, Rows]:
            clusters = own[positions]
            owner, place = ranges(starts[clusters].ravel(), sizes[clusters].ravel())
            return owner // own.shape[1], members[place]

        def accept(positions: Rows, candidates: Rows) -> Mask:
            return np.asarray(candidates != around.query[positions])

        return fill_in(negatives, range(negatives.shape[1]), Source(propose, listed, accept, 1024), random)

    return draw


EASY: Mapping[str, Callable[[Floats, Rows, np.random.Generator], Draw]] = {
    "filtered": _filtered,
    "random": _random,
    "sorted": _sorted,
    "k-means": _k_means,
}
