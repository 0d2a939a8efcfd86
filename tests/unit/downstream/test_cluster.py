"""Clusterings against plain scikit-learn, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from sectioncls.downstream import PROTOCOLS, cluster
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


@pytest.mark.parametrize("method", ["kmeans", "hdbscan"])
def test_separate_groups_are_found_the_same_twice(method):
    found = cluster(X, 3, method=method, protocol=DEFAULT)
    assert adjusted_rand_score(Y, found) > 0.9
    assert found.tobytes() == cluster(X, 3, method=method, protocol=DEFAULT).tobytes()


@pytest.mark.parametrize("method", ["kmeans", "hdbscan"])
def test_equal_rows_make_no_more_clusters_than_there_are_points(method):
    found = cluster(np.ones((40, 3)), 3, method=method, protocol=DEFAULT)
    assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("method", ["kmeans", "hdbscan"])
def test_very_few_rows(method):
    for n in (1, 2, 5):
        assert len(cluster(X[:n], 1, method=method, protocol=DEFAULT)) == n


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
    with pytest.raises(UsageError, match="kmeans, hdbscan"):
        cluster(X, 3, method="spectral", protocol=DEFAULT)
    with pytest.raises(UsageError, match="lengths"):
        cluster(X, 3, protocol=PAPER)
