"""Silhouettes against scikit-learn, whole and sampled."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples, silhouette_score

from sectioncls.downstream import silhouette as module
from sectioncls.downstream.silhouette import silhouette, silhouette_values

RNG = np.random.default_rng(4)
IDS = np.concatenate([RNG.integers(0, 4, 599), [9]])
X = (RNG.normal(size=(10, 5))[IDS] * 2 + RNG.normal(size=(600, 5))).astype(np.float32)


@pytest.mark.parametrize("offset", [0, 50])
def test_exact_values_are_scikit_learns(offset):
    x = X + np.float32(offset)
    assert silhouette_values(x, IDS, np.arange(600)) == pytest.approx(silhouette_samples(x, IDS), abs=2e-5)
    assert silhouette(x, IDS, exact_rows=600) == (pytest.approx(silhouette_score(x, IDS), abs=1e-5), 600)
    assert silhouette(x, IDS) == (float(silhouette_score(x, IDS)), 600)


def test_a_sample_is_near_and_the_same_twice(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 200)
    values = [silhouette(X, IDS, exact_rows=100, seed=seed) for seed in range(40)]
    whole = silhouette_score(X, IDS)
    assert {n for _, n in values} <= set(range(196, 205))
    # Without bias: the mean of many samples is nearer than one.
    assert np.mean([value for value, _ in values]) == pytest.approx(whole, abs=0.004)
    assert max(abs(value - whole) for value, _ in values) < 0.05
    assert silhouette(X, IDS, exact_rows=100, seed=3) == values[3]


def test_blocks_do_not_show(monkeypatch):
    whole = silhouette_values(X, IDS, np.arange(600))
    monkeypatch.setattr(module, "_BLOCK", 7000)
    assert silhouette_values(X, IDS, np.arange(600)) == pytest.approx(whole, abs=1e-12)


def test_where_it_is_undefined():
    assert silhouette(X, np.zeros(600, int)) is None
    assert silhouette(X, np.arange(600)) is None
    assert silhouette(np.ones((9, 2)), np.arange(9) % 2, exact_rows=100) == (0.0, 9)
