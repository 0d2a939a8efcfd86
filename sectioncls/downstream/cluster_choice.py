"""How many clusters embeddings fall into by themselves, and whether another seed finds the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Matrix, as_matrix
from sectioncls.downstream.cluster import cluster
from sectioncls.downstream.confusion import adjusted_rand, table
from sectioncls.downstream.protocols import Protocol
from sectioncls.downstream.seeds import Spread, spread
from sectioncls.downstream.silhouette import silhouette
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError

__all__ = ["REFERENCES", "ChoiceOfK", "Tried", "agreement", "choose_k", "stability"]

REFERENCES = 10
"""Clouds without clusters that the gap compares with."""

_ROWS = 1500
_STARTS = 3


@dataclass(frozen=True, slots=True)
class Tried:
    """k-means with one k: within-cluster sum of squares, silhouette (None for one cluster), gap and its error."""

    k: int
    inertia: float
    silhouette: float | None
    gap: float
    error: float


@dataclass(frozen=True, slots=True)
class ChoiceOfK:
    """What was tried on ``rows`` rows, and the k that the silhouette and the gap choose (None where neither can)."""

    tried: tuple[Tried, ...]
    rows: int
    by_silhouette: int | None
    by_gap: int | None


def choose_k(
    x: npt.ArrayLike,
    ks: Sequence[int],
    *,
    references: int = REFERENCES,
    rows: int = _ROWS,
    seed: int = 0,
) -> ChoiceOfK:
    """The number of clusters by k-means, from the ``ks`` that are tried, on ``rows`` rows drawn from ``x`` at most.

    By silhouette: the k with the largest; at least two clusters. By gap: the smallest k whose gap reaches that of
    the next k tried less its error; the largest of all where none does. The gap is log(inertia) of uniform clouds in
    the box along the principal axes of ``x``, less that of ``x``. Papers: Rousseeuw 1987; Tibshirani, Walther and
    Hastie 2001, "Estimating the number of clusters in a data set via the gap statistic". Rows that are all one
    point have neither. Raises InputError for a k that is less than 1 or more than the rows.
    """
    every = as_matrix(x)
    rng = np.random.default_rng(seed)
    drawn = every if len(every) <= rows else every[np.sort(rng.choice(len(every), rows, replace=False))]
    order = sorted(set(ks))
    if not order or order[0] < 1 or order[-1] > len(drawn):
        raise InputError(f"the numbers of clusters must be from 1 to the {len(drawn)} rows that are clustered", "k")
    data = drawn.astype(np.float64) - drawn.mean(axis=0, dtype=np.float64)
    if not np.ptp(drawn, axis=0).any():
        return ChoiceOfK((), len(data), None, None)
    clouds = [_log_inertias(cloud, order, seed) for cloud in _clouds(data, references, rng)]
    tried = []
    for place, k in enumerate(order):
        ids, inertia = _kmeans(data, k, seed)
        measured = silhouette(data, ids, exact_rows=len(data))
        expected = np.array([cloud[place] for cloud in clouds])
        gap = float(expected.mean() - _log(inertia))
        error = float(expected.std() * np.sqrt(1 + 1 / references))
        tried.append(Tried(k, inertia, None if measured is None else measured[0], gap, error))
    return ChoiceOfK(tuple(tried), len(data), _by_silhouette(tried), _by_gap(tried))


def stability(
    x: npt.ArrayLike,
    k: int,
    *,
    protocol: Protocol,
    method: str = "kmeans",
    seeds: int = 5,
    lengths: Sequence[int] | None = None,
) -> Spread:
    """Adjusted Rand index of the clusterings of each two of ``seeds`` seeds: 1 where all find the same clusters.

    Raises InputError for fewer than two seeds.
    """
    if seeds < 2:
        raise InputError("stability needs two seeds or more", "seeds")
    found = [
        cluster(x, k, method=method, protocol=replace(protocol, seed=protocol.seed + seed), lengths=lengths)
        for seed in range(seeds)
    ]
    return agreement(found)


def agreement(clusterings: Sequence[npt.NDArray[np.int64]]) -> Spread:
    """Adjusted Rand index of each two of some clusterings of the same rows."""
    ids = [np.unique(one, return_inverse=True)[1] for one in clusterings]
    return spread(
        [float(adjusted_rand(table(a, b, (int(a.max()) + 1, int(b.max()) + 1)))) for a, b in combinations(ids, 2)]
    )


def _clouds(data: Matrix, references: int, rng: np.random.Generator) -> list[Matrix]:
    """Uniform clouds in the box that ``data`` fills along its principal axes."""
    axes = np.linalg.svd(data, full_matrices=False)[2]
    turned = data @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    return [rng.uniform(low, high, turned.shape) @ axes for _ in range(references)]


def _log_inertias(data: Matrix, ks: Sequence[int], seed: int) -> list[float]:
    return [_log(_kmeans(data, k, seed)[1]) for k in ks]


def _log(inertia: float) -> float:
    """The logarithm; of nothing, where every row is a cluster, the smallest there is."""
    return float(np.log(max(inertia, np.finfo(float).tiny)))


def _kmeans(data: Matrix, k: int, seed: int) -> tuple[npt.NDArray[np.int64], float]:
    import warnings

    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(k, n_init=_STARTS, random_state=seed).fit(data)
    return np.asarray(model.labels_, dtype=np.int64), float(model.inertia_)


def _by_silhouette(tried: Sequence[Tried]) -> int | None:
    known = [(one.silhouette, -one.k) for one in tried if one.silhouette is not None]
    return -max(known)[1] if known else None


def _by_gap(tried: Sequence[Tried]) -> int | None:
    for one, after in pairwise(tried):
        if one.gap >= after.gap - after.error:
            return one.k
    return max(tried, key=lambda one: (one.gap, -one.k)).k if tried else None
