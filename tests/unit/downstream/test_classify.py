"""The classifiers against plain scikit-learn, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sectioncls.downstream import CLASSIFIERS, FIXED, PROTOCOLS, classify, fit_classifier
from sectioncls.downstream.classify import PROBABILISTIC
from sectioncls.downstream.protocols import length_order
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(3, 8))
TRAIN_Y, TEST_Y = RNG.integers(0, 3, 120), RNG.integers(0, 3, 60)
TRAIN_X = (CENTRES[TRAIN_Y] + RNG.normal(size=(120, 8))).astype(np.float32)
TEST_X = (CENTRES[TEST_Y] + RNG.normal(size=(60, 8))).astype(np.float32)
LENGTHS = RNG.integers(5, 30, 120).tolist()
PAPER, DEFAULT, TUNED = PROTOCOLS["paper"], PROTOCOLS["default"], PROTOCOLS["tuned"]
DEV = (TEST_X[:30], TEST_Y[:30])

PLAIN = {
    "decision-tree": DecisionTreeClassifier(random_state=31415),
    "knn": KNeighborsClassifier(11, weights="distance"),
    "random-forest": RandomForestClassifier(random_state=31415),
    "mlp": MLPClassifier(random_state=31415),
    "svm": SVC(random_state=31415),
}
PLAIN_MORE = {
    "logistic-regression": LogisticRegression(max_iter=1000),
    "linear-svm": LinearSVC(random_state=0),
    "nearest-centroid": NearestCentroid(),
    "gradient-boosting": HistGradientBoostingClassifier(random_state=0, early_stopping=False),
}


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("method", PLAIN)
def test_paper_is_scikit_learn_on_rows_sorted_by_length(method):
    found = classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=PAPER, train_lengths=LENGTHS)
    order = length_order(LENGTHS)
    plain = PLAIN[method].fit(TRAIN_X[order], TRAIN_Y[order]).predict(TEST_X)
    assert found.dtype == np.int64
    assert (found == plain).mean() == 1.0


@pytest.mark.parametrize("method", PLAIN_MORE)
def test_the_four_others_are_scikit_learn_too(method):
    found = classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=DEFAULT)
    assert (found == PLAIN_MORE[method].fit(TRAIN_X, TRAIN_Y).predict(TEST_X)).all()
    with pytest.raises(UsageError, match="in the protocol paper"):
        classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=PAPER, train_lengths=LENGTHS)


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_probabilities_are_those_of_the_model_that_predicts(method):
    model = fit_classifier(TRAIN_X, TRAIN_Y * 2 + 1, method=method, protocol=DEFAULT)
    chances = model.probabilities(TEST_X)
    assert (chances is None) == (method not in PROBABILISTIC)
    if chances is not None:
        assert chances.sum(1) == pytest.approx(1)
        assert model.classes.tolist() == [1, 3, 5]
        assert (model.classes[chances.argmax(1)] == model.predict(TEST_X)).mean() > 0.95  # ties may fall otherwise


@pytest.mark.parametrize("method", sorted(FIXED))
def test_methods_without_chance_know_no_seed(method):
    one, other = (
        classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=replace(DEFAULT, seed=seed)) for seed in (0, 77)
    )
    assert (one == other).all()


def test_tuned_takes_the_best_of_its_grid_on_dev():
    values = {}
    for c in TUNED.grids["linear-svm"]["C"]:
        for scaled in (False, True):
            scaler = StandardScaler().fit(TRAIN_X)
            learn, seen = (scaler.transform(x) if scaled else x for x in (TRAIN_X, DEV[0]))
            plain = LinearSVC(C=c, random_state=0, max_iter=5000).fit(learn, TRAIN_Y).predict(seen)
            values[c, scaled] = f1_score(DEV[1], plain, average="macro")
    best = max(values, key=values.get)
    model = fit_classifier(TRAIN_X, TRAIN_Y, method="linear-svm", protocol=TUNED, dev=DEV)
    assert (model.settings["C"], model.settings["scaled"]) == best


@pytest.mark.parametrize("method", ["knn", "logistic-regression", "nearest-centroid", "svm"])
def test_tuned_learns_and_needs_dev(method):
    found = classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=TUNED, dev=DEV)
    assert (found == TEST_Y).mean() > 0.6
    with pytest.raises(UsageError, match="chooses its settings on dev"):
        classify(TRAIN_X, TRAIN_Y, TEST_X, method=method, protocol=TUNED)


def test_tuned_has_nothing_to_choose_among_equal_rows():
    same = np.ones((12, 3))
    model = fit_classifier(same, np.arange(12) % 2, method="svm", protocol=TUNED, dev=(same[:4], np.arange(4) % 2))
    assert model.settings == {}


def test_more_neighbours_than_rows_are_as_many_as_there_are():
    rules = replace(DEFAULT, classifiers={"knn": {"n_neighbors": 50}})
    found = classify(TRAIN_X[:6], TRAIN_Y[:6], TEST_X, method="knn", protocol=rules)
    assert (found == KNeighborsClassifier(6, weights="distance").fit(TRAIN_X[:6], TRAIN_Y[:6]).predict(TEST_X)).all()


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
