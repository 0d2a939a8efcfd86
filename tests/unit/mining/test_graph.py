"""The citation graph, its set of pairs, and triples as records."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.mining import Triples, collisions, graph_of, join_triples, linked
from sectioncls.mining.graph import rows_of
from sectioncls.mining.pairset import pair_set
from tests.unit.mining.graphs import colliding, random_graph


def test_loops_and_doubles_are_left_out_and_counted():
    graph = graph_of([[0, 3], [0, 1], [1, 2], [2, 2], [0, 1]], 5)
    assert (graph.nodes, graph.edges, graph.loops, graph.doubles) == (5, 3, 1, 1)
    assert graph.rows().tolist() == [[0, 1], [0, 3], [1, 2]]
    assert graph.cited.tolist() == [2, 1, 0, 0, 0]
    assert graph.citing.tolist() == [0, 1, 1, 1, 0]
    assert graph.connected().tolist() == [0, 1, 2, 3]
    assert graph.reversed().rows().tolist() == [[1, 0], [2, 1], [3, 0]]
    assert graph.undirected().rows().tolist() == [[0, 1], [0, 3], [1, 0], [1, 2], [2, 1], [3, 0]]
    assert graph.cites.dtype == np.int8


def test_empty_graphs():
    for nodes in (0, 3):
        graph = graph_of([], nodes)
        assert (graph.edges, len(graph.rows()), len(graph.connected())) == (0, 0, 0)
        assert not graph.pairs().has(np.array([0]), np.array([0])).any()


@pytest.mark.parametrize("edges", [[[0, 3]], [[-1, 0]], [[0, 1, 2]], [0, 1]])
def test_wrong_edges(edges):
    with pytest.raises(InputError):
        graph_of(edges, 3)


def test_rows_of():
    assert rows_of(None, 3, "x").tolist() == [0, 1, 2]
    assert rows_of([2, 0, 2], 3, "x").tolist() == [0, 2]
    assert rows_of(np.array([True, False, True]), 3, "x").tolist() == [0, 2]
    assert rows_of([], 3, "x").tolist() == []
    for wrong in ([3], [-1]):
        with pytest.raises(InputError):
            rows_of(wrong, 3, "x")


@pytest.mark.parametrize("count", [0, 1, 40, 3000])
def test_pair_set_is_a_set(count):
    random = np.random.default_rng(count)
    a, b = random.integers(0, 70, (2, count))
    pairs = pair_set(a, b, 70)
    members = set(zip(a.tolist(), b.tolist(), strict=True))
    assert len(pairs) == len(members)
    first, second = np.mgrid[-2:72, -2:70]
    wanted = [[(x, y) in members for y in range(-2, 70)] for x in range(-2, 72)]
    assert (pairs.has(first, second) == wanted).all()
    assert (pairs.lacks(first, second) == ~np.array(wanted)).all()
    assert (pairs.has(first[:, :1], second[:1]) == wanted).all()


def test_pair_set_where_many_keys_share_slots(monkeypatch):
    from sectioncls.mining import pairset

    monkeypatch.setattr(pairset, "LARGEST", 4)
    random = np.random.default_rng(1)
    a, b = random.integers(0, 50, (2, 400))
    pairs = pair_set(a, b, 50)
    members = set(zip(a.tolist(), b.tolist(), strict=True))
    first, second = np.mgrid[0:50, 0:50]
    assert (pairs.has(first, second) == [[(x, y) in members for y in range(50)] for x in range(50)]).all()


def test_collisions_and_links_are_those_of_sets():
    random = np.random.default_rng(3)
    graph = random_graph(30, 120, 3)
    query, positive = random.integers(0, 30, (2, 200))
    triples = Triples(query, positive, random.integers(-1, 30, (200, 3)))
    assert collisions(triples, 30) == colliding(query.tolist(), positive.tolist(), triples.negatives.tolist())
    edges = set(map(tuple, graph.rows().tolist()))
    wanted = sum(
        (q, n) in edges or (n, q) in edges
        for q, some in zip(query.tolist(), triples.negatives.tolist(), strict=True)
        for n in some
    )
    assert linked(triples, graph.pairs()) == wanted


def test_triples_are_checked_taken_and_joined():
    one = Triples(np.array([0, 1]), np.array([2, 3]), np.array([[4], [5]]))
    two = Triples(np.array([6]), np.array([7]), np.array([[8, 9]]))
    both = join_triples(one, two)
    assert both.negatives.tolist() == [[4, -1], [5, -1], [8, 9]]
    assert both.take([2, 0]).query.tolist() == [6, 0]
    assert len(both.take(both.query > 0)) == 2
    for wrong in ((np.array([0]), np.array([1, 2]), np.array([[1]])), (np.array([0]), np.array([1]), np.array([1]))):
        with pytest.raises(InputError):
            Triples(*wrong)
    with pytest.raises(InputError):
        Triples(np.array([0]), np.array([1]), np.array([[1], [2]]))
