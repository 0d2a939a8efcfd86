"""Links with one hard negative, against sets."""

from __future__ import annotations

from collections import Counter

import pytest

from sectioncls.errors import InputError
from sectioncls.mining import graph_of, mine_links
from tests.unit.mining.graphs import cited_sets, colliding, random_graph, two_away


@pytest.mark.parametrize("options", [{}, {"exclude_citing": True}, {"bidirectional": True}, {"per_query": 3}])
def test_links_are_the_citations_and_negatives_are_two_away(options):
    graph = random_graph(60, 200, 2)
    triples, report = mine_links(graph, 0, **options)
    if "bidirectional" in options:
        graph = graph.undirected()
    cites = cited_sets(graph)
    pairs = list(zip(triples.query.tolist(), triples.positive.tolist(), strict=True))
    if "per_query" in options:
        assert set(pairs) <= set(map(tuple, graph.rows().tolist()))
        assert Counter(triples.query.tolist()) == {q: min(3, len(some)) for q, some in enumerate(cites) if some}
        assert len(set(pairs)) == len(pairs)
    else:
        assert pairs == list(map(tuple, graph.rows().tolist()))
    absent = 0
    for (query, _), [negative] in zip(pairs, triples.negatives.tolist(), strict=True):
        allowed = two_away(cites, query)
        if "exclude_citing" in options:
            allowed -= {paper for paper in allowed if query in cites[paper]}
        assert (negative == -1) if not allowed else (negative in allowed)
        absent += not allowed
    assert absent == report.fallbacks["pairs without hard negative"]
    assert report.collisions == colliding(*zip(*pairs, strict=True), triples.negatives.tolist())
    assert (report.queries, report.skipped) == (
        sum(map(bool, cites)),
        {"cites nothing": sum(not some for some in cites)},
    )


def test_queries_and_empty_graphs():
    assert set(mine_links(random_graph(60, 200, 2), 0, queries=[30, 50])[0].query.tolist()) <= {30, 50}
    with pytest.raises(InputError, match="no citations"):
        mine_links(graph_of([], 3), 0)
