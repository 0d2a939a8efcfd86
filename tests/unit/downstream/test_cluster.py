"""Clusterings against plain scikit-learn, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from sectioncls.downstream import CLUSTERERS, NOISE, PROTOCOLS, cluster, ward
from sectioncls.downstream.protocols import length_order
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 150)
X = (RNG.normal(size=(3, 6))[Y] * 8 + RNG.normal(size=(150, 6))).astype(np.float32)
LENGTHS = RNG.integers(5, 30, 150).tolist()
PAPER, DEFAULT = PROTOCOLS["paper"], PROTOCOLS["default"]


def test_paper_kmeans_is_scikit_learn_on_sorted_rows_put_back():
    noise = RNG.normal(size=(150, 6)).astype(np.float32)
    order = length_order(LENGTHS)
    plain = KMeans(5, n_init=10, random_state=31415).fit_predict(noise[order])
    found = cluster(noise, 5, protocol=PAPER, lengths=LENGTHS)
    assert (found[order] == plain).all()


@pytest.mark.parametrize("method", CLUSTERERS)
def test_separate_groups_are_found_the_same_twice(method):
    found = cluster(X, 3, method=method, protocol=DEFAULT)
    assert adjusted_rand_score(Y, found) > 0.9
    assert found.tobytes() == cluster(X, 3, method=method, protocol=DEFAULT).tobytes()


@pytest.mark.parametrize("method", CLUSTERERS)
def test_equal_rows_make_no_more_clusters_than_there_are_points(method):
    found = cluster(np.ones((40, 3)), 3, method=method, protocol=DEFAULT)
    assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("method", CLUSTERERS)
def test_very_few_rows(method):
    for n in (1, 2, 5):
        assert len(cluster(X[:n], 1, method=method, protocol=DEFAULT)) == n


def test_minibatch_is_scikit_learn():
    noise = RNG.normal(size=(2000, 6)).astype(np.float32)
    plain = MiniBatchKMeans(5, n_init=10, random_state=0).fit_predict(noise)
    assert (cluster(noise, 5, method="minibatch-kmeans", protocol=DEFAULT) == plain).all()


@pytest.mark.parametrize(("rows", "k"), [(2, 1), (2, 2), (60, 60), (400, 7), (1500, 3)])
def test_agglomerative_is_scikit_learn(rows, k):
    noise = RNG.normal(size=(rows, 5)).astype(np.float32)
    found = cluster(noise, k, method="agglomerative", protocol=DEFAULT)
    plain = AgglomerativeClustering(k).fit_predict(noise)
    assert adjusted_rand_score(plain, found) == pytest.approx(1)
    firsts = [int(np.flatnonzero(found == i)[0]) for i in range(k)]
    assert firsts == sorted(firsts)


def test_agglomerative_has_a_bound(monkeypatch):
    monkeypatch.setattr(ward, "MOST_ROWS", 100)
    with pytest.raises(InputError, match=r"150 rows are too many.*minibatch-kmeans"):
        cluster(X, 3, method="agglomerative", protocol=DEFAULT)


def naive_spherical(rows, centres):
    """Lloyd's rounds by cosine, row by row."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for _ in range(300):
        ids = np.array([max(range(len(centres)), key=lambda c: centres[c] @ row) for row in rows])
        moved = np.stack([rows[ids == c].sum(0) / np.linalg.norm(rows[ids == c].sum(0)) for c in range(len(centres))])
        if np.allclose(moved, centres, atol=1e-14):
            break
        centres = moved
    return ids, sum(row @ centres[c] for row, c in zip(rows, ids, strict=True))


def test_spherical_kmeans_settles_where_a_naive_loop_does():
    noise = RNG.normal(size=(120, 4))
    found = cluster(noise, 4, method="spherical-kmeans", protocol=DEFAULT)
    unit = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    sums = np.stack([unit[found == c].sum(0) for c in range(4)])
    centres = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    ids, total = naive_spherical(noise, centres)
    assert (ids == found).all()  # a fixed point
    starts = [naive_spherical(noise, unit[RNG.choice(120, 4, replace=False)])[1] for _ in range(10)]
    assert total >= max(starts) - 0.02 * abs(max(starts))


def test_spherical_kmeans_sees_directions_only():
    scaled = X * RNG.uniform(0.1, 9, (150, 1))
    one, other = (cluster(x, 3, method="spherical-kmeans", protocol=DEFAULT) for x in (X, scaled))
    assert adjusted_rand_score(one, other) == 1
    with pytest.raises(InputError, match="1 of 150 rows are zero and have no direction"):
        cluster(np.where(np.arange(150)[:, None] == 4, 0, X), 3, method="spherical-kmeans", protocol=DEFAULT)


def test_hdbscan_leaves_noise_alone():
    even = RNG.uniform(size=(60, 12))
    assert (cluster(even, 3, method="hdbscan", protocol=DEFAULT) == NOISE).all()
    far = np.concatenate([X, 500 + 200 * RNG.normal(size=(6, 6)).astype(np.float32)])
    found = cluster(far, 3, method="hdbscan", protocol=DEFAULT)
    assert (found[150:] == NOISE).all() and adjusted_rand_score(Y, found[:150]) > 0.9


def test_bad_input_is_one_line():
    broken = X.copy()
    broken[0, 0] = np.inf
    for x, k, says in (
        (broken, 3, "NaN or infinite"),
        (X[:2], 3, "2 rows can't make 3"),
        (X, 0, "0 clusters"),
    ):
        with pytest.raises(InputError) as caught:
            cluster(x, k, protocol=DEFAULT)
        assert says in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(UsageError, match=r"kmeans, .*hdbscan"):
        cluster(X, 3, method="spectral", protocol=DEFAULT)
    with pytest.raises(UsageError, match="lengths"):
        cluster(X, 3, protocol=PAPER)
