"""Graph embeddings against naive loops, and that they know which papers belong together."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import average_embeddings, embed_graph, graph_of, hold_out, link_metrics, train_embeddings
from tests.unit.mining.graphs import random_graph


def two_communities(seed=0, size=60):
    random = np.random.default_rng(seed)
    edges = random.integers(0, size, (size * 6, 2))
    return graph_of(np.concatenate((edges, edges[:300] + size, [[0, size]])), 2 * size + 1)


def test_averages_are_those_of_a_loop():
    graph = random_graph(25, 22, 0)
    links = [set() for _ in range(25)]
    for a, b in graph.rows().tolist():
        links[a].add(b)
        links[b].add(a)
    linked = [paper for paper in range(25) if links[paper]]
    rows = np.random.default_rng(9).standard_normal((25, 5), dtype=np.float32).astype(float)
    for paper in linked:
        rows[paper] *= 1 / np.linalg.norm(rows[paper]) / len(links[paper]) ** 0.5
    for _ in range(3):
        mixed = np.array(
            [
                sum((rows[other] for other in links[paper]), np.zeros(5)) / max(1, len(links[paper]))
                + 0.25 * rows[paper]
                for paper in range(25)
            ]
        )
        mixed[linked] -= mixed[linked].mean(axis=0)
        rows = mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-12)
    found = average_embeddings(graph, 9, dimensions=5, rounds=3, keep=0.25)
    assert found.dtype == np.float32
    assert np.abs(found[linked] - rows[linked]).max() < 1e-4
    alone = sorted(set(range(25)) - set(linked))
    assert alone
    assert (found[alone] == 0).all()


@pytest.mark.parametrize("method", ["average", "ranking"])
def test_papers_of_a_community_are_nearer(method):
    graph = two_communities()
    options = {"dimensions": 32} if method == "average" else {"dimensions": 32, "batch": 200, "epochs": 10}
    vectors = embed_graph(graph, 1, method=method, **options)
    assert (vectors == embed_graph(graph, 1, method=method, **options)).all()
    assert (vectors != embed_graph(graph, 2, method=method, **options)).any()
    assert vectors.shape == (121, 32)
    assert (vectors[120] == 0).all()
    unit = vectors[:120] / np.linalg.norm(vectors[:120], axis=1, keepdims=True).clip(1e-12)
    cosines = unit @ unit.T
    same = np.equal.outer(np.arange(120) // 60, np.arange(120) // 60) & ~np.eye(120, dtype=bool)
    assert cosines[same].mean() > cosines[:60, 60:].mean() + 0.2


def ranking_loss(vectors, ends, margin, chunk):
    """Give the loss of PyTorch-BigGraph with negatives from chunks of the batch, one pair at a time."""
    total = 0.0
    for start in range(0, len(ends), chunk):
        part = ends[start : start + chunk]
        for citing, cited in part:
            held = vectors[citing] @ vectors[cited]
            for other_citing, other_cited in part:
                if other_cited != cited:
                    total += max(0.0, margin - held + vectors[citing] @ vectors[other_cited])
                if other_citing != citing:
                    total += max(0.0, margin - held + vectors[other_citing] @ vectors[cited])
    return total


@pytest.mark.parametrize("edges", [20, 23])
def test_the_ranking_loss_is_that_of_a_loop(edges):
    import torch

    from sectioncls.mining.embeddings import _ranking_loss

    random = np.random.default_rng(edges)
    vectors, ends = random.standard_normal((9, 4)), random.integers(0, 9, (edges, 2))
    found = _ranking_loss(torch.from_numpy(vectors), torch.from_numpy(ends), 0.15, 5)
    assert float(found) == pytest.approx(ranking_loss(vectors, ends, 0.15, 5), rel=1e-12)


def test_one_step_of_training_by_hand():
    """One batch: the gradient is divided by its root mean square in the row, and rows are cut to length 1."""
    import torch

    graph = graph_of([[0, 1], [2, 3], [0, 3]], 5)
    generator = torch.Generator().manual_seed(3)
    start = (torch.randn(5, 4, generator=generator) * 1e-3).numpy().astype(float)
    gradient = np.zeros((5, 4))
    for row in range(5):
        for column in range(4):
            step = np.zeros((5, 4))
            step[row, column] = 1e-6
            up, down = (ranking_loss(start + sign * step, graph.rows(), 0.15, 50) for sign in (1, -1))
            gradient[row, column] = (up - down) / 2e-6
    moved = start - 0.1 * gradient / (np.sqrt((gradient**2).mean(axis=1, keepdims=True)) + 1e-10)
    moved *= np.minimum(1, 1 / np.linalg.norm(moved, axis=1, keepdims=True))
    moved[4] = 0
    assert np.abs(train_embeddings(graph, 3, dimensions=4, epochs=1) - moved).max() < 1e-4


def test_trained_vectors_are_no_longer_than_the_norm():
    vectors = train_embeddings(random_graph(40, 150, 0), 0, dimensions=8, batch=50, max_norm=0.25, comparator="cosine")
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths.max() <= 0.25 + 1e-6
    assert lengths.max() > 0.2


def test_wrong_calls():
    graph = random_graph(10, 20, 0)
    for method in ("average", "ranking"):
        with pytest.raises(InputError, match="no citations"):
            embed_graph(graph_of([], 5), 0, method=method)
    with pytest.raises(UsageError, match="average, ranking"):
        embed_graph(graph, 0, method="walks")
    with pytest.raises(UsageError, match="dot or cosine"):
        train_embeddings(graph, 0, comparator="l2")


def test_hold_out_parts_the_edges():
    graph = random_graph(50, 300, 0)
    rest, held = hold_out(graph, 0, 0.1)
    assert len(held) == round(graph.edges * 0.1)
    both = np.concatenate((rest.rows(), held)).tolist()
    assert sorted(both) == graph.rows().tolist()
    assert len(hold_out(graph, 0)[1]) == round(graph.edges * 0.01)
    assert hold_out(graph_of([[0, 1], [1, 2]], 3), 0)[0].edges == 1
    with pytest.raises(InputError):
        hold_out(graph_of([[0, 1]], 2), 0)


@pytest.mark.parametrize("drawn", ["uniform", "by degree"])
@pytest.mark.parametrize("cosine", [True, False])
def test_link_metrics_are_those_of_a_loop(drawn, cosine):
    graph, held = hold_out(random_graph(40, 200, 1), 1, 0.2)
    vectors = np.random.default_rng(1).integers(-1, 2, (40, 3)).astype(float)
    found = link_metrics(vectors, held, 4, graph=graph, negatives=30, drawn=drawn, cosine=cosine)
    degrees = np.bincount(graph.rows().ravel(), minlength=40).astype(float)
    weight = degrees if drawn == "by degree" else (degrees > 0).astype(float)
    others = np.random.default_rng(4).choice(40, 30, p=weight / weight.sum())
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12) if cosine else vectors
    known = {frozenset(edge) for edge in np.concatenate((graph.rows(), held)).tolist()}
    ranks, areas = [], []
    for a, b in held.tolist():
        for kept, true in ((a, b), (b, a)):
            fair = [o for o in others.tolist() if o != kept and frozenset((kept, o)) not in known]
            score = round(float(rows[kept] @ rows[true]), 6)
            scores = [round(float(rows[kept] @ rows[o]), 6) for o in fair]
            above = sum(s > score for s in scores) + 0.5 * sum(s == score for s in scores)
            ranks.append(1 + above)
            areas.append(1 - above / len(fair))
    assert found.mrr == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert found.hits_1 == pytest.approx(np.mean([rank <= 1 for rank in ranks]))
    assert found.hits_10 == pytest.approx(np.mean([rank <= 10 for rank in ranks]))
    assert found.auc == pytest.approx(np.mean(areas))
    assert found.edges == len(held)


def test_embeddings_foretell_held_out_links_and_noise_does_not():
    graph, held = hold_out(two_communities(), 0, 0.1)
    ours = link_metrics(average_embeddings(graph, 0, dimensions=64), held, 0, graph=graph, negatives=100)
    noise = np.random.default_rng(0).standard_normal((121, 64))
    assert ours.auc > 0.65
    assert 0.4 < link_metrics(noise, held, 0, graph=graph, negatives=100).auc < 0.6


def test_link_metrics_of_wrong_input():
    graph = random_graph(10, 20, 0)
    with pytest.raises(InputError, match="for 10 papers"):
        link_metrics(np.ones((9, 2)), [[0, 1]], 0, graph=graph)
    with pytest.raises(InputError, match="held-out"):
        link_metrics(np.ones((10, 2)), [], 0, graph=graph)
