"""SPECTER's triples against sets: who may be drawn, how evenly, what is counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import SPECTER2_EASY, graph_of, mine_citations
from tests.unit.mining.graphs import cited_sets, colliding, random_graph, two_away


def neighbours(graph, bidirectional):
    cites = cited_sets(graph)
    if bidirectional:
        for source, target in graph.rows().tolist():
            cites[target].add(source)
    return cites


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [{}, {"exclude_citing": True}, {"bidirectional": True}])
def test_every_triple_is_allowed_and_every_fallback_counted(seed, options):
    graph = random_graph(60, 220, seed)
    triples, report = mine_citations(graph, seed, **options)
    cites = neighbours(graph, "bidirectional" in options)
    citing = [{p for p in range(60) if q in cites[p]} for q in range(60)]
    barred = [citing[q] if options else set() for q in range(60)]
    rows = {}
    for query, positive, negative in zip(
        triples.query.tolist(), triples.positive.tolist(), triples.negatives[:, 0].tolist(), strict=True
    ):
        rows.setdefault(query, []).append((positive, negative))
    assert sorted(rows) == [q for q in range(60) if cites[q]]
    random_hard = again = 0
    for query, five in rows.items():
        assert len(five) == 5
        positives, negatives = zip(*five, strict=True)
        assert set(positives) <= cites[query]
        assert len(set(positives)) == min(5, len(cites[query]))
        again += 5 - len(set(positives))
        assert len(set(negatives)) == 5
        assert not set(negatives) & (cites[query] | {query} | barred[query])
        hard = two_away(cites, query) - barred[query]
        assert len(set(negatives[3:]) & hard) >= min(2, len(hard))
        random_hard += max(0, 2 - len(hard))
    assert report.fallbacks["hard negatives that are random"] == random_hard
    assert report.fallbacks["positives drawn again"] == again
    assert report.skipped == {"cites nothing": 60 - len(rows)}
    assert (report.triples, report.queries) == (len(triples), len(rows))
    lists = triples.query.tolist(), triples.positive.tolist(), triples.negatives.tolist()
    assert report.collisions == colliding(*lists)
    assert report.linked == sum(q in cites[n] for q, [n] in zip(lists[0], lists[2], strict=True))
    if options:
        assert (report.collisions, report.linked) == (0, 0)


def test_draws_are_even():
    """0 cites 1 … 4; these cite 5 … 8, and 5 on many paths; 9 … 11 are only random."""
    edges = [[0, p] for p in (1, 2, 3, 4)] + [[p, 5] for p in (1, 2, 3, 4)] + [[1, 6], [2, 7], [3, 8], [4, 2]]
    graph = graph_of(edges, 12)
    positives, easy, hard = Counter(), Counter(), Counter()
    for seed in range(1500):
        triples, _ = mine_citations(graph, seed, queries=[0])
        positives[triples.positive[0]] += 1
        easy.update(triples.negatives[:3, 0].tolist())
        hard.update(triples.negatives[3:, 0].tolist())
    assert set(positives) == {1, 2, 3, 4}
    assert set(hard) == {5, 6, 7, 8}
    assert set(easy) == {5, 6, 7, 8, 9, 10, 11}
    assert all(abs(count / 1500 - 1 / 4) < 0.06 for count in positives.values())
    assert all(abs(count / 3000 - 1 / 4) < 0.045 for count in hard.values())
    # Two of the four hard ones are in the row already, so an easy one is 9, 10 or 11 three times in five.
    assert all(abs(easy[p] / 4500 - 1 / 5) < 0.04 for p in (9, 10, 11))


def test_seed_queries_and_pool():
    graph = random_graph(60, 220, 1)
    one, two, three = (mine_citations(graph, seed)[0] for seed in (1, 1, 2))
    assert (one.negatives == two.negatives).all()
    assert (one.positive == two.positive).all()
    assert (one.negatives != three.negatives).any()
    triples, report = mine_citations(graph, 1, queries=[59, 20, 59, 0], pool=np.arange(40, 60))
    assert set(triples.query.tolist()) <= {0, 20, 59}
    assert report.skipped["cites nothing"] == 3 - report.queries
    assert (triples.negatives.reshape(-1, 5)[:, :3] >= 40).all()


def test_a_query_without_any_negative_loses_its_triples():
    graph = graph_of([[0, 1], [0, 2], [1, 2]], 3)
    triples, report = mine_citations(graph, 0)
    assert report.fallbacks["triples without negative"] == 9  # 0 has none; 1 has only 0, once
    assert triples.query.tolist() == [1]
    assert triples.negatives.tolist() == [[0]]
    assert (report.queries, report.triples) == (1, 1)


def test_a_paper_that_nobody_cites_is_a_query_and_a_negative_only():
    triples, _ = mine_citations(random_graph(60, 220, 2), 0)
    graph = random_graph(60, 220, 2)
    alone = np.flatnonzero(graph.citing == 0)
    assert not np.isin(triples.positive, alone).any()
    assert np.isin(triples.query, alone).any()


def test_negatives_by_field():
    random = np.random.default_rng(0)
    fields = [tuple(random.choice(["a", "b", "c", "d"], random.integers(0, 3), replace=False)) for _ in range(120)]
    graph = random_graph(120, 300, 0)
    triples, report = mine_citations(graph, 0, easy=SPECTER2_EASY, fields=fields)
    sets, cites = list(map(set, fields)), cited_sets(graph)
    wanted = Counter()
    for query, eight in zip(triples.query[::8].tolist(), triples.negatives.reshape(-1, 8).tolist(), strict=True):
        assert len(set(eight)) == 8
        allowed = [p for p in range(120) if p != query and p not in cites[query] and p not in eight[6:] and sets[p]]
        mine = sets[query]
        kinds = {
            "other-field": {p for p in allowed if mine and not sets[p] & mine},
            "overlapping-field": {p for p in allowed if sets[p] & mine and sets[p] != mine},
            "same-field": {p for p in allowed if mine and sets[p] == mine},
        }
        for columns, (kind, some) in zip((eight[:2], eight[2:4], eight[4:6]), kinds.items(), strict=True):
            assert len(set(columns) & some) >= min(2, len(some))
            wanted[f"{kind} negatives that are random"] += max(0, 2 - len(some))
    assert {name: report.fallbacks[name] for name in wanted} == dict(wanted)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"easy": (), "hard": 0}, UsageError, "no triple"),
        ({"easy": ("far",)}, UsageError, "'far'"),
        ({"easy": ("same-field",)}, UsageError, "fields"),
        ({"fields": [()]}, InputError, "fields of 1 papers"),
        ({"queries": [7]}, InputError, "row 7 of 3"),
    ],
)
def test_wrong_options_are_one_line(options, error, words):
    with pytest.raises(error) as caught:
        mine_citations(graph_of([[0, 1]], 3), 0, **options)
    assert words in str(caught.value)


def test_a_graph_without_edges():
    with pytest.raises(InputError, match="no citations"):
        mine_citations(graph_of([], 3), 0)
