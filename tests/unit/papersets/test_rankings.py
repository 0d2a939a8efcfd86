"""Ranking tasks that a graph makes, against what they promise, computed with sets."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sectioncls.papersets.rankings import Ranking, rankings_of

PAPERS = 300
IDS = [f"p{number}" for number in range(PAPERS)]


def a_graph(seed: int = 0, edges: int = 900) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give edges (doubles and self-citations too), outside references, splits and who has an abstract."""
    random = np.random.default_rng(seed)
    graph = random.integers(0, PAPERS, (edges, 2))
    paper = random.integers(0, PAPERS, 1800)
    outside = np.stack([paper, paper % 30 * 8 + random.integers(0, 8, 1800)], axis=1)  # thirty schools of thought
    splits = random.choice([0, 0, 0, 1, 2], PAPERS).astype(np.int8)
    return graph, outside, splits, random.random(PAPERS) < 0.9


def make(seed: int = 0, edges: int = 900) -> list[Ranking]:
    graph, outside, splits, with_abstract = a_graph(0, edges)
    return list(rankings_of(graph, outside, IDS, splits, with_abstract, seed=seed))


def test_what_the_rankings_promise() -> None:
    graph, outside, splits, with_abstract = a_graph()
    cites: dict[int, set[int]] = {paper: set() for paper in range(PAPERS)}
    works: dict[int, set[int]] = {paper: set() for paper in range(PAPERS)}
    for one, other in graph.tolist():
        if one != other:
            cites[one].add(other)
            works[one].add(other)
    for paper, work in outside.tolist():
        works[paper].add(PAPERS + work)
    citers = {paper: {other for other in cites if paper in cites[other]} for paper in cites}
    made = make()
    assert {ranking.task for ranking in made} == {"cite", "cite_hard", "cocite", "couple"}
    for ranking in made:
        query, positives, negatives = ranking.query, set(ranking.positives), set(ranking.negatives)
        assert splits[query] == {"dev": 1, "test": 2}[ranking.split]
        assert 1 <= len(positives) == len(ranking.positives) <= 5
        assert len(negatives) == len(ranking.negatives) <= 25
        assert not negatives & positives
        assert query not in negatives | positives
        assert all(with_abstract[row] for row in negatives)
        linked = cites[query] | citers[query]
        tied = linked | {row for row in cites if works[query] & works[row]}
        tied |= {row for row in cites if citers[query] & citers[row]}
        second = {row for cited in cites[query] for row in cites[cited]} - linked - {query}
        if ranking.task == "cite_hard":
            assert not negatives & linked
            known = {row for row in second if with_abstract[row]}
            assert len(known & set(ranking.negatives[:12])) == min(12, len(known))
        else:
            assert not negatives & tied
        if ranking.task.startswith("cite"):
            assert positives <= cites[query]
            assert len(positives) == min(5, len(cites[query])) >= min(5, ranking.least)
        elif ranking.task == "cocite":
            assert all(len(citers[query] & citers[row]) >= 2 for row in positives)
        else:
            assert all(len(works[query] & works[row]) >= 4 for row in positives)


def test_the_same_again_and_another_seed() -> None:
    assert make() == make()
    assert make() != make(seed=1)


def test_doubles_and_order_of_edges_do_not_matter() -> None:
    graph, outside, splits, with_abstract = a_graph()
    turned = np.concatenate([graph[::-1], graph[:50]])
    assert list(rankings_of(turned, outside[::-1], IDS, splits, with_abstract)) == make()


def test_sparse_graphs_ask_for_less() -> None:
    assert {ranking.least for ranking in make(edges=2400) if ranking.task == "cite"} == {5}
    assert {ranking.least for ranking in make(edges=60) if ranking.task == "cite"} == {1}


def test_at_most_400_queries_a_split() -> None:
    papers = 1000
    edges = np.array([[paper, (paper * 7 + step * 13) % 500] for paper in range(500, papers) for step in range(6)])
    ids = [f"x{number}" for number in range(papers)]
    splits = np.full(papers, 2, dtype=np.int8)
    made = rankings_of(edges, np.empty((0, 2), dtype=np.int64), ids, splits, np.ones(papers, dtype=bool))
    assert Counter(ranking.task for ranking in made)["cite"] == 400


def test_without_edges_or_abstracts() -> None:
    none = np.empty((0, 2), dtype=np.int64)
    splits, abstracts = np.full(3, 2, dtype=np.int8), np.ones(3, dtype=bool)
    assert list(rankings_of(none, none, ["a", "b", "c"], splits, abstracts)) == []
    edges = np.array([[0, 1]])
    assert list(rankings_of(edges, none, ["a", "b", "c"], splits, ~abstracts)) == []
    assert {ranking.negatives for ranking in rankings_of(edges, none, ["a", "b", "c"], splits, abstracts)} == {(2,)}
