"""What a threshold of cosine, in place of a rank, would leave: SciNCL's figure 5 for a graph of one's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.graph import Graph, rows_of
from sectioncls.mining.neighbours import nearest

__all__ = ["ThresholdPoint", "threshold_points"]


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """One threshold: shares of queries without a neighbour of at least this cosine, and with fewer than ``count``.

    ``neighbours`` is the mean number of such neighbours, ``full`` the share of queries whose ``reach`` nearest all are,
    so that more may be.
    """

    threshold: float
    without: float
    too_few: float
    neighbours: float
    full: float


def threshold_points(
    graph: Graph,
    vectors: npt.ArrayLike,
    thresholds: Iterable[float],
    *,
    count: int = 5,
    reach: int = 1000,
    queries: npt.ArrayLike | None = None,
    candidates: npt.ArrayLike | None = None,
) -> tuple[ThresholdPoint, ...]:
    """Give a point for each threshold, ascending, over the queries that the graph knows.

    Neighbours are counted among the ``reach`` nearest candidates of each query (all, where there are fewer), so that
    time and memory stay bounded. Raises InputError for a graph without edges or without a query in it.

    Paper: arXiv 2202.06671, section 5.3 and figure 5.
    """
    if not graph.edges:
        raise InputError("no citations to judge thresholds by", "graph", "give papers of which some cite others")
    inside = graph.connected()
    query = np.intersect1d(rows_of(queries, graph.nodes, "queries"), inside, assume_unique=True)
    offered = np.intersect1d(rows_of(candidates, graph.nodes, "candidates"), inside, assume_unique=True)
    asked = np.array(sorted(set(thresholds)), dtype=np.float64)
    if not len(query) or len(offered) < 2:
        raise InputError("no query with a candidate that is linked", "thresholds")
    reach = min(reach, len(offered) - int(np.isin(query, offered).any()))
    found = []
    for block in nearest(vectors, reach, queries=query, candidates=offered):
        scores = block.scores.astype(np.float64)
        found.append(np.stack([(scores >= threshold).sum(axis=1) for threshold in asked], axis=1))
    counts = np.concatenate(found)
    return tuple(
        ThresholdPoint(
            threshold=float(threshold),
            without=float((column == 0).mean()),
            too_few=float((column < count).mean()),
            neighbours=float(column.mean()),
            full=float((column == reach).mean()),
        )
        for threshold, column in zip(asked, counts.T, strict=True)
    )
