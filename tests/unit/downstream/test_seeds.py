"""Several seeds: spread, analysis of variance and Tukey's test by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f, studentized_range

from sectioncls.downstream import seed_test, spread
from sectioncls.errors import InputError


def test_spread_by_hand():
    found = spread([0.5, 0.7, 0.6])
    assert (found.mean, found.deviation) == (pytest.approx(0.6), pytest.approx(0.1))
    assert (found.low, found.high, found.n) == (0.5, 0.7, 3)
    assert spread([0.5]).deviation is None


def test_analysis_of_variance_and_tukey_from_their_formulas():
    rng = np.random.default_rng(0)
    systems = {"a": rng.normal(0.60, 0.01, 5), "b": rng.normal(0.61, 0.01, 5), "c": rng.normal(0.66, 0.01, 5)}
    values = np.stack(list(systems.values()))
    between = 5 * ((values.mean(1) - values.mean()) ** 2).sum() / 2
    within = ((values - values.mean(1, keepdims=True)) ** 2).sum() / 12
    found = seed_test(systems)
    assert found.f == pytest.approx(between / within)
    assert found.p == pytest.approx(f.sf(between / within, 2, 12))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair in found.pairs:
        gap = systems[pair.second].mean() - systems[pair.first].mean()
        assert pair.difference == pytest.approx(gap)
        error = np.sqrt(within / 5)
        assert pair.p == pytest.approx(studentized_range.sf(abs(gap) / error, 3, 12), abs=1e-6)
        reach = studentized_range.ppf(0.95, 3, 12) * error
        assert (pair.low, pair.high) == (pytest.approx(gap - reach, rel=1e-4), pytest.approx(gap + reach, rel=1e-4))


@pytest.mark.parametrize(
    ("systems", "says"),
    [
        ({"a": [1, 2]}, "two systems"),
        ({"a": [1, 2], "b": [1]}, "b has 1 seed"),
        ({"a": [1, 1], "b": [2, 2]}, "no chance"),
    ],
)
def test_too_few_seeds_are_one_line(systems, says):
    with pytest.raises(InputError, match=says):
        seed_test(systems)
    with pytest.raises(InputError):
        spread([])
