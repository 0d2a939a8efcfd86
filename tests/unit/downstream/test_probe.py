"""Linear probes against scikit-learn, and what they do where classes are few."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from sectioncls.downstream.probe import (
    GRID,
    class_scores,
    few_shot_samples,
    few_shot_topic_samples,
    probe,
    probe_topics,
    topic_scores,
)
from sectioncls.errors import InputError
from sectioncls.records import Score

RNG = np.random.default_rng(6)
Y = RNG.integers(0, 3, 90)
X = RNG.normal(size=(90, 8)) + 0.8 * np.eye(8)[Y]
FLAGS = np.stack([Y == 0, Y == 1, RNG.random(90) < 0.3], axis=1)
LIKE = Score("", 0.0, task="class:track", encoder="none")


def test_one_class_a_paper_is_grid_search_over_a_linear_svm():
    model = GridSearchCV(LinearSVC(loss="squared_hinge", random_state=42), {"C": np.logspace(-2, 2, 5)}, cv=3)
    expected = model.fit(X[:60], Y[:60]).predict(X[60:])
    assert probe(X[:60], Y[:60], X[60:]).tolist() == expected.tolist()
    assert probe(sparse.csr_array(X[:60]), Y[:60], sparse.csr_array(X[60:])).shape == (30,)


def test_several_topics_are_one_search_each():
    model = OneVsRestClassifier(GridSearchCV(LinearSVC(max_iter=10_000, random_state=42), {"C": list(GRID)}, cv=3))
    expected = model.fit(X[:60], FLAGS[:60].astype(int)).predict(X[60:])
    assert (probe_topics(X[:60], FLAGS[:60], X[60:]) == expected).all()


def test_a_topic_that_all_or_none_bear_is_answered_so():
    flags = FLAGS.copy()
    flags[:60, 0], flags[:60, 1] = False, True
    found = probe_topics(X[:60], flags[:60], X[60:])
    assert not found[:, 0].any()
    assert found[:, 1].all()


@pytest.mark.parametrize("y", [[0, 0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2]])
def test_too_few_rows_to_cross_validate_are_learnt_with_one_c(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = probe(X[:6], y, X[6:])
    expected = LinearSVC(C=1.0, random_state=42).fit(X[:6], y).predict(X[6:])
    assert found.tolist() == expected.tolist()


def test_a_topic_with_one_paper_is_learnt():
    flags = np.zeros((60, 1), dtype=bool)
    flags[7] = True
    assert probe_topics(X[:60], flags, X[60:]).shape == (30, 1)


def test_few_shot_samples_are_the_test_folds():
    expected = [rows for _, rows in StratifiedKFold(6).split(X, Y)]
    found = list(few_shot_samples(Y, 15, 4))
    assert len(found) == 4
    assert all((one == other).all() for one, other in zip(found, expected, strict=False))
    assert len(np.unique(np.concatenate(found))) == sum(len(one) for one in found)


def test_few_shot_topic_samples_hold_each_topic():
    samples = list(few_shot_topic_samples(FLAGS, 5, 3))
    assert [sorted(one) for one in samples] == [one.tolist() for one in samples]
    assert all((FLAGS[one].sum(axis=0) >= 5).all() for one in samples)
    assert not all((one.tolist() == samples[0].tolist()) for one in samples[1:])
    assert [one.tolist() for one in few_shot_topic_samples(FLAGS, 5, 3)] == [one.tolist() for one in samples]
    (everything,) = few_shot_topic_samples(FLAGS, 90, 1)
    assert everything.tolist() == np.flatnonzero(FLAGS.any(axis=1)).tolist()


def test_class_rows_are_those_of_scikit_learn():
    found = np.where(RNG.random(90) < 0.7, Y, 0)
    macro, micro, binary = class_scores(Y, found, 5, like=LIKE, positive=1)
    assert macro.value == pytest.approx(f1_score(Y, found, average="macro"))
    assert micro.value == pytest.approx((found == Y).mean())
    assert binary.value == pytest.approx(f1_score(Y == 1, found == 1))
    assert [row.metric for row in (macro, micro, binary)] == ["f1-macro", "f1-micro", "f1-binary"]
    for row in (macro, micro, binary):
        assert (row.unit, row.n, row.task) == ("paper", 90, "class:track")
        assert row.low < row.value < row.high


def test_topic_rows_are_those_of_scikit_learn():
    found = FLAGS ^ (RNG.random(FLAGS.shape) < 0.2)
    macro, micro = topic_scores(FLAGS, found, like=LIKE)
    assert macro.value == pytest.approx(f1_score(FLAGS, found, average="macro"))
    assert micro.value == pytest.approx(f1_score(FLAGS, found, average="micro"))
    assert macro.low < macro.value < macro.high


def test_a_topic_that_is_nowhere_counts_only_if_asked():
    truth = np.column_stack([FLAGS, np.zeros(90, dtype=bool)])
    left_out, counted = (topic_scores(truth, truth, like=LIKE, absent=absent)[0].value for absent in (None, 0.0))
    assert left_out == 1
    assert counted == pytest.approx(f1_score(truth, truth, average="macro", zero_division=0))


def test_refusals():
    with pytest.raises(InputError, match="one class only"):
        probe(X[:6], [2] * 6, X)
    with pytest.raises(InputError, match="NaN or infinite"):
        probe(np.full((6, 2), np.nan), [0, 1] * 3, X)
    with pytest.raises(InputError, match="expected 6 rows of flags"):
        probe_topics(X[:6], FLAGS[:5], X)
    with pytest.raises(InputError, match="no two samples of 90"):
        list(few_shot_samples(Y, 90, 1))
    with pytest.raises(InputError, match="a class beyond 3 classes"):
        class_scores(Y, Y + 1, 3, like=LIKE)
    with pytest.raises(InputError, match="no papers to score"):
        class_scores(Y[:0], Y[:0], 3, like=LIKE)
    with pytest.raises(InputError, match=r"true topics \(90, 3\) but predicted \(90, 2\)"):
        topic_scores(FLAGS, FLAGS[:, :2], like=LIKE)
