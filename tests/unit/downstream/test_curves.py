"""Learning curves, few-shot scores and precision against recall."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve

from sectioncls.downstream import PROTOCOLS, few_shot, learning_curve, precision_recall
from sectioncls.downstream.curves import learning_sizes
from sectioncls.downstream.sampling import rows_per_label, stratified_rows
from sectioncls.errors import InputError

RNG = np.random.default_rng(5)
Y, TEST_Y = RNG.integers(0, 3, 400), RNG.integers(0, 3, 150)
CENTRES = RNG.normal(size=(3, 6))
X, TEST_X = (CENTRES[y] + RNG.normal(size=(len(y), 6)) for y in (Y, TEST_Y))
DEFAULT = PROTOCOLS["default"]


def plain(rows):
    predicted = LogisticRegression(max_iter=1000).fit(X[rows], Y[rows]).predict(TEST_X)
    return tuple(pytest.approx(f1_score(TEST_Y, predicted, average=kind)) for kind in ("micro", "macro"))


def test_sizes_double_up_to_all():
    assert learning_sizes(400, 3) == (30, 60, 120, 240, 400)
    assert learning_sizes(20, 3) == (20,)


def test_a_learning_curve_is_scikit_learn_on_stratified_rows():
    points = learning_curve((X, Y), (TEST_X, TEST_Y), protocol=DEFAULT, sizes=(30, 400), repeats=2, seed=9)
    assert [(p.asked, p.repeat) for p in points] == [(30, 0), (30, 1), (400, 0)]
    for point in points:
        rows = stratified_rows(Y, point.asked, seed=9 + point.repeat)
        assert point.rows == len(rows)
        assert (point.f1_micro, point.f1_macro) == plain(rows)


def test_few_shots_are_scikit_learn_on_rows_of_each_label():
    points = few_shot((X, Y), (TEST_X, TEST_Y), protocol=PROTOCOLS["tuned"], per_label=(4, 9999), repeats=2)
    assert [(p.asked, p.rows) for p in points] == [(4, 12)] * 2 + [(9999, 400)] * 2
    assert (points[1].f1_micro, points[1].f1_macro) == plain(rows_per_label(Y, 4, seed=1))


def test_a_test_label_that_is_not_learnt_counts_as_wrong():
    points = few_shot((X[Y < 2], Y[Y < 2]), (TEST_X, TEST_Y), protocol=DEFAULT, per_label=(8,), repeats=1)
    assert points[0].f1_micro < (TEST_Y < 2).mean() + 1e-9


def test_one_label_is_nothing_to_learn():
    with pytest.raises(InputError, match="one label only"):
        few_shot((X[Y == 1], Y[Y == 1]), (TEST_X, TEST_Y), protocol=DEFAULT)


def test_precision_recall_are_points_of_scikit_learns_curve():
    chances = RNG.dirichlet(np.ones(4), 300)
    truth = RNG.integers(0, 3, 300) * 2  # ids 0 2 4; the column of 9 has no row
    curves = precision_recall(chances, truth, [0, 2, 4, 9], points=40)
    assert [curve.label for curve in curves] == [0, 2, 4]
    for column, curve in enumerate(curves):
        right = truth == curve.label
        precision, recall, threshold = precision_recall_curve(right, chances[:, column])
        assert curve.average_precision == pytest.approx(average_precision_score(right, chances[:, column]))
        known = {tuple(point) for point in zip(precision[:-1], recall[:-1], threshold, strict=True)}
        points = list(zip(curve.precision, curve.recall, curve.threshold, strict=True))
        assert set(points) <= known and len(points) <= 41
        assert curve.recall[0] == 1 and curve.recall[-1] < 0.06
        assert curve.n == right.sum()
