"""What bands would give, over a grid of them and without training: SciNCL's figures 2 to 4 for a graph of one's own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.bands import Band, check_bands
from sectioncls.mining.graph import Graph, graph_of, rows_of
from sectioncls.mining.neighbours import nearest
from sectioncls.mining.pairset import PairSet
from sectioncls.mining.triples import pair_collisions

__all__ = ["CurvePoint", "curve"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One pair of bands, as ``mine_neighbours`` would draw from them.

    ``collisions`` are pairs that are positive and hard negative of each other; ``linked_positives`` and
    ``linked_negatives`` are shares of the bands' papers that cite or are cited by their query, ``held_positives`` and
    ``held_negatives`` the same by held-out citations (NaN without any); ``cosine_margin`` is the mean fall from the
    farthest positive to the nearest hard negative.
    """

    k_plus: int
    k_minus: int
    collisions: int
    linked_positives: float
    linked_negatives: float
    held_positives: float
    held_negatives: float
    cosine_margin: float


def curve(
    graph: Graph,
    vectors: npt.ArrayLike,
    k_plus: Iterable[int],
    k_minus: Iterable[int],
    *,
    positives: int = 5,
    hard: int = 2,
    queries: npt.ArrayLike | None = None,
    candidates: npt.ArrayLike | None = None,
    held_out: npt.ArrayLike | None = None,
) -> tuple[CurvePoint, ...]:
    """Give a point for each of ``k_plus`` with each of ``k_minus`` whose bands don't overlap, in ascending order.

    Bands end at these ranks and are as wide as their counts; ``queries`` and ``candidates`` are those of
    ``mine_neighbours``, ``held_out`` are citations, (m, 2), that the graph lacks. Raises InputError for a graph without
    edges or too small for the largest rank, UsageError for ranks that are too small for their counts.
    """
    if not graph.edges:
        raise InputError("no citations to judge bands by", "graph", "give papers of which some cite others")
    inside = graph.connected()
    query = np.intersect1d(rows_of(queries, graph.nodes, "queries"), inside, assume_unique=True)
    offered = np.intersect1d(rows_of(candidates, graph.nodes, "candidates"), inside, assume_unique=True)
    near = [Band(k - positives, k) for k in sorted(set(k_plus))]
    far = [Band(k - hard, k) for k in sorted(set(k_minus))]
    pairs = [(close, distant) for close in near for distant in far if close.high <= distant.low]
    if not pairs:
        raise InputError("no two bands that don't overlap", "bands", "give larger ranks of hard negatives")
    for close, distant in pairs:
        check_bands(close, distant, len(offered), positives=positives, hard=hard)

    bands = sorted({band for pair in pairs for band in pair}, key=lambda band: (band.low, band.high))
    papers: dict[Band, list[Rows]] = {band: [] for band in bands}
    edges: dict[Band, list[npt.NDArray[np.float32]]] = {band: [] for band in bands}
    for block in nearest(vectors, bands[-1].high, queries=query, candidates=offered):
        for band in bands:
            papers[band].append(block.rows[:, band.low : band.high])
            edges[band].append(block.scores[:, [band.low, band.high - 1]])
    rows = {band: np.concatenate(parts) for band, parts in papers.items()}
    scores = {band: np.concatenate(parts) for band, parts in edges.items()}
    known = graph.undirected().pairs()
    held = None if held_out is None else graph_of(held_out, graph.nodes).undirected().pairs()
    linked = {band: (_share(known, query, rows[band]), _share(held, query, rows[band])) for band in bands}
    return tuple(
        CurvePoint(
            k_plus=close.high,
            k_minus=distant.high,
            collisions=pair_collisions(query, rows[close], rows[distant], graph.nodes),
            linked_positives=linked[close][0],
            linked_negatives=linked[distant][0],
            held_positives=linked[close][1],
            held_negatives=linked[distant][1],
            cosine_margin=float((scores[close][:, 1].astype(np.float64) - scores[distant][:, 0]).mean()),
        )
        for close, distant in pairs
    )


def _share(links: PairSet | None, query: Rows, papers: Rows) -> float:
    return math.nan if links is None else float(links.has(query[:, None], papers).mean())
