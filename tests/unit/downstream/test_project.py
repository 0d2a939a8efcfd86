"""Pictures: same bytes for the same seed and any order of rows, neighbours kept, odd input survived."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from sectioncls.downstream import project, sample_rows
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(6)
Y = np.repeat([0, 1], 30)
X = (RNG.normal(size=(60, 10)) + 20 * Y[:, None]).astype(np.float32)


# UMAP compiles for half a minute: tests/integration/test_umap.py.
@pytest.mark.parametrize("method", ["tsne", "opentsne", "pca"])
def test_one_seed_is_one_picture_of_any_rows_in_any_order(method):
    if method == "opentsne":
        pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    drawn = project(X, method=method, seed=1)
    points = drawn.points
    assert points.shape == (60, 2) and points.dtype == np.float32
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag(np.full(60, np.inf))
    assert (Y[distances.argmin(1)] == Y).mean() > 0.95
    assert points.tobytes() == project(X, method=method, seed=1).points.tobytes()
    order = np.random.default_rng(2).permutation(60)
    moved = project(X[order], method=method, seed=1)
    assert moved.points.tobytes() == points[order].tobytes()
    assert (moved.trust, moved.divergence) == (drawn.trust, drawn.divergence)
    assert 0.5 < drawn.trust <= 1 and drawn.judged == 60
    for odd in (X[:5], X[:25, :1], np.eye(2)[Y], np.concatenate([X[:6], X[:6]])):
        assert np.isfinite(project(odd, method=method).points).all()
    assert not project(np.ones((30, 4)), method=method).points.any()


def test_equal_rows_share_a_point():
    twice = np.concatenate([X, X[:20]])
    drawn = project(twice, seed=1)
    assert drawn.points[60:].tobytes() == drawn.points[:20].tobytes()
    few = project(np.eye(3)[np.arange(9) % 3], seed=1)
    assert few.method == "pca" and len(np.unique(few.points, axis=0)) == 3


def test_pca_is_that_of_scikit_learn():
    assert np.abs(np.abs(project(X, method="pca").points) - np.abs(PCA(2).fit_transform(X))).max() < 1e-4


def test_opentsne_is_as_good_as_scikit_learn():
    """Unit rows of many dimensions, whose distances are much alike, as those of embeddings are."""
    pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    rng = np.random.default_rng(3)
    x = 0.07 * rng.normal(size=(4, 384))[np.arange(600) % 4] + rng.normal(size=(600, 384))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
    drawn = project(x, method="opentsne", seed=1)
    plain = TSNE(init="pca", random_state=1).fit(x)
    assert (drawn.method, drawn.engine, drawn.settings) == ("tsne", "openTSNE", {"perplexity": 30.0})
    assert drawn.divergence == pytest.approx(plain.kl_divergence_, rel=0.03)
    assert project(x, seed=1).divergence == pytest.approx(plain.kl_divergence_, rel=0.03)


def test_many_rows_go_to_opentsne_where_it_is_installed(monkeypatch):
    rooms = sys.modules["sectioncls.downstream.project"]  # the package has a function of that name
    monkeypatch.setattr(rooms, "LARGE", 50)
    monkeypatch.setattr(rooms, "find_spec", lambda name: None)
    assert project(X).engine == "scikit-learn"
    with pytest.raises(UsageError, match="openTSNE is not installed"):
        project(X, method="opentsne")
    pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    monkeypatch.undo()
    monkeypatch.setattr(rooms, "LARGE", 50)
    assert project(X).engine == "openTSNE"


def test_bad_input_is_one_line():
    for x in (X[:4], X[:0], np.full((9, 2), np.nan), X[:, 0]):
        with pytest.raises(InputError) as caught:
            project(x)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="tsne, opentsne, umap, pca"):
        project(X, method="isomap")


def test_sample_rows():
    assert sample_rows(4, 9).tolist() == [0, 1, 2, 3]
    rows = sample_rows(100, 10, seed=2)
    assert len(set(rows.tolist())) == 10 and (np.diff(rows) > 0).all()
    assert rows.tolist() == sample_rows(100, 10, seed=2).tolist()
