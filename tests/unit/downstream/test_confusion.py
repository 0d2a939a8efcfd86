"""Scores of tables against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, confusion_matrix, f1_score

from sectioncls.downstream.confusion import (
    adjusted_mutual_information,
    adjusted_rand,
    f1_by_label,
    f1_macro,
    f1_micro,
    table,
)

RNG = np.random.default_rng(11)


def test_table_is_the_confusion_matrix():
    a, b = RNG.integers(0, 4, 90), RNG.integers(0, 4, 90)
    assert (table(a, b, (4, 4)) == confusion_matrix(a, b)).all()


def test_f1_equals_scikit_learn_also_with_absent_labels():
    a, b = RNG.integers(0, 3, 200), RNG.integers(0, 3, 200)
    b[:5] = 4  # predicted, never true; label 3 never occurs
    tables = table(a, b, (5, 5))
    values = f1_by_label(tables)
    assert np.isnan(values[3])
    present = [0, 1, 2, 4]
    assert values[present] == pytest.approx(f1_score(a, b, average=None, labels=present))
    assert f1_micro(tables) == pytest.approx(f1_score(a, b, average="micro"))
    assert f1_macro(tables) == pytest.approx(f1_score(a, b, average="macro"))


ASSIGNMENTS = [
    (RNG.integers(0, 5, 300), RNG.integers(0, 4, 300)),
    (np.repeat([0, 1, 2], 40), np.repeat([2, 0, 1], 40)),
    (np.repeat([0, 1, 2], 40), np.repeat([0, 1], 60)),
    (np.zeros(9, int), np.zeros(9, int)),
    (np.zeros(9, int), np.arange(9)),
    (np.arange(9), np.arange(9)),
    (np.array([0]), np.array([0])),
    (np.array([0, 1]), np.array([0, 0])),
    (np.minimum(RNG.geometric(0.6, 4000), 5) - 1, np.minimum(RNG.geometric(0.1, 4000), 30) - 1),
]


@pytest.mark.parametrize(("a", "b"), ASSIGNMENTS)
def test_ari_and_ami_equal_scikit_learn(a, b):
    tables = table(a, b, (int(a.max()) + 1, int(b.max()) + 2))
    assert adjusted_rand(tables) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    assert adjusted_mutual_information(tables) == pytest.approx(adjusted_mutual_info_score(a, b), abs=1e-9)


def test_stacks_are_scored_one_by_one():
    stack = RNG.integers(0, 9, (6, 4, 4)).astype(float)
    for statistic in (f1_by_label, f1_micro, f1_macro, adjusted_rand, adjusted_mutual_information):
        assert statistic(stack) == pytest.approx(np.array([statistic(one) for one in stack]), nan_ok=True)
