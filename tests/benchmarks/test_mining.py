"""Mining beside a Python loop over sets, graph embeddings and neighbours beside fastnode2vec and scikit-learn."""

from __future__ import annotations

import importlib.util
import random as python_random
import time
import warnings
from functools import partial

import numpy as np
import pytest

NODES, CITED, COMMUNITIES, NEIGHBOURS, DIMENSIONS = 30_000, 10, 300, 1_000, 256


def citations(seed: int = 0) -> np.ndarray:
    """Give made-up citations, (m, 2): lists of uneven length, two thirds within a community, some papers popular."""
    random = np.random.default_rng(seed)
    community = random.integers(0, COMMUNITIES, NODES)
    order = np.argsort(community, kind="stable")
    starts = np.searchsorted(community[order], np.arange(COMMUNITIES + 1))
    lengths = np.minimum(random.lognormal(np.log(CITED) - 0.3, 0.8, NODES).astype(int), 100)
    source = np.repeat(np.arange(NODES), lengths)
    size = (starts[1:] - starts[:-1])[community[source]]
    # A power of an even draw prefers the first of a list: the popular ones.
    near = order[starts[community[source]] + (random.random(len(source)) ** 2 * size).astype(int)]
    far = (random.random(len(source)) ** 2 * NODES).astype(int)
    return np.stack((source, np.where(random.random(len(source)) < 2 / 3, near, far)), axis=1)


def least_cpu(function, repeats):
    """Give the least CPU time of some calls: the machine may be busy with other things."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def loop_over_sets(cites, queries, nodes):
    """Give the same triples and counts as ``mine_citations``, one query after the other."""
    random, triples = python_random.Random(0), []
    for query in queries:
        cited = cites[query]
        positives = sorted(cited)
        random.shuffle(positives)
        reached = sorted(set().union(*(cites[paper] for paper in cited)) - cited - {query})
        negatives = random.sample(reached, min(2, len(reached)))
        while len(negatives) < 5:
            paper = random.randrange(nodes)
            if paper != query and paper not in cited and paper not in negatives:
                negatives.append(paper)
        triples += [(query, positives[i % len(positives)], negatives[i]) for i in range(5)]
    drawn = {(min(q, p), max(q, p)) for q, p, _ in triples}
    pushed = {(min(q, n), max(q, n)) for q, _, n in triples}
    linked = sum(n in cites[q] or q in cites[n] for q, _, n in triples)
    return np.array(triples), len(drawn & pushed), linked


def test_a_hundred_thousand_triples():
    from sectioncls.mining import graph_of, mine_citations

    graph = graph_of(citations(), NODES)
    queries = np.flatnonzero(graph.cited)[:20_000]
    cites = [set() for _ in range(NODES)]
    for source, target in graph.rows().tolist():
        cites[source].add(target)
    triples, _ = mine_citations(graph, 0, queries=queries)
    assert len(triples) == 100_000
    ours = least_cpu(lambda: mine_citations(graph, 0, queries=queries), 7)
    theirs = least_cpu(lambda: loop_over_sets(cites, queries.tolist(), NODES), 3)
    print(
        f"\n100,000 triples from {NODES:,} papers and {graph.edges:,} citations: {1000 * ours:.0f} ms, "
        f"a loop over sets {1000 * theirs:.0f} ms: {theirs / ours:.0f} x"
    )
    assert theirs / ours >= 20


def ours(edges, held):
    from sectioncls.mining import average_embeddings, graph_of, link_metrics, nearest

    graph = graph_of(edges, NODES)
    began = time.process_time()
    vectors = average_embeddings(graph, 0, dimensions=DIMENSIONS)
    between = time.process_time()
    for _ in nearest(vectors, NEIGHBOURS):
        pass
    ended = time.process_time()
    return between - began, ended - between, link_metrics(vectors, held, 0, graph=graph)


def walked(edges, epochs):
    from fastnode2vec import Graph, Node2Vec

    graph = Graph(edges.tolist(), directed=False, weighted=False, verbose=False)
    walks = Node2Vec(graph, dim=128, walk_length=40, window=10, workers=1, seed=0)
    walks.train(epochs=epochs, verbose=False)
    vectors = np.zeros((NODES, 128), dtype=np.float32)
    for node in range(NODES):
        if node in walks.wv:
            vectors[node] = walks.wv[node]
    return vectors


def theirs(edges, held):
    """Five walks of 40 a paper: with one its AUC is 0.53, with ten no better than with five."""
    from sklearn.neighbors import NearestNeighbors

    from sectioncls.mining import graph_of, link_metrics

    walked(edges[:1000], 1)  # compiles
    began = time.process_time()
    vectors = walked(edges, 5)
    between = time.process_time()
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    NearestNeighbors(n_neighbors=NEIGHBOURS + 1, algorithm="brute").fit(unit).kneighbors(unit)
    ended = time.process_time()
    return between - began, ended - between, link_metrics(vectors, held, 0, graph=graph_of(edges, NODES))


def test_embeddings_and_neighbours(peak_memory):
    if importlib.util.find_spec("fastnode2vec") is None:
        pytest.skip("fastnode2vec is not installed")
    from threadpoolctl import threadpool_limits

    from sectioncls.mining import graph_of, hold_out

    rest, held = hold_out(graph_of(citations(), NODES), 0)
    edges = rest.rows()
    rows = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, work in (("sectioncls", ours), ("fastnode2vec + scikit-learn", theirs)):
            embedding, search, metrics = rows[name] = work(edges, held)
            print(
                f"\n{name}: embeddings {embedding:.1f} s, {NEIGHBOURS:,} neighbours {search:.1f} s; "
                f"AUC {metrics.auc:.3f}, MRR {metrics.mrr:.3f}, Hits@10 {metrics.hits_10:.3f}"
            )
    totals = [embedding + search for embedding, search, _ in rows.values()]
    memory = peak_memory(partial(_neighbours_only, edges))
    print(f"{totals[1] / totals[0]:.1f} x faster; ours needs {memory:.0f} MB at its peak")
    assert totals[0] <= totals[1] / 2
    assert rows["sectioncls"][2].auc >= rows["fastnode2vec + scikit-learn"][2].auc
    assert memory < 500


def _neighbours_only(edges):
    from sectioncls.mining import average_embeddings, graph_of, nearest

    graph = graph_of(edges, NODES)

    def work():
        vectors = average_embeddings(graph, 0, dimensions=DIMENSIONS)
        for _ in nearest(vectors, NEIGHBOURS):
            pass

    return work
