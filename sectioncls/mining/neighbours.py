"""SciNCL's triples: positives and hard negatives are bands of neighbours in the space of the citation graph.

Paper: arXiv 2202.06671, sections 3 and 4: positives are the five neighbours that end at rank 25, hard negatives the two
that end at rank 4000 of 680,967 papers, easy negatives lie outside these neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.mining.bands import Band, check_bands, scaled_bands
from sectioncls.mining.draws import draw_places
from sectioncls.mining.easy import EASY, Around, EasyFrom
from sectioncls.mining.graph import Graph, rows_of
from sectioncls.mining.triples import MiningReport, Triples, collisions, linked
from sectioncls.vectors.topk import top_k_blocks

__all__ = ["Neighbours", "mine_neighbours", "nearest"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest papers of some queries: ``query`` (b,), ``rows`` and their cosines ``scores``, (b, k), best first."""

    query: Rows
    rows: Rows
    scores: Floats


def nearest(
    vectors: npt.ArrayLike, k: int, *, queries: npt.ArrayLike | None = None, candidates: npt.ArrayLike | None = None
) -> Iterator[Neighbours]:
    """Give the ``k`` nearest candidates of each query by cosine, exactly, a block of queries at a time.

    ``queries`` and ``candidates`` are rows of ``vectors`` (default: all). A paper is not its own neighbour. Raises
    InputError where there are fewer than ``k`` others.
    """
    unit = _unit(vectors)
    asked = rows_of(queries, len(unit), "queries")
    offered = rows_of(candidates, len(unit), "candidates")
    itself = np.full(len(unit), -1, dtype=np.int64)
    itself[offered] = np.arange(len(offered))
    for start, scores, places in top_k_blocks(unit[asked], unit[offered], k, exclude=itself[asked]):
        yield Neighbours(asked[start : start + len(scores)], offered[places], scores)


def mine_neighbours(
    graph: Graph,
    vectors: npt.ArrayLike,
    seed: int,
    *,
    bands: tuple[Band, Band] | None = None,
    queries: npt.ArrayLike | None = None,
    candidates: npt.ArrayLike | None = None,
    pool: npt.ArrayLike | None = None,
    easy: int = 3,
    hard: int = 2,
    easy_from: EasyFrom = "filtered",
    thresholds: tuple[float, float] | None = None,
) -> tuple[Triples, MiningReport]:
    """Give ``easy + hard`` triples of each query with one negative each, easy ones first, and their report.

    ``vectors``, (nodes, dimensions), are embeddings of the ``graph``, compared by cosine. The positives are neighbours
    in the first of ``bands`` (default: ``scaled_bands``), the hard negatives neighbours in the second: all of a band
    that is as wide as their count, nearest first, a random choice from a wider one. The i-th positive goes with the
    i-th negative. Neighbours are searched among ``candidates`` for ``queries``; easy negatives come from the candidates
    in ``pool`` (default each: all), in one of the ways of EASY. Papers without a citation have no place in the graph:
    they are no candidates, and as queries they are skipped and counted.

    ``thresholds`` replaces ranks by cosines: positives are the farthest neighbours of at least the first cosine, hard
    negatives the farthest of at least the second, both among the neighbours that the bands reach. A query with too few
    positives is skipped; a hard negative that would be nearer than a positive becomes an easy one; both are counted.

    ``figures`` of the report hold the sampling margin, from the farthest positive to the nearest hard negative, as
    means in ranks and in cosine. Raises InputError for a graph without edges or too small for the bands, UsageError for
    bands that overlap.
    """
    if not graph.edges:
        raise InputError("no citations to mine", "graph", "give papers of which some cite others")
    if easy_from not in EASY:
        raise UsageError(f"no kind of easy negatives {easy_from!r}", "mining", ", ".join(EASY))
    if thresholds is not None and thresholds[0] <= thresholds[1]:
        raise UsageError(f"thresholds {thresholds[0]} and {thresholds[1]} leave no margin", "mining", "fall from first")
    unit, inside = _unit(vectors), graph.connected()
    if len(unit) != graph.nodes:
        raise InputError(f"{len(unit)} vectors for {graph.nodes} papers", "mining")
    asked = rows_of(queries, graph.nodes, "queries")
    query = np.intersect1d(asked, inside, assume_unique=True)
    offered = np.intersect1d(rows_of(candidates, graph.nodes, "candidates"), inside, assume_unique=True)
    count = easy + hard
    if easy < 0 or hard < 0 or not count:
        raise UsageError(f"{easy} easy and {hard} hard negatives make no triple", "mining")
    near, far = bands or scaled_bands(len(offered), positives=count, hard=hard)
    check_bands(near, far, len(offered), positives=count, hard=hard)

    random = np.random.default_rng(seed)
    some = np.intersect1d(rows_of(pool, graph.nodes, "pool"), offered, assume_unique=True)
    fill = EASY[easy_from](unit, some, random)
    parts: list[tuple[Rows, Rows, Rows]] = []
    margins = [np.zeros((0, 2))]
    fallbacks = {"hard negatives that are easy": 0, "triples without negative": 0}
    for block in nearest(unit, far.high, queries=query, candidates=offered):
        if thresholds is None:
            close = _in_band(near, count, len(block.query), random)
            distant = _in_band(far, hard, len(block.query), random)
        else:
            close = _above(block.scores, thresholds[0], count)
            distant = _above(block.scores, thresholds[1], hard)
            distant = np.where(distant > close.max(axis=1, keepdims=True), distant, -1)
            kept = (close >= 0).all(axis=1)
            block = Neighbours(block.query[kept], block.rows[kept], block.scores[kept])
            close, distant = close[kept], distant[kept]
        negatives = np.full((len(block.query), count), -1, dtype=np.int64)
        negatives[:, easy:] = _taken(block.rows, distant)
        fallbacks["hard negatives that are easy"] += int((distant < 0).sum())
        fallbacks["triples without negative"] += fill(Around(block.query, block.rows), negatives)
        parts.append((block.query, _taken(block.rows, close), negatives))
        margins.append(_margins(block.scores, close, distant))
    mined = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    skipped = {"no citations": len(asked) - len(query), "too few positives": len(query) - len(mined)}
    return _account(graph, parts, skipped, fallbacks, np.concatenate(margins))


def _in_band(band: Band, count: int, queries: int, random: np.random.Generator) -> Rows:
    """Give places in a list of neighbours, (queries, count): ranks are places plus one."""
    if band.width == count:
        return np.tile(np.arange(band.low, band.high), (queries, 1))
    return band.low + draw_places(np.full(queries, band.width), count, random)


def _above(scores: Floats, threshold: float, count: int) -> Rows:
    """Give the last ``count`` places with ``threshold`` or more, (b, count); rows of -1 where there are fewer."""
    reached = (scores >= threshold).sum(axis=1)[:, None]
    return np.where(reached >= count, reached - count + np.arange(count), -1)


def _taken(rows: Rows, places: Rows) -> Rows:
    return np.where(places >= 0, np.take_along_axis(rows, np.maximum(places, 0), axis=1), -1)


def _margins(scores: Floats, close: Rows, distant: Rows) -> npt.NDArray[np.float64]:
    """Give ranks and cosines from the farthest positive to the nearest hard negative, where there is one, (m, 2)."""
    if not distant.shape[1]:
        return np.zeros((0, 2))
    first, last = distant.min(axis=1), close.max(axis=1)
    row = np.flatnonzero(first >= 0)
    fall = scores[row, last[row]].astype(np.float64) - scores[row, first[row]]
    return np.stack(((first - last)[row], fall), axis=1)


def _account(
    graph: Graph,
    parts: list[tuple[Rows, Rows, Rows]],
    skipped: dict[str, int],
    fallbacks: dict[str, int],
    margins: npt.NDArray[np.float64],
) -> tuple[Triples, MiningReport]:
    if parts:
        query, positive, negatives = (np.concatenate(column) for column in zip(*parts, strict=True))
    else:
        query, positive, negatives = np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1))
    triples = Triples(np.repeat(query, positive.shape[1]), positive.ravel(), negatives.reshape(-1, 1))
    triples = triples.take(triples.negatives[:, 0] >= 0)
    figures = dict(zip(("rank margin", "cosine margin"), margins.mean(axis=0), strict=True)) if len(margins) else {}
    report = MiningReport(
        "neighbours",
        triples=len(triples),
        queries=int((negatives >= 0).any(axis=1).sum()),
        collisions=collisions(triples, graph.nodes),
        linked=linked(triples, graph.pairs()),
        skipped=skipped,
        fallbacks=fallbacks,
        figures={name: float(value) for name, value in figures.items()},
    )
    return triples, report


def _unit(vectors: npt.ArrayLike) -> Floats:
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise InputError(f"expected a matrix of rows x dimensions, got shape {rows.shape}", "vectors")
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12)), np.float32)
