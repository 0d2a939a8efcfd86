"""How well vectors of papers foretell citations that they were not made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.graph import Graph, graph_of

__all__ = ["LinkMetrics", "hold_out", "link_metrics"]

Rows = npt.NDArray[np.int64]

# Held-out citations that are scored at a time.
BLOCK = 1024


@dataclass(frozen=True, slots=True)
class LinkMetrics:
    """Mean reciprocal rank, share of ranks 1 and up to 10, area under the ROC curve; over ``edges`` citations."""

    mrr: float
    hits_1: float
    hits_10: float
    auc: float
    edges: int


def hold_out(graph: Graph, seed: int, share: float = 0.01) -> tuple[Graph, Rows]:
    """Give the graph without a random ``share`` of its citations (one at least), and these, (m, 2).

    Raises InputError for a graph of fewer than two citations.
    """
    if graph.edges < 2:
        raise InputError(f"{graph.edges} citations can't be parted into two", "graph")
    edges = graph.rows()
    count = min(graph.edges - 1, max(1, round(share * graph.edges)))
    held = np.zeros(graph.edges, dtype=np.bool_)
    held[np.random.default_rng(seed).choice(graph.edges, count, replace=False)] = True
    return graph_of(edges[~held], graph.nodes), edges[held]


def link_metrics(
    vectors: npt.ArrayLike,
    held_out: npt.ArrayLike,
    seed: int,
    *,
    graph: Graph,
    negatives: int = 1000,
    drawn: Literal["uniform", "by degree"] = "by degree",
    cosine: bool = True,
) -> LinkMetrics:
    """Rank each citation of ``held_out``, (m, 2), among corruptions of its citing and of its cited end.

    The ends are replaced by ``negatives`` papers drawn once from those with a citation in ``graph``, evenly or in
    proportion to their citations: with even ones a method scores that only knows who is popular. Papers that are linked
    in ``graph`` or ``held_out`` are no negatives. Scores are cosines, or dot products; equal ones share their rank.
    Raises InputError for vectors that don't fit the graph or without held-out citations.
    """
    rows, held = np.asarray(vectors, dtype=np.float32), np.asarray(held_out, dtype=np.int64).reshape(-1, 2)
    if rows.ndim != 2 or len(rows) != graph.nodes:
        raise InputError(f"vectors of shape {rows.shape} for {graph.nodes} papers", "link metrics")
    if not len(held):
        raise InputError("no held-out citations", "link metrics")
    if cosine:
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    degrees = (graph.cited + graph.citing).astype(np.float64)
    weight = degrees if drawn == "by degree" else (degrees > 0).astype(np.float64)
    drawn_rows = np.random.default_rng(seed).choice(graph.nodes, negatives, p=weight / weight.sum())
    known = graph_of(np.concatenate((graph.rows(), held)), graph.nodes).undirected().pairs()

    ranks, beaten = [], []
    for kept, replaced in ((held[:, 0], held[:, 1]), (held[:, 1], held[:, 0])):
        for start in range(0, len(held), BLOCK):
            query, true = kept[start : start + BLOCK], replaced[start : start + BLOCK]
            # In double: one sum of products here, many there, and equal vectors must tie.
            score = np.einsum("ij,ij->i", rows[query], rows[true], dtype=np.float64)[:, None]
            others = rows[query].astype(np.float64) @ rows[drawn_rows].astype(np.float64).T
            fair = ~known.has(query[:, None], drawn_rows[None, :]) & (drawn_rows[None, :] != query[:, None])
            close = np.isclose(others, score, rtol=0, atol=1e-9)
            above = ((others > score) & ~close & fair).sum(axis=1) + 0.5 * (close & fair).sum(axis=1)
            ranks.append(1 + above)
            beaten.append(1 - above / np.maximum(fair.sum(axis=1), 1))
    rank = np.concatenate(ranks)
    return LinkMetrics(
        mrr=float((1 / rank).mean()),
        hits_1=float((rank <= 1).mean()),
        hits_10=float((rank <= 10).mean()),
        auc=float(np.concatenate(beaten).mean()),
        edges=len(held),
    )
