"""Clusterings that judge embeddings by what lies together without being told."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_matrix
from sectioncls.downstream.protocols import Protocol, row_order
from sectioncls.downstream.spherical import spherical_kmeans
from sectioncls.downstream.threads import threads
from sectioncls.downstream.ward import ward
from sectioncls.errors import InputError, UsageError

__all__ = ["CLUSTERERS", "FIXED_CLUSTERERS", "NOISE", "cluster", "kmeans"]

FIXED_CLUSTERERS = frozenset({"agglomerative", "hdbscan"})
"""Methods without chance: another seed gives the same clusters."""

NOISE = -1
"""The id of rows that hdbscan puts into no cluster; nothing ever gives them one."""

# Rows around a row that say how dense its place is, for hdbscan.
NEIGHBOURS = 5


def cluster(
    x: npt.ArrayLike,
    k: int,
    *,
    method: str = "kmeans",
    protocol: Protocol,
    lengths: Sequence[int] | None = None,
) -> Ids:
    """Cluster id of each row of ``x`` (rows x dimensions), in the order of the rows.

    ``kmeans``, ``minibatch-kmeans`` (for many rows), ``spherical-kmeans`` (by cosine) and ``agglomerative``
    (Ward; 20,000 rows at most) make ``k`` clusters, fewer only where there are fewer distinct rows; ``hdbscan``
    finds their number itself, each of sqrt(rows) rows or more, and gives -1 (NOISE) to rows that belong to none.
    ``lengths`` are the lengths in characters of the sentences, which the protocol ``paper`` sorts by. Paper:
    arXiv 2404.00224, section 4. Raises UsageError for an unknown method or missing lengths, InputError for
    non-finite embeddings or fewer rows than clusters.
    """
    if method not in CLUSTERERS:
        raise UsageError(f"no clustering {method!r}: {', '.join(CLUSTERERS)}")
    rows = as_matrix(x)
    if not 1 <= k <= len(rows):
        raise InputError(f"{len(rows)} rows can't make {k} clusters", "embeddings")
    order = row_order(protocol, len(rows), lengths)
    ids = np.empty(len(rows), dtype=np.int64)
    ids[order] = CLUSTERERS[method](rows[order], k, protocol)
    return ids


def kmeans(x: Any, k: int, *, n_init: int, seed: int) -> Ids:
    """Ids of ``k`` clusters by k-means, the best of ``n_init`` starts; ``x`` may be scipy sparse."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    # Sums of several threads meet in no fixed order; on one thread the same bytes come out everywhere.
    with threads(1), warnings.catch_warnings():
        # It warns of fewer distinct rows than k, which the ids show.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(k, n_init=n_init, random_state=seed)
        return np.asarray(model.fit_predict(x), dtype=np.int64)


def _kmeans(x: Matrix, k: int, protocol: Protocol) -> Ids:
    return kmeans(x, k, n_init=protocol.n_init, seed=protocol.seed)


def _minibatch(x: Matrix, k: int, protocol: Protocol) -> Ids:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    with threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MiniBatchKMeans(k, n_init=protocol.n_init, random_state=protocol.seed)
        return np.asarray(model.fit_predict(x), dtype=np.int64)


def _spherical(x: Matrix, k: int, protocol: Protocol) -> Ids:
    with threads(1):
        return spherical_kmeans(x, k, n_init=protocol.n_init, seed=protocol.seed)


def _agglomerative(x: Matrix, k: int, protocol: Protocol) -> Ids:
    return ward(x, k)


def _hdbscan(x: Matrix, k: int, protocol: Protocol) -> Ids:
    import hdbscan

    if len(x) <= NEIGHBOURS:
        return np.full(len(x), NOISE, dtype=np.int64)
    smallest = math.ceil(math.sqrt(len(x)))
    model = hdbscan.HDBSCAN(min_cluster_size=smallest, min_samples=NEIGHBOURS, core_dist_n_jobs=1)
    return np.asarray(model.fit_predict(x.astype(np.float64)), dtype=np.int64)


CLUSTERERS: dict[str, Callable[[Matrix, int, Protocol], Ids]] = {
    "kmeans": _kmeans,
    "minibatch-kmeans": _minibatch,
    "spherical-kmeans": _spherical,
    "agglomerative": _agglomerative,
    "hdbscan": _hdbscan,
}
