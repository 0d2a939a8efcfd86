"""Embeddings drawn in two dimensions."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Matrix, as_matrix
from sectioncls.downstream.threads import threads
from sectioncls.downstream.trustworthiness import trustworthiness
from sectioncls.errors import InputError, UsageError

__all__ = ["FEWEST", "LARGE", "PROJECTIONS", "Projection", "project", "sample_rows"]

Points = npt.NDArray[np.float32]

LARGE = 5000
"""From so many distinct rows on, ``tsne`` is computed by openTSNE where it is installed."""

FEWEST = 5
"""Rows that a picture needs."""

PERPLEXITY = 30.0
NEIGHBOURS = 15


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A picture: ``points`` (rows x 2, float32), who drew it with what, and how far it can be trusted.

    ``divergence`` is the Kullback-Leibler divergence that t-SNE ends with, None for other methods; ``trust`` is the
    trustworthiness, a mean over ``judged`` rows. ``method`` may be ``pca`` where a few distinct rows left no choice.
    """

    points: Points
    method: str
    engine: str
    settings: Mapping[str, float] = field(default_factory=dict)
    divergence: float | None = None
    trust: float | None = None
    judged: int = 0


def project(x: npt.ArrayLike, *, method: str = "tsne", seed: int = 0) -> Projection:
    """A picture that keeps near what is near in ``x`` (rows x dimensions).

    ``tsne`` starts from principal components, as the figures of arXiv 2404.00224 do, which give no seed; scikit-learn
    computes it, from LARGE rows on openTSNE where it is installed (``opentsne`` demands it). ``umap`` is the quickest
    for many rows, ``pca`` the one that distorts nothing. All run on one thread and see each distinct row once, in an
    order of its content: one seed gives one picture, whatever the order of rows, and equal rows share a point. Fewer
    than 5 distinct rows are drawn by ``pca``; rows that are all equal stay at 0. Papers: van der Maaten and Hinton 2008
    (t-SNE); Policar et al. 2024 (openTSNE); arXiv 1802.03426 (UMAP). Raises UsageError for an unknown method or a
    missing openTSNE, InputError for fewer than 5 rows or non-finite embeddings.
    """
    if method not in PROJECTIONS:
        raise UsageError(f"no projection {method!r}: {', '.join(PROJECTIONS)}")
    if method == "opentsne" and find_spec("openTSNE") is None:
        raise UsageError("openTSNE is not installed", "opentsne", "pip install 'sectioncls[tsne]', or take tsne")
    rows = as_matrix(x)
    if len(rows) < FEWEST:
        raise InputError(f"{len(rows)} rows are too few to draw; {FEWEST} are needed", "embeddings")
    distinct, inverse = _canonical(rows)
    with threads(1):
        drawn = (_pca if len(distinct) < FEWEST else PROJECTIONS[method])(distinct, seed)
        points = drawn.points[inverse]
        order = np.argsort(inverse, kind="stable")  # so that what is judged doesn't depend on the order of rows
        found = trustworthiness(rows[order], points[order], seed=seed) or (None, 0)
    return Projection(points, drawn.method, drawn.engine, drawn.settings, drawn.divergence, *found)


def sample_rows(n: int, limit: int, *, seed: int = 0) -> npt.NDArray[np.int64]:
    """Row numbers, rising, of ``limit`` of ``n`` rows drawn without replacement; all where n is less."""
    if n <= limit:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, limit, replace=False))


def _canonical(rows: Matrix) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """Each distinct row once, sorted by a hash of its content, and which of them each row is."""
    plain = np.ascontiguousarray(rows) + 0.0  # -0 and 0 are one value
    keys = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in plain]
    names, first, inverse = np.unique(np.array(keys, dtype="S16"), return_index=True, return_inverse=True)
    del names
    return plain[first], inverse.astype(np.int64)


def _components(rows: Matrix) -> npt.NDArray[np.float64]:
    """The first two principal components; a line gets a second one of zeros. The largest loading is positive."""
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :2]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)
    placed = centred @ axes
    return placed if placed.shape[1] == 2 else np.column_stack([placed, np.zeros(len(placed))])


def _pca(rows: Matrix, seed: int) -> Projection:
    return Projection(_components(rows).astype(np.float32), "pca", "numpy")


def _tsne(rows: Matrix, seed: int) -> Projection:
    if len(rows) >= LARGE and find_spec("openTSNE") is not None:
        return _opentsne(rows, seed)
    from sklearn.manifold import TSNE

    # Two components need two columns; a line gets a second one of zeros.
    if rows.shape[1] < 2:
        rows = np.column_stack([rows, np.zeros(len(rows), dtype=rows.dtype)])
    perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
    model = TSNE(init="pca", perplexity=perplexity, random_state=seed)
    points = np.asarray(model.fit_transform(rows), dtype=np.float32)
    return Projection(points, "tsne", "scikit-learn", {"perplexity": perplexity}, float(model.kl_divergence_))


def _opentsne(rows: Matrix, seed: int) -> Projection:
    """t-SNE by interpolation, whose time grows with n; its neighbours are exact, as scikit-learn's."""
    from openTSNE import TSNE  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from openTSNE.affinity import PerplexityBasedNN  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from openTSNE.nearest_neighbors import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        PrecomputedNeighbors,
    )
    from sklearn.neighbors import NearestNeighbors

    perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
    number = min(len(rows) - 1, int(3 * perplexity) + 1)
    apart, near = NearestNeighbors(n_neighbors=number).fit(rows).kneighbors()
    # Gaussian weights don't change when all squares of a row lose the least one. openTSNE's search for the width of a
    # Gaussian needs that: where the distances of a row are much alike, it would else end at twice the perplexity.
    squares = apart.astype(np.float64) ** 2
    apart = np.sqrt(np.maximum(squares - squares.min(axis=1, keepdims=True), 0))
    start = _components(rows)
    start *= 1e-4 / max(float(start[:, 0].std()), 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = PrecomputedNeighbors(near, apart)
        affinities = PerplexityBasedNN(knn_index=index, perplexity=perplexity, n_jobs=1)
        model = TSNE(n_iter=500, random_state=seed, n_jobs=1)
        found = model.fit(affinities=affinities, initialization=start)
    points = np.asarray(found, dtype=np.float32)
    return Projection(points, "tsne", "openTSNE", {"perplexity": perplexity}, float(found.kl_divergence))


def _umap(rows: Matrix, seed: int) -> Projection:
    import umap

    neighbours = min(NEIGHBOURS, len(rows) - 1)
    # A spectral start needs more rows than its solver's subspace.
    start = "spectral" if len(rows) > 20 else "random"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = umap.UMAP(n_neighbors=neighbours, init=start, random_state=seed, n_jobs=1)
        points = np.asarray(model.fit_transform(rows), dtype=np.float32)
    return Projection(points, "umap", "umap-learn", {"neighbours": neighbours})


PROJECTIONS: dict[str, Callable[[Matrix, int], Projection]] = {
    "tsne": _tsne,
    "opentsne": _opentsne,
    "umap": _umap,
    "pca": _pca,
}
