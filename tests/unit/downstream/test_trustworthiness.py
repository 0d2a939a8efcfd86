"""How far a picture can be trusted: scikit-learn's value, a sample without bias, odd sizes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import manifold

from sectioncls.downstream.trustworthiness import trustworthiness
from sectioncls.errors import InputError

RNG = np.random.default_rng(4)
X = RNG.normal(size=(300, 12))
POINTS = X[:, :2] + 0.1 * RNG.normal(size=(300, 2))


@pytest.mark.parametrize("neighbours", [1, 5, 40])
def test_the_value_of_scikit_learn(neighbours):
    value, n = trustworthiness(X, POINTS, neighbours=neighbours)
    assert n == 300
    assert value == pytest.approx(manifold.trustworthiness(X, POINTS, n_neighbors=neighbours), abs=1e-12)


def test_a_sample_has_no_bias():
    whole = trustworthiness(X, POINTS)[0]
    parts = [trustworthiness(X, POINTS, limit=60, seed=seed) for seed in range(40)]
    assert {n for _, n in parts} == {60}
    values = [value for value, _ in parts]
    assert abs(np.mean(values) - whole) < 3 * np.std(values) / np.sqrt(len(values))
    assert parts[0] == trustworthiness(X, POINTS, limit=60, seed=0)


def test_the_best_and_the_odd():
    assert trustworthiness(X[:, :2], X[:, :2]) == (1.0, 300)
    assert trustworthiness(np.ones((9, 3)), np.zeros((9, 2))) == (1.0, 9)
    assert trustworthiness(X[:2], POINTS[:2]) is None
    assert trustworthiness(X[:3], POINTS[:3])[1] == 3
    with pytest.raises(InputError, match="300 rows but 9 points"):
        trustworthiness(X, POINTS[:9])
