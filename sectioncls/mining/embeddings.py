"""Vectors of papers from the citation graph alone: SciNCL's trainer, and a fast way that needs no training.

Paper: arXiv 2202.06671, section 4.2: PyTorch-BigGraph (arXiv 1903.12287) with one relation, no operator, dot product,
ranking loss with margin 0.15, rate 0.1, 20 epochs, negatives from the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.mining.graph import Graph

__all__ = ["EMBEDDINGS", "average_embeddings", "embed_graph", "train_embeddings"]

Floats = npt.NDArray[np.float32]
Comparator = Literal["dot", "cosine"]


def average_embeddings(
    graph: Graph, seed: int, *, dimensions: int = 768, rounds: int = 6, keep: float = 0.5, centre: bool = True
) -> Floats:
    """Give a vector of each paper, (nodes, dimensions), by repeated averaging over the papers it is linked with.

    Random directions are mixed ``rounds`` times: each paper takes the mean of its neighbours, in both directions of
    citation, plus ``keep`` times what it had, at unit length. ``centre`` takes out what all linked papers have in
    common before it outgrows the rest. Rows have unit length; papers without links get zeros. Raises InputError for a
    graph without edges.
    """
    links, degrees = _links(graph)
    random = np.random.default_rng(seed)
    linked = degrees > 0
    share = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=linked)[:, None]
    rows = random.standard_normal((graph.nodes, dimensions), dtype=np.float32)
    # A paper that everybody cites would drown the others' directions.
    rows = _unit(rows) * np.sqrt(share)
    for _ in range(rounds):
        rows = share * (links @ rows) + np.float32(keep) * rows
        if centre:
            rows -= rows[linked].mean(axis=0)
        rows = _unit(rows)
    rows[~linked] = 0
    return rows


def train_embeddings(
    graph: Graph,
    seed: int,
    *,
    dimensions: int = 768,
    epochs: int = 20,
    margin: float = 0.15,
    rate: float = 0.1,
    batch: int = 10_000,
    chunk: int = 50,
    max_norm: float = 1.0,
    comparator: Comparator = "dot",
) -> Floats:
    """Give a vector of each paper, (nodes, dimensions), trained so that a citation scores above its corruptions.

    Citations come in batches, and in a batch in chunks: the cited papers of a chunk are each other's negatives, and so
    are the citing ones. Every score of a negative within ``margin`` of the citation's is paid for. Rates are Adagrad's,
    one for each paper; vectors longer than ``max_norm`` are cut to it. Papers without links get zeros.

    The defaults are SciNCL's, for graphs of hundreds of millions of citations: on some thousands a batch of 10,000
    leaves few steps. Raises InputError for a graph without edges, UsageError for an unknown comparator.
    """
    import torch
    from torch.nn import functional

    if comparator not in ("dot", "cosine"):
        raise UsageError(f"no comparator {comparator!r}", "graph embeddings", "dot or cosine")
    _, degrees = _links(graph)
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(graph.nodes, dimensions, generator=generator) * 1e-3
    squares = torch.zeros(graph.nodes)
    edges = torch.from_numpy(graph.rows())
    for _ in range(epochs):
        order = torch.randperm(len(edges), generator=generator)
        for start in range(0, len(edges), batch):
            rows, ends = torch.unique(edges[order[start : start + batch]], return_inverse=True)
            leaf = _cut(table[rows], max_norm).requires_grad_()
            compared = functional.normalize(leaf, dim=1) if comparator == "cosine" else leaf
            _ranking_loss(compared, ends, margin, chunk).backward()
            gradient: Any = leaf.grad
            squares[rows] += gradient.square().mean(dim=1)
            table[rows] = leaf.detach() - rate * gradient / (squares[rows].sqrt() + 1e-10)[:, None]
    vectors = _cut(table, max_norm).numpy()
    vectors[degrees == 0] = 0
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _ranking_loss(vectors: Any, ends: Any, margin: float, chunk: int) -> Any:
    """Give the sum of max(0, margin - citation + negative) over both ends of the citations ``ends``, (m, 2) of rows."""
    import torch
    from torch.nn import functional

    ends = functional.pad(ends, (0, 0, 0, -len(ends) % chunk), value=-1).view(-1, chunk, 2)
    citing, cited = vectors[ends[..., 0]], vectors[ends[..., 1]]
    scores = citing @ cited.transpose(1, 2)  # (chunks, citing, cited)
    held = torch.diagonal(scores, dim1=1, dim2=2)
    real = (ends[:, :, None, 0] >= 0) & (ends[:, None, :, 0] >= 0)
    other = ends[:, :, None] != ends[:, None, :]
    by_citing = torch.relu(margin - held[:, :, None] + scores)[real & other[..., 1]].sum()
    return by_citing + torch.relu(margin - held[:, None, :] + scores)[real & other[..., 0]].sum()


def _cut(rows: Any, max_norm: float) -> Any:
    return rows * (max_norm / rows.norm(dim=1, keepdim=True).clamp_min(1e-12)).clamp_max(1.0)


def _links(graph: Graph) -> tuple[Any, Floats]:
    if not graph.edges:
        raise InputError("no citations to learn from", "graph", "give papers of which some cite others")
    both = graph.undirected()
    return both.cites.astype(np.float32), both.cited.astype(np.float32)


def _unit(rows: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(rows / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)


EMBEDDINGS: Mapping[str, Callable[..., Floats]] = {"average": average_embeddings, "ranking": train_embeddings}


def embed_graph(
    graph: Graph, seed: int, *, method: str = "average", undirected: bool = False, **options: Any
) -> Floats:
    """Give a vector of each paper by one of EMBEDDINGS. Raises UsageError for an unknown method.

    ``undirected`` takes the ends of a citation as citing each other, an ablation of SciNCL's; averaging does so anyway.
    """
    if method not in EMBEDDINGS:
        raise UsageError(f"no graph embedding {method!r}", "mining", ", ".join(EMBEDDINGS))
    return EMBEDDINGS[method](graph.undirected() if undirected else graph, seed, **options)
