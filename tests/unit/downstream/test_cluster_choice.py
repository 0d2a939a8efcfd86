"""The number of clusters and their stability on data whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from sectioncls.downstream import PROTOCOLS, choose_k, cluster, stability
from sectioncls.downstream.cluster_choice import agreement
from sectioncls.errors import InputError

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 4, 300)
X = (np.eye(4, 6)[Y] * 9 + RNG.normal(size=(300, 6))).astype(np.float32)
DEFAULT = PROTOCOLS["default"]


def test_four_groups_are_found():
    found = choose_k(X, range(1, 8), references=5)
    assert (found.by_silhouette, found.by_gap, found.rows) == (4, 4, 300)
    one = found.tried[3]
    plain = KMeans(4, n_init=3, random_state=0).fit(X.astype(np.float64) - X.mean(0, dtype=np.float64))
    assert one.inertia == pytest.approx(plain.inertia_)
    assert one.silhouette == pytest.approx(silhouette_score(X, plain.labels_), abs=1e-5)
    assert found.tried[0].silhouette is None
    assert found == choose_k(X, [7, 1, 2, 3, 4, 5, 6, 6], references=5)


def test_a_cloud_is_one_cluster_by_gap():
    cloud = RNG.uniform(size=(200, 2))
    found = choose_k(cloud, range(1, 5))
    assert found.by_gap == 1 and found.by_silhouette in (2, 3, 4)


def test_the_gap_is_log_inertia_of_clouds_less_ours():
    found = choose_k(X, [1], references=60)
    data = X.astype(np.float64) - X.mean(0, dtype=np.float64)
    axes = np.linalg.svd(data, full_matrices=False)[2]
    widths = np.ptp(data @ axes.T, axis=0)
    # One cluster of a uniform box: n times the sum of its variances, width^2 / 12 each.
    expected = np.log(300 * (widths**2 / 12).sum()) - np.log((data**2).sum())
    assert found.tried[0].gap == pytest.approx(expected, abs=0.02)


def test_many_rows_are_sampled_and_equal_rows_have_no_choice():
    assert choose_k(X, [1, 2], rows=50, references=2).rows == 50
    same = choose_k(np.ones((9, 3)), [1, 2])
    assert (same.tried, same.by_silhouette, same.by_gap) == ((), None, None)


@pytest.mark.parametrize("ks", [[], [0, 1], [301]])
def test_an_impossible_k_is_one_line(ks):
    with pytest.raises(InputError, match="from 1 to the 300 rows"):
        choose_k(X, ks)


def test_stability_is_the_mean_agreement_of_seeds():
    noise = RNG.normal(size=(200, 5))
    found = stability(noise, 6, protocol=DEFAULT, seeds=3)
    runs = [cluster(noise, 6, protocol=replace(DEFAULT, seed=seed)) for seed in range(3)]
    pairs = [adjusted_rand_score(runs[a], runs[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert (found.mean, found.low, found.high) == tuple(
        pytest.approx(value) for value in (np.mean(pairs), min(pairs), max(pairs))
    )
    assert stability(X, 4, protocol=DEFAULT).mean == 1
    assert agreement([np.array([5, 5, -1]), np.array([0, 0, 1])]).mean == 1
    with pytest.raises(InputError, match="two seeds"):
        stability(X, 4, protocol=DEFAULT, seeds=1)
