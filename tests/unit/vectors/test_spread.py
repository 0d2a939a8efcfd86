"""Spread measures against closed forms and naive loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.vectors import effective_rank, label_spread, mean_distance, residual_variance

RNG = np.random.default_rng(5)


def test_effective_rank_of_known_shapes():
    line = np.outer(RNG.normal(size=50), RNG.normal(size=8)) + 3
    assert effective_rank(line.astype(np.float32)) == pytest.approx(1, abs=1e-4)
    corners = np.vstack([np.eye(6), -np.eye(6)])
    assert effective_rank(corners) == pytest.approx(6)
    assert effective_rank(np.full((9, 4), 0.1, dtype=np.float32)) == 0.0


def test_effective_rank_is_the_entropy_of_singular_values():
    x = RNG.normal(size=(40, 7)) * np.arange(1, 8)
    share = np.sqrt(np.linalg.eigvalsh(np.cov(x.T, bias=True)))
    share /= share.sum()
    assert effective_rank(x) == pytest.approx(np.exp(-np.sum(share * np.log(share))))


def test_residual_variance_is_what_principal_components_leave():
    from sklearn.decomposition import PCA

    x = RNG.normal(size=(40, 7)) * np.arange(1, 8) + 5
    for directions in (0, 1, 4, 7):
        kept = PCA().fit(x).explained_variance_ratio_[:directions].sum()
        assert residual_variance(x, directions) == pytest.approx(1 - kept)
    assert residual_variance(np.ones((5, 3)), 1) == 0.0
    assert residual_variance(np.eye(4)[[0, 1, 2, 3, 0, 1]], 3) == pytest.approx(0, abs=1e-12)


def test_mean_distance_exact_and_sampled():
    x = RNG.normal(size=(60, 5))
    naive = np.mean([np.linalg.norm(a - b) for a, b in combinations(x, 2)])
    assert mean_distance(x) == pytest.approx(naive)
    sampled = mean_distance(x, seed=3, pairs=1500)
    assert sampled == pytest.approx(naive, rel=0.05)
    assert sampled == mean_distance(x, seed=3, pairs=1500)


def test_label_spread_equals_all_pairs():
    x = RNG.normal(size=(30, 4)) + 100
    y = RNG.integers(0, 3, 30)
    pairs = list(combinations(range(30), 2))
    squared = {
        same: np.mean([np.sum((x[i] - x[j]) ** 2) for i, j in pairs if (y[i] == y[j]) == same])
        for same in (True, False)
    }
    spread = label_spread(x, y)
    assert spread.within == pytest.approx(np.sqrt(squared[True]))
    assert spread.between == pytest.approx(np.sqrt(squared[False]))
    assert spread.ratio == pytest.approx(spread.within / spread.between)


def test_a_collapsed_space_is_seen():
    y = np.repeat([0, 1], 20)
    spread = label_spread(np.eye(2)[y], y)
    assert spread.within == 0 and spread.between == pytest.approx(np.sqrt(2))
    assert label_spread(np.ones((4, 3)), [0, 0, 1, 1]).ratio == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: effective_rank(np.array([[np.nan, 1.0]])),
        lambda: effective_rank(np.zeros((0, 3))),
        lambda: effective_rank(np.zeros(3)),
        lambda: mean_distance(np.ones((1, 3))),
        lambda: label_spread(np.ones((3, 2)), [0, 0, 0]),
        lambda: label_spread(np.ones((3, 2)), [0, 1, 2]),
        lambda: label_spread(np.ones((3, 2)), [0, 1]),
    ],
)
def test_bad_input_is_one_line(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
