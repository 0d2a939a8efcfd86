"""Small citation graphs for the miners, and the same graphs as plain sets for the oracles."""

from __future__ import annotations

import numpy as np

from sectioncls.mining import Graph, graph_of


def random_graph(nodes: int, edges: int, seed: int) -> Graph:
    """Give a graph in which some papers are cited by many and some cite nothing."""
    random = np.random.default_rng(seed)
    popular = 1 / np.arange(1, nodes + 1)
    source = random.integers(nodes // 5, nodes, edges)
    target = random.choice(nodes, edges, p=popular / popular.sum())
    return graph_of(np.stack((source, target), axis=1), nodes)


def cited_sets(graph: Graph) -> list[set[int]]:
    """Give what each paper cites."""
    sets: list[set[int]] = [set() for _ in range(graph.nodes)]
    for source, target in graph.rows().tolist():
        sets[source].add(target)
    return sets


def two_away(cites: list[set[int]], query: int) -> set[int]:
    """Give what the papers cited by ``query`` cite, but for itself and what it cites."""
    reached = set().union(*(cites[paper] for paper in cites[query])) if cites[query] else set()
    return reached - cites[query] - {query}


def colliding(query, positives, negatives) -> int:
    """Count unordered pairs that are drawn together and pushed apart."""
    drawn = {frozenset((q, p)) for q, p in zip(query, positives, strict=True)}
    pushed = {frozenset((q, n)) for q, some in zip(query, negatives, strict=True) for n in some if n >= 0}
    return len(drawn & pushed)
