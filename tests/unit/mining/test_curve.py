"""The grid of bands says what mining with each pair of bands would give."""

from __future__ import annotations

import gzip
import json
import math

import numpy as np
import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import Band, average_embeddings, curve, graph_of, hold_out, mine_neighbours, scaled_bands
from tests.unit.mining.graphs import colliding, random_graph


def test_points_are_what_mining_gives():
    graph, held = hold_out(random_graph(80, 400, 4), 0, 0.2)
    vectors = average_embeddings(graph, 0, dimensions=16)
    points = curve(graph, vectors, [5, 12], [10, 30, 60], held_out=held)
    assert [(p.k_plus, p.k_minus) for p in points] == [(5, 10), (5, 30), (5, 60), (12, 30), (12, 60)]
    for point in points:
        bands = Band(point.k_plus - 5, point.k_plus), Band(point.k_minus - 2, point.k_minus)
        triples, report = mine_neighbours(graph, vectors, 0, bands=bands)
        query, positive = triples.query.tolist(), triples.positive.tolist()
        hard = [[negative] if i % 5 > 2 else [-1] for i, [negative] in enumerate(triples.negatives.tolist())]
        assert point.collisions == colliding(query, positive, hard)
        assert point.cosine_margin == pytest.approx(report.figures["cosine margin"])
        for edges, shares in (
            (graph.rows(), (point.linked_positives, point.linked_negatives)),
            (held, (point.held_positives, point.held_negatives)),
        ):
            pairs = {frozenset(edge) for edge in edges.tolist()}
            near = [frozenset(pair) in pairs for pair in zip(query, positive, strict=True)]
            far = [frozenset((q, n)) in pairs for q, [n] in zip(query, hard, strict=True) if n >= 0]
            assert shares == pytest.approx((np.mean(near), np.mean(far)))


def test_collisions_end_where_the_margin_says_so():
    """On a ring of papers the k-th neighbour of one is the k-th of the other: bands apart never collide."""
    angle = np.arange(60) * 2 * np.pi / 60
    vectors = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    graph = graph_of([[i, (i + 1) % 60] for i in range(60)], 60)
    [point] = curve(graph, vectors, [6], [14], positives=2)
    assert point.collisions == 0
    assert (point.linked_positives, point.linked_negatives) == (0, 0)
    assert math.isnan(point.held_positives)
    [first] = curve(graph, vectors, [2], [14], positives=2)
    assert first.linked_positives == 1


@pytest.mark.shared
def test_scaled_bands_hardly_collide_on_real_citations(shared):
    folder = shared / "papers" / "vis"
    if not folder.is_dir():
        pytest.skip("the citations of vis are not here")
    with gzip.open(folder / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        row = {json.loads(line)["id"]: number for number, line in enumerate(lines)}
    with gzip.open(folder / "citations.tsv.gz", "rt", encoding="utf-8") as lines:
        edges = [line.rstrip("\n").split("\t") for line in lines][1:]
    graph = graph_of([[row[e[0]], row[e[1]]] for e in edges if e[3] == "train"], len(row))
    vectors = average_embeddings(graph, 0)
    papers = len(graph.connected())
    near, far = scaled_bands(papers)
    [point] = curve(graph, vectors, [near.high], [far.high])
    assert point.collisions < 0.002 * 2 * papers
    assert point.linked_negatives < 0.005
    assert point.linked_positives > 20 * point.linked_negatives
    [scaled_too_near] = curve(graph, vectors, [near.high], [near.high + 25])
    assert scaled_too_near.collisions > 20 * point.collisions


def test_wrong_grids():
    graph = random_graph(40, 200, 0)
    vectors = average_embeddings(graph, 0, dimensions=8)
    with pytest.raises(InputError, match="don't overlap"):
        curve(graph, vectors, [20], [21])
    with pytest.raises(InputError, match="neighbours"):
        curve(graph, vectors, [5], [400])
    with pytest.raises(UsageError, match="does not hold"):
        curve(graph, vectors, [4], [20])
    with pytest.raises(InputError, match="no citations"):
        curve(graph_of([], 40), vectors, [5], [20])
