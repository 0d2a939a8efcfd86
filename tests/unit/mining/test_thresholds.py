"""Neighbours above thresholds against sorted lists of cosines."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.mining import graph_of, threshold_points
from tests.unit.mining.graphs import random_graph

NODES = 60


@pytest.fixture
def space():
    return random_graph(NODES, 150, 3), np.random.default_rng(3).standard_normal((NODES, 5))


@pytest.mark.parametrize("reach", [1000, 12])
def test_points_are_counts_over_all_pairs(space, reach):
    graph, vectors = space
    inside = graph.connected().tolist()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    thresholds = (0.8, 0.0, 0.5)
    points = threshold_points(graph, vectors, thresholds, count=4, reach=reach)
    assert [point.threshold for point in points] == [0.0, 0.5, 0.8]
    most = min(reach, len(inside) - 1)
    for point in points:
        counts = [min(most, sum(unit[a] @ unit[b] >= point.threshold for b in inside if b != a)) for a in inside]
        assert point.without == pytest.approx(np.mean([count == 0 for count in counts]))
        assert point.too_few == pytest.approx(np.mean([count < 4 for count in counts]))
        assert point.neighbours == pytest.approx(np.mean(counts))
        assert point.full == pytest.approx(np.mean([count == most for count in counts]))
    assert points[0].without <= points[1].without <= points[2].without


def test_queries_and_candidates_are_kept_to(space):
    graph, vectors = space
    some = graph.connected()[:10]
    (point,) = threshold_points(graph, vectors, [-1.1], queries=some, candidates=graph.connected()[10:])
    assert point.neighbours == len(graph.connected()) - 10 and point.full == 1


def test_a_graph_without_edges():
    with pytest.raises(InputError, match="no citations"):
        threshold_points(graph_of([], 4), np.eye(4), [0.5])
