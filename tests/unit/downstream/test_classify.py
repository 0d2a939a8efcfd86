"""The five classifiers against plain scikit-learn, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sectioncls.downstream import CLASSIFIERS, PROTOCOLS, classify
from sectioncls.downstream.protocols import length_order
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(3, 8))
TRAIN_Y, TEST_Y = RNG.integers(0, 3, 120), RNG.integers(0, 3, 60)
TRAIN_X = (CENTRES[TRAIN_Y] + RNG.normal(size=(120, 8))).astype(np.float32)
TEST_X = (CENTRES[TEST_Y] + RNG.normal(size=(60, 8))).astype(np.float32)
LENGTHS = RNG.integers(5, 30, 120).tolist()
PAPER, DEFAULT = PROTOCOLS["paper"], PROTOCOLS["default"]

PLAIN = {
    "decision-tree": DecisionTreeClassifier(random_state=31415),
    "knn": KNeighborsClassifier(11, weights="distance"),
    "random-forest": RandomForestClassifier(random_state=31415),
    "mlp": MLPClassifier(random_state=31415),
    "svm": SVC(random_state=31415),
}


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("method", CLASSIFIERS)
def test_paper_is_scikit_learn_on_rows_sorted_by_length(method):
    found = classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=PAPER, train_lengths=LENGTHS)
    order = length_order(LENGTHS)
    plain = PLAIN[method].fit(TRAIN_X[order], TRAIN_Y[order]).predict(TEST_X)
    assert found.dtype == np.int64
    assert (found == plain).mean() == 1.0


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_default_learns_and_gives_the_same_bytes_twice(method):
    found = classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=DEFAULT)
    assert (found == TEST_Y).mean() > 0.6
    again = classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=DEFAULT)
    assert found.tobytes() == again.tobytes()


def test_predictions_follow_the_test_rows():
    found = classify(TRAIN_X, TRAIN_Y, TEST_X, method="knn", protocol=PAPER, train_lengths=LENGTHS)
    turned = classify(TRAIN_X, TRAIN_Y, TEST_X[::-1], method="knn", protocol=PAPER, train_lengths=LENGTHS)
    assert (found == turned[::-1]).all()


def test_class_ids_need_not_be_dense():
    found = classify(TRAIN_X, TRAIN_Y * 2 + 1, TEST_X, method="svm", protocol=DEFAULT)
    assert set(found.tolist()) <= {1, 3, 5}


def test_a_training_label_with_one_sentence_is_no_obstacle():
    y = np.zeros(120, int)
    y[0], y[1:40] = 2, 1
    for method in CLASSIFIERS:
        assert len(classify(TRAIN_X, y, TEST_X, method=method, protocol=DEFAULT)) == 60


@pytest.mark.parametrize("x", [TRAIN_X[:2], TRAIN_X[:3]])
def test_very_few_rows(x):
    for method in CLASSIFIERS:
        assert len(classify(x, np.arange(len(x)), TEST_X, method=method, protocol=DEFAULT)) == 60


BROKEN = TRAIN_X.copy()
BROKEN[7, 3] = np.nan


@pytest.mark.parametrize(
    ("x", "y", "seen", "says"),
    [
        (BROKEN, TRAIN_Y, TEST_X, "train embeddings: 1 of 120 rows hold NaN or infinite values"),
        (TRAIN_X, TRAIN_Y, BROKEN, "test embeddings"),
        (TRAIN_X, np.zeros(120, int), TEST_X, "one label only"),
        (TRAIN_X, TRAIN_Y[:-1], TEST_X, "expected 120 ids"),
        (TRAIN_X, TRAIN_Y, TEST_X[:, :5], "8 dimensions, test rows 5"),
        (TRAIN_X[:0], TRAIN_Y[:0], TEST_X, "shape (0, 8)"),
        (TRAIN_X, TRAIN_Y, TEST_X[:0], "shape (0, 8)"),
    ],
)
def test_bad_input_is_one_line(x, y, seen, says):
    with pytest.raises(InputError) as caught:
        classify(x, y, seen, method="knn", protocol=DEFAULT)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_names_are_refused():
    with pytest.raises(UsageError, match="decision-tree, knn"):
        classify(TRAIN_X, TRAIN_Y, TEST_X, method="oracle", protocol=DEFAULT)
    with pytest.raises(UsageError):
        classify(TRAIN_X, TRAIN_Y, TEST_X, method="svm", protocol=replace(DEFAULT, classifiers={}))
