"""Intervals against plain loops over resamples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from sectioncls.downstream import intervals
from sectioncls.downstream.intervals import draws, kendall_tau, mean_interval, tau_interval

RNG = np.random.default_rng(4)


def rows_drawn(counts):
    return np.repeat(np.arange(len(counts)), counts.astype(int))


def test_draws_hold_as_many_rows_as_there_are(monkeypatch):
    monkeypatch.setattr(intervals, "BLOCK", 50)
    parts = list(draws(20, 9, seed=1))
    assert [len(part) for part in parts] == [2, 2, 2, 2, 1]
    assert all((part.sum(axis=1) == 20).all() for part in parts)


def test_mean_interval_is_that_of_resampled_means():
    values = np.append(RNG.normal(size=60), np.nan)
    known = values[:60]
    means = [known[rows_drawn(one)].mean() for part in draws(60, 500, 7) for one in part]
    assert mean_interval(values, resamples=500, seed=7) == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])))


def test_weighted_mean_interval():
    values, weights = RNG.normal(size=40), RNG.uniform(0.5, 2, 40)
    means = [
        np.average(values[rows], weights=weights[rows]) for part in draws(40, 300, 2) for rows in map(rows_drawn, part)
    ]
    found = mean_interval(values, weights, resamples=300, seed=2)
    assert found == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])))


def test_fewer_than_two_values_have_no_interval():
    assert mean_interval([0.5]) is None
    assert mean_interval([0.5, np.nan]) is None
    assert tau_interval([1.0], [2.0]) is None


def test_tau_interval_is_that_of_scipy_on_resamples(monkeypatch):
    truth = RNG.integers(0, 8, 50).astype(float)
    predicted = truth + RNG.normal(size=50) * 3
    taus = [kendalltau(truth[rows], predicted[rows])[0] for part in draws(50, 200, 5) for rows in map(rows_drawn, part)]
    expected = tuple(np.percentile(taus, [2.5, 97.5]))
    assert tau_interval(truth, predicted, resamples=200, seed=5) == pytest.approx(expected)
    monkeypatch.setattr(intervals, "PAIRS", 10)
    assert tau_interval(truth, predicted, resamples=200, seed=5) == pytest.approx(expected)


def test_tau_without_order_is_undefined():
    assert np.isnan(kendall_tau([1, 1, 1], [1, 2, 3]))
    assert tau_interval([1, 1, 1], [1, 2, 3]) is None
