"""Search triples against a loop over judgements."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.mining import mine_clicks


def judgements(seed):
    random = np.random.default_rng(seed)
    query, paper = random.integers(0, 12, 150), random.integers(0, 40, 150)
    return query, paper, random.integers(-1, 3, 150) * (query != 3) - (query == 4) * 3


def by_query(query, paper, score):
    best = {}
    for q, p, s in zip(query.tolist(), paper.tolist(), score.tolist(), strict=True):
        best[q, p] = max(s, best.get((q, p), -9))
    queries = sorted(set(query.tolist()))
    return {
        q: tuple(sorted(p for (r, p), s in best.items() if r == q and (s > 0) == good) for good in (True, False))
        for q in queries
    }


@pytest.mark.parametrize("seed", range(3))
def test_one_negative_a_relevant_paper(seed):
    columns = judgements(seed)
    judged = by_query(*columns)
    triples, report = mine_clicks(*columns, seed)
    wanted = [(q, p) for q, (good, _) in judged.items() for p in good]
    assert list(zip(triples.query.tolist(), triples.positive.tolist(), strict=True)) == wanted
    for query, [negative] in zip(triples.query.tolist(), triples.negatives.tolist(), strict=True):
        assert (negative in judged[query][1]) if judged[query][1] else negative == -1
    assert report.skipped == {"no relevant paper": sum(not good for good, _ in judged.values())}
    assert report.skipped["no relevant paper"] >= 2
    assert report.fallbacks["repeated judgements"] == 150 - sum(len(good) + len(bad) for good, bad in judged.values())
    assert report.queries == sum(bool(good) for good, _ in judged.values())


@pytest.mark.parametrize("per_query", [1, 5])
def test_up_to_five_a_query(per_query):
    columns = judgements(7)
    judged = by_query(*columns)
    triples, report = mine_clicks(*columns, 0, per_query=per_query)
    sizes = Counter(triples.query.tolist())
    assert sizes == {q: min(per_query, len(bad)) for q, (good, bad) in judged.items() if good and bad}
    for query, (good, bad) in judged.items():
        mine = triples.take(triples.query == query)
        assert set(mine.positive.tolist()) <= set(good)
        assert len(set(mine.positive.tolist())) == min(len(mine), len(good))
        assert set(mine.negatives[:, 0].tolist()) <= set(bad)
        assert len(set(mine.negatives[:, 0].tolist())) == len(mine)
    assert report.skipped["no paper judged not relevant"] == sum(
        bool(good) and not bad for good, bad in judged.values()
    )


def test_queries_without_negatives_and_without_positives():
    triples, report = mine_clicks([0, 1, 2, 2], [5, 6, 7, 8], [1, 0, 2, 0], 0)
    assert (triples.query.tolist(), triples.positive.tolist()) == ([0, 2], [5, 7])
    assert triples.negatives.tolist() == [[-1], [8]]
    assert report.fallbacks == {"pairs without hard negative": 1, "repeated judgements": 0}
    assert report.skipped == {"no relevant paper": 1}
    assert len(mine_clicks([], [], [], 0)[0]) == 0
    with pytest.raises(InputError):
        mine_clicks([0], [1, 2], [1], 0)


def test_negatives_are_drawn_evenly():
    counts = Counter(
        int(mine_clicks([0] * 4, [1, 2, 3, 4], [1, 0, 0, 0], seed)[0].negatives[0, 0]) for seed in range(900)
    )
    assert all(abs(counts[paper] / 900 - 1 / 3) < 0.07 for paper in (2, 3, 4))
