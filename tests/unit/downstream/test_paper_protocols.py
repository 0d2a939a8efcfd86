"""Protocols of paper encoders: SciDocs's twelve numbers against the steps of its public code, and clicks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from sectioncls.downstream.protocols import PAPER_PROTOCOLS
from sectioncls.downstream.protocols.clicks import FEATURES, click_scores, clicks, rank_of_clicked, recommend
from sectioncls.downstream.protocols.scidocs import (
    SCIDOCS_METRICS,
    ClassTask,
    ClickTask,
    scidocs_average,
    scidocs_class_scores,
    scidocs_click_scores,
    scidocs_ranking_scores,
)
from sectioncls.downstream.rank import judgements
from sectioncls.errors import InputError
from sectioncls.records import Score

RNG = np.random.default_rng(12)
LIKE = Score("", 0.0, protocol="scidocs", encoder="none")
NONE = np.empty(0, dtype=np.int64)


def test_protocols_differ_where_their_papers_do():
    assert list(PAPER_PROTOCOLS) == ["default", "scidocs", "scirepeval", "scimult", "mdcr"]
    assert all(name == rules.name for name, rules in PAPER_PROTOCOLS.items())
    assert PAPER_PROTOCOLS["scimult"].own_paper == "kept"
    assert PAPER_PROTOCOLS["scidocs"].svm_grid == pytest.approx(np.logspace(-4, 2, 7))
    assert PAPER_PROTOCOLS["scirepeval"].svm_grid == pytest.approx(np.logspace(-2, 2, 5))
    assert PAPER_PROTOCOLS["scirepeval"].searched == ("ndcg",)


def test_a_paper_without_vector_is_a_zero_vector_for_the_svm():
    y = RNG.integers(0, 3, 90)
    x = RNG.normal(size=(90, 4)) + np.eye(4)[y]
    missing = np.array([3, 70])
    task = ClassTask(np.arange(60), y[:60], np.arange(60, 90), y[60:], ("a", "b", "c"))
    zeroed = x.copy()
    zeroed[missing] = 0
    model = GridSearchCV(LinearSVC(loss="squared_hinge", random_state=42), {"C": np.logspace(-4, 2, 7)}, cv=3)
    predicted = model.fit(zeroed[:60], y[:60]).predict(zeroed[60:])
    (row,) = scidocs_class_scores(x, task, like=LIKE, missing=missing)
    assert (row.metric, row.value) == ("f1-macro", pytest.approx(f1_score(y[60:], predicted, average="macro")))


def trec(vectors, names, pairs, gains, missing):
    """The run file of SciDocs's code, scored by pytrec_eval."""
    qrel, run = {}, {}
    for (q, d), gain in zip(pairs, gains, strict=True):
        qrel.setdefault(names[q], {})[names[d]] = int(gain)
        if q not in missing:
            run.setdefault(names[q], {})
            if d not in missing:
                run[names[q]][names[d]] = float(np.round(-np.linalg.norm(vectors[q] - vectors[d]), 5))
    found = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg"}).evaluate({q: r for q, r in run.items() if r})
    return {metric: np.mean([one[metric] for one in found.values()]) for metric in ("map", "ndcg")}


@pytest.mark.parametrize("missing", [[], [2], [2, 30, 31]])
def test_rankings_are_those_of_the_public_code(missing):
    names = [f"paper{number:02d}" for number in range(40)]
    vectors = np.round(RNG.normal(size=(40, 3)))  # whole numbers: many equal distances
    pairs = [(q, d) for q in range(6) for d in RNG.choice(np.arange(6, 40), 12, replace=False)]
    gains = [int(place % 12 < 4) for place in range(len(pairs))]
    judged = judgements([names[q] for q, _ in pairs], [d for _, d in pairs], gains, names)
    rows, values = scidocs_ranking_scores(vectors, judged, np.arange(6), like=LIKE, missing=np.array(missing, int))
    expected = trec(vectors, names, pairs, gains, missing)
    assert {row.metric: row.value for row in rows} == pytest.approx(expected)
    assert rows[0].n == 6 - sum(q in missing for q in range(6))
    assert values.query_ids == judged.query_ids


def some_clicks(lists, seed):
    """Lists of five in which the clicked paper tends to be the one that lies nearest."""
    rng = np.random.default_rng(seed)
    query = rng.integers(0, 20, lists)
    shown = [rng.choice(np.arange(20, 60), 5, replace=False).tolist() for _ in range(lists)]
    near = [[float(VECTORS[q] @ VECTORS[d]) for d in one] for q, one in zip(query, shown, strict=True)]
    clicked = [int(np.argmax(one)) if rng.random() < 0.8 else int(rng.integers(0, 5)) for one in near]
    return clicks(query, shown, clicked, rng.random((5 * lists, FEATURES)))


VECTORS = RNG.normal(size=(60, 8))
SPREAD = np.array([0.4, 0.25, 0.15, 0.12, 0.08])


def test_adjusted_numbers_worked_by_hand():
    part = clicks([0, 0], [[1, 2, 3], [4, 5]], [1, 0], np.zeros((5, FEATURES)))
    scores = [0.9, 0.5, 0.5, 0.7, 0.2]  # the clicked one: 1 above and 1 equal; nothing above
    assert rank_of_clicked(part, scores).tolist() == [1.5, 0]
    ndcg, first = click_scores(part, scores, [0.6, 0.3, 0.1], like=LIKE)
    weights = [1 / 0.3, 1 / 0.6]
    assert ndcg.value == pytest.approx((weights[0] / math.log2(3.5) + weights[1]) / sum(weights))
    assert first.value == pytest.approx(weights[1] / sum(weights))
    assert (ndcg.metric, first.metric, ndcg.n) == ("adj-ndcg", "adj-p@1", 2)


def test_the_recommender_learns_what_is_clicked_and_repeats():
    train, dev, test = (some_clicks(n, seed) for seed, n in enumerate((160, 30, 60)))
    scores = recommend(VECTORS, train, dev, test, SPREAD)
    assert scores.tolist() == recommend(VECTORS, train, dev, test, SPREAD).tolist()
    learnt = click_scores(test, scores, SPREAD, like=LIKE)[0].value
    chance = click_scores(test, RNG.random(len(scores)), SPREAD, like=LIKE)[0].value
    assert learnt > chance + 0.1


def test_no_vector_is_no_crash():
    train, dev, test = (some_clicks(n, seed) for seed, n in enumerate((40, 10, 10)))
    task = ClickTask(train, dev, test, SPREAD)
    rows = scidocs_click_scores(VECTORS, task, like=LIKE, missing=np.arange(0, 60, 2))
    assert [row.metric for row in rows] == ["adj-ndcg", "adj-p@1"]


def test_the_average_is_over_twelve():
    assert len(SCIDOCS_METRICS) == 12
    rows = [Score(metric, number / 12, task=f"scidocs:{task}") for number, (task, metric) in enumerate(SCIDOCS_METRICS)]
    (row,) = scidocs_average(rows, like=LIKE)
    assert (row.metric, row.task, row.n, row.unit) == ("mean", "scidocs:average", 12, "metric")
    assert row.value == pytest.approx(5.5 / 12)
    assert scidocs_average(rows[1:], like=LIKE) == []


def test_refusals():
    with pytest.raises(InputError, match="a click outside its list"):
        clicks([0], [[1, 2]], [2], np.zeros((2, FEATURES)))
    with pytest.raises(InputError, match=r"features of shape \(2, 3\)"):
        clicks([0], [[1, 2]], [0], np.zeros((2, 3)))
    with pytest.raises(InputError, match="no list shows a second paper"):
        recommend(VECTORS, *(clicks([0], [[1]], [0], np.zeros((1, FEATURES))) for _ in range(3)), SPREAD)
    part = clicks([0], [[1, 2]], [1], np.zeros((2, FEATURES)))
    with pytest.raises(InputError, match="position 2 but 1 propensities"):
        click_scores(part, [0.1, 0.2], [1.0], like=LIKE)
    with pytest.raises(InputError, match="propensities must be numbers above 0"):
        click_scores(part, [0.1, 0.2], [1.0, 0.0], like=LIKE)
    judged = judgements(["a"], [0], [1], ["x"])
    with pytest.raises(InputError, match="no query has a vector"):
        scidocs_ranking_scores(np.ones((2, 2)), judged, np.array([1]), like=LIKE, missing=np.array([1]))
    with pytest.raises(InputError, match="1 queries but 2 rows"):
        scidocs_ranking_scores(np.ones((2, 2)), judged, np.array([1, 0]), like=LIKE, missing=NONE)
