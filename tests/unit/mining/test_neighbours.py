"""SciNCL's triples against sorted lists of cosines: ranks, pairing, easy negatives, margins, what is skipped."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import EASY, Band, check_bands, graph_of, mine_neighbours, nearest, scaled_bands
from tests.unit.mining.graphs import colliding, random_graph

NODES = 90


@pytest.fixture
def space():
    """A graph with a few papers outside it, and vectors of different lengths."""
    graph = random_graph(NODES, 260, 5)
    return graph, np.random.default_rng(5).standard_normal((NODES, 6)) * np.arange(1, NODES + 1)[:, None]


def ranked(graph, vectors, candidates=None):
    """Give each paper's candidates from near to far, and their cosines."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    offered = np.intersect1d(graph.connected(), np.arange(NODES) if candidates is None else candidates)
    lists = {}
    for query in graph.connected().tolist():
        others = offered[offered != query]
        cosines = unit[others] @ unit[query]
        order = np.argsort(-cosines)
        lists[query] = others[order], cosines[order]
    return lists


def test_nearest_is_the_sorted_list(space):
    graph, vectors = space
    lists = ranked(graph, vectors, np.arange(20, 80))
    candidates = np.intersect1d(graph.connected(), np.arange(20, 80))
    for block in nearest(vectors, 30, queries=graph.connected(), candidates=candidates):
        for query, rows, scores in zip(block.query.tolist(), block.rows, block.scores, strict=True):
            assert rows.tolist() == lists[query][0][:30].tolist()
            assert np.allclose(scores, lists[query][1][:30], atol=1e-6)


@pytest.mark.parametrize("easy_from", EASY)
def test_triples_are_the_bands_in_order(space, easy_from):
    graph, vectors = space
    bands = Band(4, 9), Band(38, 40)
    triples, report = mine_neighbours(graph, vectors, 7, bands=bands, easy_from=easy_from)
    lists = ranked(graph, vectors)
    assert triples.query[::5].tolist() == graph.connected().tolist()
    margins = []
    for query, positive, negative in zip(
        triples.query[::5].tolist(), triples.positive.reshape(-1, 5), triples.negatives.reshape(-1, 5), strict=True
    ):
        rows, cosines = lists[query]
        assert positive.tolist() == rows[4:9].tolist()
        assert negative[3:].tolist() == rows[38:40].tolist()
        assert len({*negative.tolist(), query}) == 6
        if easy_from == "filtered":
            assert not set(negative[:3].tolist()) & set(rows[:40].tolist())
        margins.append(cosines[8] - cosines[38])
    assert report.skipped == {"no citations": NODES - len(lists), "too few positives": 0}
    assert report.skipped["no citations"] > 0
    assert report.figures["rank margin"] == 39 - 9
    assert report.figures["cosine margin"] == pytest.approx(np.mean(margins), abs=1e-6)
    assert report.collisions == colliding(triples.query.tolist(), triples.positive.tolist(), triples.negatives.tolist())
    edges = set(map(tuple, graph.undirected().rows().tolist()))
    assert report.linked == sum(
        pair in edges for pair in zip(triples.query.tolist(), triples.negatives[:, 0].tolist(), strict=True)
    )


def test_no_paper_is_positive_and_negative_of_one_query_where_easy_ones_are_filtered(space):
    graph, vectors = space
    triples, _ = mine_neighbours(graph, vectors, 0, bands=(Band(0, 10), Band(10, 20)))
    for query in np.unique(triples.query):
        mine = triples.take(triples.query == query)
        assert not set(mine.positive.tolist()) & set(mine.negatives[:, 0].tolist())


def test_wide_bands_are_drawn_from_evenly(space):
    graph, vectors = space
    query = int(graph.connected()[3])
    rows = ranked(graph, vectors)[query][0]
    seen = np.zeros((2, NODES))
    for seed in range(600):
        triples, _ = mine_neighbours(graph, vectors, seed, bands=(Band(0, 10), Band(30, 34)), queries=[query])
        assert len(set(triples.positive.tolist())) == 5
        seen[0, triples.positive] += 1
        seen[1, triples.negatives[3:, 0]] += 1
    assert np.abs(seen[0, rows[:10]] / 600 - 1 / 2).max() < 0.1
    assert np.abs(seen[1, rows[30:34]] / 600 - 1 / 2).max() < 0.1
    assert seen.sum() == 600 * 7


def test_sorted_easy_negatives_are_the_least_similar(space):
    """The pool is smaller than the sample, so they are the least similar of the whole pool."""
    graph, vectors = space
    triples, _ = mine_neighbours(graph, vectors, 0, bands=(Band(0, 5), Band(30, 32)), easy_from="sorted")
    lists = ranked(graph, vectors)
    for query, negative in zip(triples.query[::5].tolist(), triples.negatives.reshape(-1, 5), strict=True):
        assert negative[:3].tolist() == lists[query][0][::-1][:3].tolist()


def test_k_means_negatives_are_of_other_clusters():
    """Four far corners: negatives come from the two corners that are farthest from the query's."""
    random = np.random.default_rng(0)
    corner = np.repeat(np.arange(4), 4)
    angle = corner * np.pi / 2 + random.normal(0, 0.01, 16) + 0.2 * (corner == 1)
    vectors = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    graph = graph_of([[i, (i + 1) % 16] for i in range(16)], 16)
    triples, _ = mine_neighbours(graph, vectors, 0, bands=(Band(0, 1), Band(1, 1)), easy=1, hard=0, easy_from="k-means")
    assert not (corner[triples.query] == corner[triples.negatives[:, 0]]).any()


def test_candidates_pool_and_queries(space):
    graph, vectors = space
    triples, report = mine_neighbours(
        graph, vectors, 0, bands=(Band(0, 5), Band(20, 22)), queries=[80, 81], candidates=range(60), pool=range(50, 90)
    )
    assert set(triples.query.tolist()) <= {80, 81}
    assert triples.positive.max() < 60
    easy = triples.negatives.reshape(-1, 5)[:, :3]
    assert easy.min() >= 50
    assert easy.max() < 60
    assert report.queries == 2


def test_filtered_negatives_that_do_not_exist_are_counted(space):
    """The bands reach all but one candidate, so only one easy negative is left."""
    graph, vectors = space
    others = len(graph.connected()) - 1
    triples, report = mine_neighbours(graph, vectors, 0, bands=(Band(0, 5), Band(others - 3, others - 1)))
    assert report.fallbacks["triples without negative"] == 2 * (others + 1)
    assert len(triples) == 3 * (others + 1)


def test_thresholds_take_the_farthest_above(space):
    graph, vectors = space
    triples, report = mine_neighbours(graph, vectors, 0, bands=(Band(0, 5), Band(48, 50)), thresholds=(0.8, 0.2))
    lists, counted, skipped = ranked(graph, vectors), 0, 0
    positives = triples.positive.reshape(-1, 5).tolist()
    negatives = triples.negatives.reshape(-1, 5).tolist()
    found = dict(zip(triples.query[::5].tolist(), zip(positives, negatives, strict=True), strict=True))
    for query, (rows, cosines) in lists.items():
        near, far = (min(50, int((cosines >= threshold).sum())) for threshold in (0.8, 0.2))
        if near < 5:
            skipped += 1
            assert query not in found
            continue
        assert found[query][0] == rows[near - 5 : near].tolist()
        hard = [place for place in (far - 2, far - 1) if place >= near]
        assert [p for p in found[query][1][3:] if p in rows[:50]] == rows[hard].tolist()
        counted += 2 - len(hard)
    assert report.skipped["too few positives"] == skipped
    assert skipped > 0
    assert report.fallbacks["hard negatives that are easy"] == counted


def test_bands_of_the_paper_and_of_smaller_graphs():
    assert scaled_bands(680_967) == (Band(20, 25), Band(3998, 4000))
    assert scaled_bands(52_000_000) == (Band(20, 25), Band(3998, 4000))
    assert scaled_bands(680_967 // 4)[1].high == 2000
    for papers in (10, 50, 300, 3_091, 30_000):
        near, far = scaled_bands(papers)
        assert near.width == 5
        assert far.width == 2
        assert near.high <= far.low
        assert far.high < papers
    with pytest.raises(InputError):
        scaled_bands(7)


@pytest.mark.parametrize(
    ("near", "far", "error", "words"),
    [
        (Band(20, 25), Band(98, 100), InputError, "end at rank 100, but a paper has 99 neighbours"),
        (Band(20, 25), Band(24, 26), UsageError, "overlap: positives end at rank 25, hard negatives begin at rank 25"),
        (Band(20, 24), Band(50, 52), UsageError, "21 to 24 does not hold 5 positives"),
        (Band(0, 5), Band(50, 51), UsageError, "51 to 51 does not hold 2 hard negatives"),
        (Band(-1, 5), Band(50, 52), UsageError, "does not hold"),
    ],
)
def test_wrong_bands_are_one_line(near, far, error, words):
    with pytest.raises(error) as caught:
        check_bands(near, far, 100, positives=5, hard=2)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_calls(space):
    graph, vectors = space
    for options, error in (
        ({"easy_from": "far"}, UsageError),
        ({"thresholds": (0.2, 0.5)}, UsageError),
        ({"easy": 0, "hard": 0}, UsageError),
        ({"bands": (Band(0, 5), Band(88, 90))}, InputError),
        ({"candidates": range(6)}, InputError),
    ):
        with pytest.raises(error):
            mine_neighbours(graph, vectors, 0, **options)
    with pytest.raises(InputError, match="no citations"):
        mine_neighbours(graph_of([], NODES), vectors, 0)
    with pytest.raises(InputError, match="vectors for 90 papers"):
        mine_neighbours(graph, vectors[:9], 0)


def test_no_query_in_the_graph():
    graph = random_graph(NODES, 260, 5)
    alone = np.setdiff1d(np.arange(NODES), graph.connected())
    triples, report = mine_neighbours(graph, np.random.default_rng(0).standard_normal((NODES, 4)), 0, queries=alone)
    assert (len(triples), report.queries) == (0, 0)
    assert report.skipped["no citations"] == len(alone)
