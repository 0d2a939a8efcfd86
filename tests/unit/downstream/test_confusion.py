"""Scores of tables against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    completeness_score,
    confusion_matrix,
    f1_score,
    homogeneity_score,
    matthews_corrcoef,
    normalized_mutual_info_score,
    v_measure_score,
)

from sectioncls.downstream.confusion import (
    adjusted_mutual_information,
    adjusted_rand,
    completeness,
    f1_by_label,
    f1_macro,
    f1_micro,
    f1_weighted,
    homogeneity,
    matthews,
    purity,
    table,
    v_measure,
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
    assert f1_weighted(tables) == pytest.approx(f1_score(a, b, average="weighted"))
    assert matthews(tables) == pytest.approx(matthews_corrcoef(a, b))


@pytest.mark.parametrize("predicted", [np.zeros(9, int), np.arange(9) % 3])
def test_matthews_of_one_label_is_none(predicted):
    for a, b in ((np.zeros(9, int), predicted), (predicted, np.zeros(9, int))):
        assert matthews(table(a, b, (3, 3))) == matthews_corrcoef(a, b) == 0


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


@pytest.mark.parametrize(("a", "b"), ASSIGNMENTS)
def test_entropies_equal_scikit_learn(a, b):
    tables = table(a, b, (int(a.max()) + 1, int(b.max()) + 2))
    assert homogeneity(tables) == pytest.approx(homogeneity_score(a, b), abs=1e-9)
    assert completeness(tables) == pytest.approx(completeness_score(a, b), abs=1e-9)
    assert v_measure(tables) == pytest.approx(v_measure_score(a, b), abs=1e-9)
    assert v_measure(tables) == pytest.approx(normalized_mutual_info_score(a, b), abs=1e-9)


def test_purity_counts_the_commonest_label_of_each_cluster():
    # Clusters {0 0 1} and {1 1 2 2}: 2 + 2 of 7.
    assert purity(table([0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 1], (3, 2))) == pytest.approx(4 / 7)


def test_stacks_are_scored_one_by_one():
    stack = RNG.integers(0, 9, (6, 4, 4)).astype(float)
    everything = (f1_by_label, f1_micro, f1_macro, f1_weighted, matthews, adjusted_rand, adjusted_mutual_information)
    for statistic in (*everything, homogeneity, completeness, v_measure, purity):
        assert statistic(stack) == pytest.approx(np.array([statistic(one) for one in stack]), nan_ok=True)
