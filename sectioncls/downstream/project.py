"""Embeddings drawn in two dimensions."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Matrix, as_matrix
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError, UsageError

__all__ = ["PROJECTIONS", "project", "sample_rows"]

Points = npt.NDArray[np.float32]

FEWEST = 5


def project(x: npt.ArrayLike, *, method: str = "tsne", seed: int = 0) -> Points:
    """Points (rows x 2, float32) that keep near what is near in ``x`` (rows x dimensions).

    ``tsne`` starts from principal components, as the figures of arXiv 2404.00224 do, which give no seed;
    ``umap`` is the quicker for many rows. Both run on one thread, so that one seed gives one picture; take
    some thousand rows (see sample_rows), as time grows with n log n. Rows that are all equal stay at 0.
    Raises UsageError for an unknown method, InputError for fewer than 5 rows or non-finite embeddings.
    """
    if method not in PROJECTIONS:
        raise UsageError(f"no projection {method!r}: {', '.join(PROJECTIONS)}")
    rows = as_matrix(x)
    if len(rows) < FEWEST:
        raise InputError(f"{len(rows)} rows are too few to draw; {FEWEST} are needed", "embeddings")
    if not np.ptp(rows, axis=0).any():
        return np.zeros((len(rows), 2), dtype=np.float32)
    return PROJECTIONS[method](rows, seed)


def sample_rows(n: int, limit: int, *, seed: int = 0) -> npt.NDArray[np.int64]:
    """Row numbers, rising, of ``limit`` of ``n`` rows drawn without replacement; all where n is less."""
    if n <= limit:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, limit, replace=False))


def _tsne(rows: Matrix, seed: int) -> Points:
    from sklearn.manifold import TSNE

    # Two components need two columns; a line gets a second one of zeros.
    if rows.shape[1] < 2:
        rows = np.column_stack([rows, np.zeros(len(rows), dtype=rows.dtype)])
    with threads(1):
        model = TSNE(init="pca", perplexity=min(30.0, (len(rows) - 1) / 3), random_state=seed)
        return np.asarray(model.fit_transform(rows), dtype=np.float32)


def _umap(rows: Matrix, seed: int) -> Points:
    import umap

    # A spectral start needs more rows than its solver's subspace.
    start = "spectral" if len(rows) > 20 else "random"
    with threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = umap.UMAP(n_neighbors=min(15, len(rows) - 1), init=start, random_state=seed, n_jobs=1)
        return np.asarray(model.fit_transform(rows), dtype=np.float32)


PROJECTIONS: dict[str, Callable[[Matrix, int], Points]] = {"tsne": _tsne, "umap": _umap}
