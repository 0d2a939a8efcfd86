"""UMAP as the unit tests ask of every projection; apart, since its library compiles for half a minute."""

from __future__ import annotations

import numpy as np

from sectioncls.downstream import PROJECTIONS, project

RNG = np.random.default_rng(6)
Y = np.repeat([0, 1], 30)
X = (RNG.normal(size=(60, 10)) + 20 * Y[:, None]).astype(np.float32)


def test_umap():
    assert set(PROJECTIONS) == {"tsne", "opentsne", "umap", "pca"}
    points = project(X, method="umap", seed=1).points
    assert points.shape == (60, 2) and points.dtype == np.float32
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag(np.full(60, np.inf))
    assert (Y[distances.argmin(1)] == Y).mean() > 0.95
    assert points.tobytes() == project(X, method="umap", seed=1).points.tobytes()
    for odd in (X[:5], X[:25, :1], np.eye(2)[Y]):
        assert np.isfinite(project(odd, method="umap").points).all()
    assert not project(np.ones((30, 4)), method="umap").points.any()
