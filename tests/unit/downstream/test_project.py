"""Pictures: same bytes for the same seed, neighbours kept, odd input survived."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import project, sample_rows
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(6)
Y = np.repeat([0, 1], 30)
X = (RNG.normal(size=(60, 10)) + 20 * Y[:, None]).astype(np.float32)


# UMAP compiles for half a minute: tests/integration/test_umap.py.
@pytest.mark.parametrize("method", ["tsne"])
def test_one_seed_is_one_picture_of_any_rows(method):
    points = project(X, method=method, seed=1)
    assert points.shape == (60, 2) and points.dtype == np.float32
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag(np.full(60, np.inf))
    assert (Y[distances.argmin(1)] == Y).mean() > 0.95
    assert points.tobytes() == project(X, method=method, seed=1).tobytes()
    for odd in (X[:5], X[:25, :1], np.eye(2)[Y]):
        assert np.isfinite(project(odd, method=method)).all()
    assert not project(np.ones((30, 4)), method=method).any()


def test_bad_input_is_one_line():
    for x in (X[:4], X[:0], np.full((9, 2), np.nan), X[:, 0]):
        with pytest.raises(InputError) as caught:
            project(x)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="tsne, umap"):
        project(X, method="pca")


def test_sample_rows():
    assert sample_rows(4, 9).tolist() == [0, 1, 2, 3]
    rows = sample_rows(100, 10, seed=2)
    assert len(set(rows.tolist())) == 10 and (np.diff(rows) > 0).all()
    assert rows.tolist() == sample_rows(100, 10, seed=2).tolist()
