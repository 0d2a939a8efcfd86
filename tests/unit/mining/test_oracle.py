"""Oracle triples against loops over the judgements: what they hold, balance, even draws."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import Triples, mine_classes, mine_judged, mine_oracle

JUDGED = [(0, 5, 1), (0, 6, 0), (0, 7, 2), (0, 0, 1), (1, 5, 1), (1, 1, 0), (2, 3, 0), (3, 8, 1), (3, 6, 0), (3, 5, 0)]


def test_judged_pairs_with_one_that_was_judged_zero():
    query, paper, score = np.array(JUDGED).T
    triples = mine_judged(query, paper, score, 4)
    zero = {(q, p) for q, p, s in JUDGED if s <= 0 and q != p}
    wanted = [(q, p) for q, p, s in JUDGED if s > 0 and q != p and any(q == asked for asked, _ in zero)]
    assert (
        list(zip(triples.query.tolist(), triples.positive.tolist(), strict=True)) == wanted == [(0, 5), (0, 7), (3, 8)]
    )
    for q, n in zip(triples.query.tolist(), triples.negatives[:, 0].tolist(), strict=True):
        assert (q, n) in zero


def test_negatives_are_drawn_evenly():
    query, paper, score = np.array(JUDGED).T
    drawn = [int(mine_judged(query, paper, score, seed).negatives[-1, 0]) for seed in range(400)]
    assert {6, 5} == set(drawn) and abs(drawn.count(6) / 400 - 0.5) < 0.1


def test_classes_draw_one_of_the_same_and_one_of_another():
    papers = np.array([9, 3, 4, 7, 12, 5])
    labels = np.array([1, 0, 1, 2, 1, 0])  # 7 is alone in its class
    of = dict(zip(papers.tolist(), labels.tolist(), strict=True))
    seen: dict[int, set[tuple[int, int]]] = {}
    for seed in range(300):
        triples = mine_classes(papers, labels, seed)
        assert sorted(triples.query.tolist()) == [3, 4, 5, 9, 12]
        for q, p, n in zip(
            triples.query.tolist(), triples.positive.tolist(), triples.negatives[:, 0].tolist(), strict=True
        ):
            assert q != p and of[q] == of[p] != of[n]
            seen.setdefault(q, set()).add((p, n))
    for q, pairs in seen.items():  # every allowed pair comes
        same = sum(of[p] == of[q] for p in of) - 1
        other = sum(of[n] != of[q] for n in of)
        assert len(pairs) == same * other
    assert len(mine_classes(papers, np.zeros(6), 0)) == 0


def test_tasks_are_balanced_and_one_seed_is_one_result():
    a = Triples(np.arange(8), np.arange(8) + 1, np.arange(8)[:, None] + 2)
    b = Triples(np.arange(3) + 20, np.arange(3) + 30, np.arange(3)[:, None] + 40)
    triples, report = mine_oracle({"a": a, "b": b}, 5, 60)
    assert report.triples == len(triples) == 6 and report.figures == {"triples of a": 3.0, "triples of b": 3.0}
    assert (triples.query < 20).sum() == 3 and len(set(triples.query.tolist())) == 6
    again, _ = mine_oracle({"a": a, "b": b}, 5, 60)
    assert np.array_equal(triples.query, again.query)
    assert len(mine_oracle({"a": a, "b": b}, 5, 60, each=2)[0]) == 4
    with pytest.raises(InputError, match="no triples of c"):
        mine_oracle({"a": a, "c": a.take(np.arange(0))}, 5, 60)
    with pytest.raises(UsageError, match="0 triples a task"):
        mine_oracle({"a": a}, 5, 60, each=0)
