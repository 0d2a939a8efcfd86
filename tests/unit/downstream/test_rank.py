"""Ranking measures against cases worked by hand and a naive loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sectioncls.downstream import rank
from sectioncls.downstream.rank import (
    QueryValues,
    judgements,
    measured_lists,
    measured_scores,
    query_scores,
    retrieval_depth,
)
from sectioncls.downstream.retrieve import hash_order
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Score

IDS = ("d0", "d1", "d2", "d3", "d4", "d5")
LIKE = Score("", float("nan"), corpus="made up", task="rank:cite", encoder="none")


def one_query(gains, scores, measures, relevant_from=1, order=None):
    judged = judgements(["q"] * len(gains), range(len(gains)), gains, IDS[: len(gains)])
    found = measured_scores(judged, scores, measures, relevant_from=relevant_from, order=order)
    return {name: float(values[0]) for name, values in found.values.items()}


def test_a_list_worked_by_hand():
    # Ranked: d1 (no), d0 (yes), d3 (no), d2 (yes): precision 1/2 and 2/4.
    found = one_query([1, 0, 1, 0], [3.0, 4.0, 1.0, 2.0], ["map", "mrr", "p@1", "p@2", "recall@2", "ndcg", "ndcg@2"])
    ideal = 1 + 1 / math.log2(3)
    assert found == pytest.approx(
        {
            "map": (1 / 2 + 2 / 4) / 2,
            "mrr": 1 / 2,
            "p@1": 0.0,
            "p@2": 1 / 2,
            "recall@2": 1 / 2,
            "ndcg": (1 / math.log2(3) + 1 / math.log2(5)) / ideal,
            "ndcg@2": (1 / math.log2(3)) / ideal,
        }
    )


def test_graded_gains_worked_by_hand():
    # Ranked: d2 (gain 1), d0 (3), d1 (0): nDCG takes the gains, MAP from 2 on only d0.
    found = one_query([3, 0, 1], [2.0, 1.0, 3.0], ["ndcg", "map", "p@1", "recall@2"], relevant_from=2)
    assert found["ndcg"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert found["map"] == pytest.approx(1 / 2)
    assert found["p@1"] == 0
    assert found["recall@2"] == 1


def test_ties_stand_in_the_order_that_is_given():
    for order, expected in (([0, 1, 2], 1.0), ([1, 0, 2], 1 / 2), ([1, 2, 0], 1 / 3)):
        assert one_query([1, 0, 0], [0.5, 0.5, 0.5], ["map"], order=np.array(order))["map"] == pytest.approx(expected)


def test_ties_stand_by_hash_and_not_by_file_order():
    names = [f"paper {number}" for number in range(40)]
    gains = [1] + [0] * 39
    judged = judgements(["q"] * 40, range(40), gains, names)
    found = measured_scores(judged, np.zeros(40), ["mrr"]).values["mrr"][0]
    assert found == pytest.approx(1 / (hash_order(names).tolist().index(0) + 1))
    turned = judgements(["q"] * 40, range(40), gains[::-1], names[::-1])
    assert measured_scores(turned, np.zeros(40), ["mrr"]).values["mrr"][0] == found


def test_a_query_without_positive_has_no_value_and_does_not_count():
    judged = judgements(["a", "a", "b", "b"], [0, 1, 0, 1], [1, 0, 0, 0], IDS)
    found = measured_scores(judged, [1.0, 2.0, 1.0, 2.0], ["map", "ndcg"])
    assert found.values["map"][0] == 0.5
    assert np.isnan(found.values["map"][1])
    assert found.undefined("map") == 1
    assert next((row.value, row.n) for row in query_scores(found, like=LIKE)) == (0.5, 1)


def test_a_grade_may_answer_for_ndcg_and_not_for_map():
    judged = judgements(["a", "a"], [0, 1], [1, 0], IDS)
    found = measured_scores(judged, [2.0, 1.0], ["map", "ndcg"], relevant_from=2)
    assert np.isnan(found.values["map"][0])
    assert found.values["ndcg"][0] == 1


def naive(gains, ranked, k, bound):
    """Average precision, nDCG@k, precision@k, recall@k of one list, by loops."""
    total = sum(gain >= bound for gain in gains.values())
    hits, precision = 0, 0.0
    for place, document in enumerate(ranked, 1):
        if gains.get(document, 0) >= bound:
            hits += 1
            precision += hits / place
    gained = sum(gains.get(d, 0) / math.log2(place + 1) for place, d in enumerate(ranked[:k], 1))
    ideal = sum(g / math.log2(place + 1) for place, g in enumerate(sorted(gains.values(), reverse=True)[:k], 1))
    top = sum(gains.get(document, 0) >= bound for document in ranked[:k])
    return precision / total, gained / ideal, top / k, top / total


@pytest.mark.parametrize("bound", [1, 2])
def test_many_lists_equal_a_naive_loop(bound, monkeypatch):
    monkeypatch.setattr(rank, "QUERIES", 7)
    rng = np.random.default_rng(bound)
    documents, queries = 30, 20
    pairs = [(q, d) for q in range(queries) for d in rng.choice(documents, 12, replace=False)]
    rng.shuffle(pairs)
    gains = rng.integers(0, 4, len(pairs))
    for q in range(queries):
        gains[next(place for place, pair in enumerate(pairs) if pair[0] == q)] = 3
    names = [f"d{row}" for row in range(documents)]
    judged = judgements([f"q{q}" for q, _ in pairs], [d for _, d in pairs], gains, names)
    of = {q: {int(d): int(g) for (p, d), g in zip(pairs, gains, strict=True) if p == q} for q in range(queries)}
    scores = rng.normal(size=len(pairs))
    measures = ["map", "ndcg@5", "p@5", "recall@5"]
    found = measured_scores(judged, scores, measures, relevant_from=bound)
    lists = np.array([rng.permutation(documents)[:20] for _ in range(queries)])
    retrieved = measured_lists(judged, lists, measures, relevant_from=bound)
    for row, name in enumerate(judged.query_ids):
        q = int(name[1:])
        mine = {int(d): s for (p, d), s in zip(pairs, scores, strict=True) if p == q}
        ranked = sorted(mine, key=lambda d: -mine[d])
        assert [found.values[m][row] for m in measures] == pytest.approx(naive(of[q], ranked, 5, bound))
        listed = naive(of[q], lists[row].tolist(), 5, bound)
        assert [retrieved.values[m][row] for m in measures] == pytest.approx(listed)


def test_short_lists_end_with_minus_one():
    judged = judgements(["a", "b"], [0, 1], [1, 1], IDS)
    found = measured_lists(judged, [[2, 0, -1], [-1, -1, -1]], ["map", "recall@3"])
    assert found.values["map"].tolist() == [0.5, 0.0]
    assert found.values["recall@3"].tolist() == [1.0, 0.0]


def test_a_pair_judged_twice_has_its_highest_gain_and_is_counted():
    judged = judgements(["a", "a", "a"], [0, 0, 1], [1, 3, 0], IDS)
    assert (judged.gain.tolist(), judged.document.tolist(), judged.repeated) == ([3, 0], [0, 1], 1)


def test_left_out_queries_and_documents():
    judged = judgements(["a", "a", "b"], [0, 1, 0], [1, 0, 1], IDS)
    left = judged.without([1], [1])
    assert (left.query.tolist(), left.document.tolist()) == ([0], [0])
    found = measured_scores(left, [1.0], ["map"])
    assert found.values["map"][0] == 1
    assert np.isnan(found.values["map"][1])


def test_score_rows_have_mean_interval_and_unit():
    values = QueryValues(tuple("abcdefgh"), {"map": np.array([0, 1, 0, 1, 1, 1, 0, np.nan]), "p@1": np.full(8, np.nan)})
    (row,) = query_scores(values, like=LIKE, unit="paper")
    assert (row.metric, row.n, row.unit, row.corpus) == ("map", 7, "paper", "made up")
    assert row.value == pytest.approx(4 / 7)
    assert row.low < row.value < row.high
    assert query_scores(values, like=LIKE, unit="paper") == [row]


def test_lists_are_as_long_as_measures_need():
    assert retrieval_depth(["map", "recall@100"], 50_000) == 1000
    assert retrieval_depth(["recall@2000"], 50_000) == 2000
    assert retrieval_depth(["map"], 30) == 30


def test_refusals():
    judged = judgements(["a", "a"], [0, 1], [1, 0], IDS)
    with pytest.raises(UsageError, match="no measure 'f1'"):
        measured_scores(judged, [1.0, 2.0], ["f1"])
    with pytest.raises(UsageError, match="no measure 'p'"):
        measured_scores(judged, [1.0, 2.0], ["p"])
    with pytest.raises(InputError, match="2 judgements but scores of shape"):
        measured_scores(judged, [1.0], ["map"])
    with pytest.raises(InputError, match="1 scores are not numbers"):
        measured_scores(judged, [1.0, float("nan")], ["map"])
    with pytest.raises(InputError, match=r"a gain of 0\.5"):
        judgements(["a"], [0], [0.5], IDS)
    with pytest.raises(InputError, match="a gain of -1"):
        judgements(["a"], [0], [-1], IDS)
    with pytest.raises(InputError, match="beyond 6 documents"):
        judgements(["a"], [6], [1], IDS)
    with pytest.raises(InputError, match="no document is judged"):
        judgements([], [], [], IDS)
    with pytest.raises(InputError, match="1 queries but lists of shape"):
        measured_lists(judged, [0, 1], ["map"])
