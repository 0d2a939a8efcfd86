"""Topics that a paper lacks but a paper close by has, against sets; and how evenly they are drawn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.mining import graph_of, mine_topics
from tests.unit.mining.graphs import cited_sets, random_graph


def test_negatives_are_topics_of_papers_close_by():
    random = np.random.default_rng(0)
    graph = random_graph(50, 60, 0)
    pairs = np.stack((random.integers(0, 50, 110), random.integers(0, 14, 110)), axis=1)
    authors = [tuple(random.choice(list("abcdefghijklmnop"), random.integers(0, 3), replace=False)) for _ in range(50)]
    venues = [str(random.choice(["", "v", "w", "x", "y", "z"])) for _ in range(50)]
    topics = [set(pairs[pairs[:, 0] == paper, 1].tolist()) for paper in range(50)]
    cites = cited_sets(graph)
    close = [
        {
            "cited papers": cites[paper],
            "shared authors": {p for p in range(50) if set(authors[p]) & set(authors[paper])},
            "shared venue": {p for p in range(50) if venues[paper] and venues[p] == venues[paper]},
        }
        for paper in range(50)
    ]
    for ways in (
        ("cited papers",),
        ("cited papers", "shared authors"),
        ("cited papers", "shared authors", "shared venue"),
    ):
        triples, report = mine_topics(
            graph, pairs, 14, 3, authors=authors if len(ways) > 1 else None, venues=venues if len(ways) > 2 else None
        )
        assert list(zip(triples.query.tolist(), triples.positive.tolist(), strict=True)) == sorted(
            set(map(tuple, pairs.tolist()))
        )
        absent = 0
        for paper, [negative] in zip(triples.query.tolist(), triples.negatives.tolist(), strict=True):
            near = set().union(*(close[paper][way] for way in ways))
            allowed = set().union(*(topics[p] for p in near)) - topics[paper] if near else set()
            assert (negative == -1) if not allowed else (negative in allowed)
            absent += not allowed
        assert absent > 0
        assert report.fallbacks == {"pairs without hard negative": absent}
        assert tuple(report.figures) == ways
        assert sum(report.figures.values()) == len(triples) - absent
        assert report.queries == len(set(pairs[:, 0].tolist()))


def test_ways_are_even_and_topics_as_frequent_as_they_are():
    """0 cites 1 (topic 1) and shares its venue with 2 … 5, of which three have topic 2 and one topic 3."""
    pairs = [[0, 0], [1, 1], [2, 2], [3, 2], [4, 2], [5, 3], [5, 0]]
    venues = ["v", "", "v", "v", "v", "v"]
    counts = Counter()
    for seed in range(1200):
        triples, _ = mine_topics(graph_of([[0, 1]], 6), pairs, 4, seed, venues=venues)
        counts[int(triples.negatives[triples.query == 0][0, 0])] += 1
    assert set(counts) == {1, 2, 3}
    for topic, share in ((1, 1 / 2), (2, 3 / 8), (3, 1 / 8)):
        assert abs(counts[topic] / 1200 - share) < 0.06


def test_an_author_named_twice_counts_once_and_seeds_decide():
    pairs = [[0, 0], [1, 1], [2, 2]]
    authors = [["a", "a", "b"], ["a"], ["b"]]
    counts = Counter(
        int(mine_topics(graph_of([], 3), pairs, 3, seed, authors=authors)[0].negatives[0, 0]) for seed in range(600)
    )
    assert abs(counts[1] / 600 - 1 / 2) < 0.09
    one, two = (mine_topics(graph_of([], 3), pairs, 3, 5, authors=authors)[0] for _ in range(2))
    assert (one.negatives == two.negatives).all()


def test_nothing_to_offer_and_wrong_input():
    triples, report = mine_topics(graph_of([], 2), [[0, 0], [1, 1]], 2, 0)
    assert triples.negatives.tolist() == [[-1], [-1]]
    assert report.fallbacks == {"pairs without hard negative": 2}
    assert len(mine_topics(graph_of([], 2), [], 0, 0)[0]) == 0
    for wrong, options in (
        ([[2, 0]], {}),
        ([[0, 2]], {}),
        ([[-1, 0]], {}),
        ([[0, 0]], {"authors": [[]]}),
        ([[0, 0]], {"venues": ["v"]}),
    ):
        with pytest.raises(InputError):
            mine_topics(graph_of([], 2), wrong, 2, 0, **options)
