"""Measures of a study that need no training: tables of (papers, seed), by the kind that a recipe names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import (
    EASY,
    Band,
    Graph,
    Triples,
    curve,
    embed_graph,
    hold_out,
    link_metrics,
    mine_citations,
    mine_links,
    mine_neighbours,
    nearest,
    scaled_bands,
    threshold_points,
)
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.positives import called
from sectioncls.recipes.papers.schema import TaskOptions
from sectioncls.recipes.papers.study.schema import MeasureOptions
from sectioncls.recipes.papers.study.tables import Line, MeasuredTable

__all__ = ["MEASURES", "measured"]

Rows = npt.NDArray[np.int64]

# Papers of a set that can spare one citation in a hundred; smaller ones spare one in twenty.
_LARGE = 5000


def measured(measure: MeasureOptions, material: Material, seed: int) -> MeasuredTable:
    """Give the table of one measure. Raises UsageError for an unknown kind or option, InputError where papers lack."""
    if measure.kind not in MEASURES:
        raise UsageError(f"no measure {measure.kind!r}", f"measure {measure.name}", f"known: {', '.join(MEASURES)}")
    task = TaskOptions(name=measure.name, options=measure.options)
    table: MeasuredTable = called(MEASURES[measure.kind], task, material, seed)
    return replace(table, name=measure.name, kind=measure.kind)


def _graph(material: Material) -> Graph:
    graph = material.graph()
    if not graph.edges:
        raise InputError("has no citations among its training papers", material.papers.path)
    return graph


def _bands(
    material: Material,
    seed: int,
    k_plus: Sequence[int] = (5, 10, 25, 50, 100),
    k_minus: Sequence[int] = (30, 60, 120, 280, 500, 1000),
    embeddings: Mapping[str, Any] | None = None,
    share: float | None = None,
) -> MeasuredTable:
    """Collisions and links of SciNCL's bands over a grid of ranks (figures 2 to 4), by held-out citations as well."""
    graph, held = hold_out(_graph(material), seed, share or _share_held(material))
    inside = len(graph.connected())
    near = [k for k in k_plus if 5 <= k < inside - 2]
    far = [k for k in k_minus if k < inside]
    vectors = embed_graph(graph, seed, **dict(embeddings or {}))
    points = curve(graph, vectors, near, far, held_out=held)
    left = [k for k in (*k_plus, *k_minus) if k not in (*near, *far)]
    return MeasuredTable(
        "",
        "",
        "Bands of graph neighbours",
        f"{inside:,} papers with citations, {graph.edges:,} citations, {len(held):,} more held out; bands are as wide "
        "as their counts (5 and 2). Shares of a band's papers that cite or are cited by the query.",
        (
            *("k_plus", "k_minus", "collisions", "linked positives", "linked negatives"),
            *("held-out positives", "held-out negatives", "cosine margin"),
        ),
        tuple(
            (
                *(point.k_plus, point.k_minus, point.collisions, point.linked_positives, point.linked_negatives),
                *(_known(point.held_positives), _known(point.held_negatives), point.cosine_margin),
            )
            for point in points
        ),
        (
            Line("k_minus", "collisions", "k_plus", logarithmic=True),
            Line("k_plus", "linked positives", logarithmic=True),
            Line("k_minus", "linked negatives", "k_plus", logarithmic=True),
        ),
        (f"ranks that the graph is too small for are left out: {', '.join(map(str, left))}",) if left else (),
    )


def _widths(
    material: Material,
    seed: int,
    widths: Sequence[int] = (5, 10, 15, 20, 25),
    seeds: int = 5,
    embeddings: Mapping[str, Any] | None = None,
) -> MeasuredTable:
    """What bands give that are wider than their counts and end at the same ranks, drawn with several seeds."""
    graph = _graph(material)
    near, far = scaled_bands(len(graph.connected()))
    vectors = embed_graph(graph, seed, **dict(embeddings or {}))
    both, rows = graph.undirected().pairs(), []
    some = sorted({min(width, near.high) for width in widths if width >= near.width})
    for width in some:
        bands = Band(near.high - width, near.high), Band(max(near.high, far.high - width), far.high)
        for one in range(seed, seed + seeds):
            triples, report = mine_neighbours(graph, vectors, one, bands=bands)
            hit = float(both.has(triples.query, triples.positive).mean())
            margin = report.figures["cosine margin"]
            rows.append((width, one, report.collisions, hit, report.linked / max(1, len(triples)), margin))
    return MeasuredTable(
        "",
        "",
        "Bands wider than their counts",
        f"Bands that end at ranks {near.high} and {far.high}; of a wider band papers are drawn.",
        ("width", "seed", "collisions", "linked positives", "linked negatives", "cosine margin"),
        tuple(rows),
        (Line("width", "linked positives"), Line("width", "cosine margin")),
    )


def _easy(
    material: Material,
    seed: int,
    ways: Sequence[str] = tuple(EASY),
    seeds: int = 5,
    embeddings: Mapping[str, Any] | None = None,
) -> MeasuredTable:
    """Where easy negatives come from: how many are neighbours or linked, how near they are, how many papers serve."""
    graph = _graph(material)
    bands = scaled_bands(len(graph.connected()))
    vectors = embed_graph(graph, seed, **dict(embeddings or {}))
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    both, drawn = graph.undirected().pairs(), []
    for way in ways:
        for one in range(seed, seed + seeds):
            triples, report = mine_neighbours(graph, vectors, one, bands=bands, easy_from=way)  # type: ignore[arg-type]
            drawn.append((way, one, report.collisions, *_easy_pairs(triples)))
    inside = _inside(vectors, graph.connected(), bands[1].high, [row[3:] for row in drawn])
    rows = []
    for (way, one, collided, query, negative), near in zip(drawn, inside, strict=True):
        cosine = float(np.einsum("ij,ij->i", unit[query], unit[negative], dtype=np.float64).mean())
        used = len(np.unique(negative)) / len(graph.connected())
        rows.append((way, one, collided, float(both.has(query, negative).mean()), near, cosine, used))
    return MeasuredTable(
        "",
        "",
        "Where easy negatives come from",
        f"Three a query, drawn with {seeds} seeds; bands end at ranks {bands[0].high} and {bands[1].high}. "
        "Shares of easy negatives that cite or are cited by the query, that are among its neighbours up to the hard "
        "negatives, their mean cosine in the graph, and the share of papers that ever serve as one.",
        ("from", "seed", "collisions", "linked", "among neighbours", "cosine", "papers used"),
        tuple(rows),
    )


def _easy_pairs(triples: Triples, easy: int = 3) -> tuple[Rows, Rows]:
    """Give query and negative of the easy triples, which are the first of each query; queries ascend."""
    first = np.flatnonzero(np.diff(triples.query, prepend=-1))
    place = np.arange(len(triples)) - np.repeat(first, np.diff(first, append=len(triples)))
    return triples.query[place < easy], triples.negatives[place < easy, 0]


def _inside(vectors: Any, some: Rows, k: int, pairs: Sequence[tuple[Rows, Rows]]) -> list[float]:
    """Give the share of each list of pairs (query ascending, paper) whose paper is among the query's ``k`` nearest."""
    hits = [0] * len(pairs)
    for block in nearest(vectors, k, queries=some, candidates=some):
        for at, (query, paper) in enumerate(pairs):
            start, end = np.searchsorted(query, [block.query[0], block.query[-1] + 1])
            rows = block.rows[np.searchsorted(block.query, query[start:end])]
            hits[at] += int((rows == paper[start:end, None]).any(axis=1).sum())
    return [hit / max(1, len(query)) for hit, (query, _) in zip(hits, pairs, strict=True)]


def _thresholds(
    material: Material,
    seed: int,
    thresholds: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    embeddings: Mapping[str, Any] | None = None,
) -> MeasuredTable:
    """Queries that a threshold of cosine leaves without neighbours (figure 5)."""
    graph = _graph(material)
    vectors = embed_graph(graph, seed, **dict(embeddings or {}))
    points = threshold_points(graph, vectors, thresholds)
    columns = ("threshold", "without neighbours", "fewer than 5", "mean neighbours", "1,000 or more")
    return MeasuredTable(
        "",
        "",
        "Thresholds of similarity",
        f"Shares of {len(graph.connected()):,} queries by neighbours of at least this cosine; these are counted up to "
        "1,000 a query.",
        columns,
        tuple((p.threshold, p.without, p.too_few, p.neighbours, p.full) for p in points),
        (Line("threshold", "without neighbours"), Line("threshold", "fewer than 5")),
    )


def _embeddings(
    material: Material,
    seed: int,
    dimensions: Sequence[int] = (128, 512, 768),
    comparators: Sequence[str] = ("dot", "cosine"),
    directions: Sequence[str] = ("as cited",),
    methods: Sequence[str] = ("ranking", "average"),
    seeds: int = 3,
    epochs: int = 20,
    batch: int = 1000,
    share: float | None = None,
) -> MeasuredTable:
    """How well graph embeddings foretell held-out citations; each seed holds out others, the same for all of a seed."""
    whole, rows = _graph(material), []
    options: dict[str, Any] = {"epochs": epochs, "batch": batch}
    ways = [
        (method, size, comparator, direction)
        for method in methods
        for size in dimensions
        for comparator in (comparators if method == "ranking" else ("cosine",))
        for direction in directions
    ]
    for one in range(seed, seed + seeds):
        kept, held = hold_out(whole, one, share or _share_held(material))
        for method, size, comparator, direction in ways:
            graph = kept.undirected() if direction == "both ways" else kept
            own: dict[str, Any] = {"method": method, "dimensions": size}
            own |= {**options, "comparator": comparator} if method == "ranking" else {}
            vectors = embed_graph(graph, one, **own)
            found = link_metrics(vectors, held, one, graph=kept, cosine=comparator == "cosine")
            rows.append(
                (*(method, size, comparator, direction), one, found.mrr, found.hits_1, found.hits_10, found.auc)
            )
    return MeasuredTable(
        "",
        "",
        "Graph embeddings on held-out citations",
        f"Citations held out with {seeds} seeds, each ranked among 1,000 papers drawn by their citations; "
        f"{epochs} epochs in batches of {batch:,} (ranking). Vectors are compared as they were trained.",
        ("method", "dimensions", "comparator", "citations", "seed", "MRR", "Hits@1", "Hits@10", "AUC"),
        tuple(rows),
        (Line("dimensions", "MRR", "comparator"),),
    )


def _minings(
    material: Material, seed: int, seeds: int = 3, embeddings: Mapping[str, Any] | None = None
) -> MeasuredTable:
    """Four minings of one graph: triples, queries, negatives that are linked with their query, collisions."""
    graph, rows = _graph(material), []
    vectors = embed_graph(graph, seed, **dict(embeddings or {}))
    for one in range(seed, seed + seeds):
        found = {
            "specter": mine_citations(graph, one),
            "specter, exclude citing": mine_citations(graph, one, exclude_citing=True),
            "specter, both ways": mine_citations(graph, one, bidirectional=True),
            "scincl": mine_neighbours(graph, vectors, one),
            "scimult": mine_links(graph, one),
        }
        for name, (triples, report) in found.items():
            share = report.queries / graph.nodes
            linked = report.linked / max(1, len(triples))
            fallen = sum(report.fallbacks.values()) / max(1, len(triples))
            rows.append((name, one, len(triples), share, linked, report.collisions, fallen))
    return MeasuredTable(
        "",
        "",
        "Minings of one graph",
        f"{graph.nodes:,} papers, {graph.edges:,} citations. Share of papers that are a query, of negatives that cite "
        "or are cited by their query, pairs that are drawn together and pushed apart, and fallbacks a triple.",
        ("mining", "seed", "triples", "queries", "linked negatives", "collisions", "fallbacks"),
        tuple(rows),
    )


def _overlap(material: Material, seed: int) -> MeasuredTable:
    """What is judged on test and learnt from: papers and judged pairs, inductive and with everything learnt."""
    test = set(material.table.rows("test").tolist())
    rows = []
    for name, splits in (("train only", ("train",)), ("everything", ("train", "dev", "test"))):
        learnt = set(material.table.rows(*splits).tolist())
        edges = {tuple(sorted(edge)) for edge in material.papers.citations(*splits).tolist()}
        rows.append((name, "papers", len(test), len(test & learnt) / max(1, len(test))))
        for task in material.papers.ranking_tasks():
            judged = material.papers.qrels(task, "test")
            if judged.query_rows is None:
                continue
            pairs = zip(judged.query_rows.tolist(), judged.paper_rows.tolist(), judged.scores.tolist(), strict=True)
            good = [tuple(sorted((query, paper))) for query, paper, score in pairs if score > 0]
            rows.append((name, f"pairs of {task}", len(good), sum(pair in edges for pair in good) / max(1, len(good))))
    return MeasuredTable(
        "",
        "",
        "What is judged and learnt from",
        "Test papers, and the answers of test queries that are citations which training sees.",
        ("learnt from", "what", "number", "share"),
        tuple(rows),
    )


def _domains(material: Material, seed: int, by: str = "fields", most: int = 25) -> MeasuredTable:
    """Domains of the papers by split: fields, venues, or the topics of a collection; a paper may have several."""
    table = material.table
    if by == "venue":
        named: list[tuple[str, ...]] = [(venue,) if venue else () for venue in table.venues]
    elif by == "fields":
        named = [tuple(fields) for fields in (table.fields or ((),) * len(table))]
    else:
        topics = material.papers.topics(by)
        found: list[list[str]] = [[] for _ in range(len(table))]
        for paper, topic in topics.pairs.tolist():
            found[paper].append(topics.names[topic])
        named = [tuple(names) for names in found]
    if not any(named):
        raise InputError(f"names no {by} of its papers", material.papers.path, "name a collection: options.by")
    splits = ("train", "dev", "test")
    counts = {split: Counter(name for row in table.rows(split) for name in named[row]) for split in splits}
    papers = {split: max(1, len(table.rows(split))) for split in splits}
    order = sorted(sum(counts.values(), Counter()).items(), key=lambda item: (-item[1], item[0]))
    rows = [(name, total, *(counts[split][name] / papers[split] for split in splits)) for name, total in order[:most]]
    without = sum(not names for names in named)
    notes = [f"{len(order) - most} rarer ones are left out"] if len(order) > most else []
    notes += [f"{without} papers have none"] if without else []
    return MeasuredTable(
        "",
        "",
        f"Domains: {by}",
        "Papers, and the share of each split's papers that belong to a domain.",
        ("domain", "papers", *splits),
        tuple(rows),
        notes=tuple(notes),
    )


def _share_held(material: Material) -> float:
    return 0.01 if len(material.rows) >= _LARGE else 0.05


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


MEASURES: Mapping[str, Callable[..., MeasuredTable]] = {
    "bands": _bands,
    "widths": _widths,
    "easy": _easy,
    "thresholds": _thresholds,
    "embeddings": _embeddings,
    "minings": _minings,
    "overlap": _overlap,
    "domains": _domains,
}
