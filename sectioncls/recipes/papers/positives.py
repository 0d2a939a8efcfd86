"""Who is drawn to whom: the miners by the names that recipes use, with their options, and pairs that need no miner."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import Graph, MiningReport, Triples
from sectioncls.mining.bands import Band, scaled_bands
from sectioncls.mining.citations import RANDOM, SPECTER2_EASY, mine_citations
from sectioncls.mining.clicks import mine_clicks
from sectioncls.mining.embeddings import embed_graph
from sectioncls.mining.linkmetrics import hold_out, link_metrics
from sectioncls.mining.links import mine_links
from sectioncls.mining.neighbours import mine_neighbours
from sectioncls.mining.topics import mine_topics
from sectioncls.papersets.links import cocited, coupled
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import TaskOptions

__all__ = ["link_triples", "one_a_pair", "search_triples", "shared_authors", "tied", "topic_triples"]

Rows = npt.NDArray[np.int64]
Facts = dict[str, Any]

# Papers beyond which a work is too common to tie two of those that cite it.
_BUSIEST = 200
# Citations of a graph that can spare some to be foretold.
_ENOUGH = 100


def link_triples(graph: Graph, material: Material, task: TaskOptions, seed: int) -> tuple[Triples, Facts]:
    """Give triples of citations by the task's mining, and their account. Raises InputError where there are none."""
    if not graph.edges:
        raise InputError("has no citations among its training papers", material.papers.path, f"leave out {task.name}")
    triples, facts = called(_MINING[task.mining], task, graph, material, seed)
    return triples, {"mining": task.mining, **facts}


def topic_triples(material: Material, pairs: Rows, topics: int, task: TaskOptions, seed: int) -> tuple[Triples, Facts]:
    """Give a triple of each (place of a paper, topic), with one topic that the paper lacks where there is one near by.

    Option ``least`` leaves out topics that fewer training papers have; ``hard`` 0 leaves out the negatives.
    """

    def mine(least: int = 1, hard: int = 1) -> tuple[Triples, Facts]:
        kept = np.bincount(pairs[:, 1], minlength=topics)[pairs[:, 1]] >= least
        authors = [material.table.authors[row] for row in material.rows]
        venues = [material.table.venues[row] for row in material.rows]
        triples, report = mine_topics(material.graph(), pairs[kept], topics, seed, authors=authors, venues=venues)
        return _with_hard(triples, hard), {**_account(report), "pairs of rare topics left out": int((~kept).sum())}

    return called(mine, task)  # type: ignore[no-any-return]


def search_triples(material: Material, task: TaskOptions, seed: int) -> tuple[Triples, Rows, Facts]:
    """Give triples of (query's number, paper, a judged paper that is no answer) and all pairs of query and answer.

    Papers are rows of the set. Option ``per_query`` bounds the triples of a query (see mine_clicks), ``hard`` 0 leaves
    out the negatives.
    """
    if "search" not in material.papers.ranking_tasks():
        raise InputError("has no judged searches", material.papers.path, f"leave out {task.name}, or take titles")
    judged = material.papers.qrels("search", *material.learnt_splits)
    worded = np.array([bool(material.found[row]) for row in judged.paper_rows], dtype=bool)
    numbers = {query: number for number, query in enumerate(material.papers.queries().ids)}
    query = np.array([numbers[name] for name in judged.query_ids[worded]], dtype=np.int64)
    paper, score = judged.paper_rows[worded], judged.scores[worded]

    def mine(per_query: int | None = None, hard: int = 1) -> tuple[Triples, MiningReport]:
        triples, report = mine_clicks(query, paper, score, seed, per_query=per_query)
        return _with_hard(triples, hard), report

    triples, report = called(mine, task)
    return triples, np.stack((query[score > 0], paper[score > 0]), axis=1), _account(report)


def tied(material: Material, task: TaskOptions) -> Rows:
    """Give the pairs of training papers that are cited together, or that cite the same, by the graph and the source.

    Option ``least`` (2, 4) says how often; references to works outside the set count for what papers cite.
    """
    edges, splits = material.graph().rows(), material.learnt_splits
    find, usual, given = (cocited, 2, "cocitation") if task.name == "cocite" else (coupled, 4, "coupling")
    if find is coupled:
        outside = material.papers.outside(*splits)
        works = np.stack((material.own(outside.sources), len(material.rows) + outside.works), axis=1)
        edges = np.concatenate((edges, works[works[:, 0] >= 0]))

    def pairs(least: int = usual) -> Rows:
        found = [find(edges, least, busiest=_BUSIEST)[0]]
        if given in material.papers.link_kinds():
            links = material.papers.links(given, *splits)
            own = np.sort(material.own(links.pairs[links.weights >= least]), axis=1)
            found.append(own[own[:, 0] >= 0])
        return np.unique(np.concatenate(found), axis=0)

    return called(pairs, task)  # type: ignore[no-any-return]


def one_a_pair(pairs: Rows, seed: int) -> Triples:
    """Give a triple without negatives of each pair, which of the two asks drawn with ``seed``."""
    turned = np.random.default_rng((seed, 4)).random(len(pairs)) < 0.5
    query, positive = np.where(turned[:, None], pairs[:, ::-1], pairs).T.astype(np.int64)
    return Triples(query, positive, np.zeros((len(pairs), 0), dtype=np.int64))


def shared_authors(authors: Sequence[Sequence[str]], task: TaskOptions, seed: int) -> tuple[Rows, Facts]:
    """Give the pairs of papers with an author in common, (m, 2), the smaller row first, and what was left out.

    Of an author of more than ``each`` papers (option, 20) only so many, drawn, are paired: names that common are
    several people's, and pairs grow with the square.
    """

    def pair(each: int = 20) -> tuple[Rows, Facts]:
        random = np.random.default_rng((seed, 5))
        of: dict[str, list[int]] = {}
        for row, names in enumerate(authors):
            for name in dict.fromkeys(" ".join(name.lower().split()) for name in names):
                of.setdefault(name, []).append(row)
        pairs = [np.zeros((0, 2), dtype=np.int64)]
        common = 0
        for name in sorted(of):
            rows = np.array(of[name], dtype=np.int64)
            if len(rows) > each:
                rows, common = np.sort(random.choice(rows, each, replace=False)), common + 1
            first, second = np.triu_indices(len(rows), 1)
            pairs.append(np.stack((rows[first], rows[second]), axis=1))
        facts = {"authors": len(of), "authors of too many papers, of whom some were drawn": common}
        return np.unique(np.concatenate(pairs), axis=0), facts

    return called(pair, task)  # type: ignore[no-any-return]


def called(function: Callable[..., Any], task: TaskOptions, *arguments: Any) -> Any:
    """Give what ``function`` makes with a task's options.

    Raises UsageError for an option that it does not take, or whose value is of another kind.
    """
    known = [name for name, it in inspect.signature(function).parameters.items() if it.default is not it.empty]
    kinds = get_type_hints(function)
    for name, value in task.options.items():
        if name not in known:
            what = f"the task {task.name} has no option {name!r}"
            raise UsageError(what, todo=f"known: {', '.join(known) or 'none'}")
        try:
            TypeAdapter(kinds[name]).validate_python(value, strict=True)
        except ValidationError as error:
            said = error.errors()[0]["msg"].lower()
            raise UsageError(f"the task {task.name} takes no {name} = {value!r}: {said}") from error
    return function(*arguments, **task.options)


def _specter(
    graph: Graph,
    material: Material,
    seed: int,
    easy: str | Sequence[Any] = RANDOM,
    hard: int = 2,
    bidirectional: bool = False,
    exclude_citing: bool = False,
    fields: str | None = None,
) -> tuple[Triples, Facts]:
    """Mine as SPECTER; ``easy = "specter2"`` heeds the fields of papers, or of the collection that ``fields`` names."""
    kinds: tuple[Any, ...] = (
        SPECTER2_EASY if easy == "specter2" else tuple(easy) if not isinstance(easy, str) else (easy,)
    )
    known = None if all(kind == "random" for kind in kinds) else _fields(material, fields)
    triples, report = mine_citations(
        graph,
        seed,
        easy=kinds,
        hard=hard,
        bidirectional=bidirectional,
        exclude_citing=exclude_citing,
        fields=known,
    )
    return triples, _account(report)


def _fields(material: Material, collection: str | None) -> list[tuple[str, ...]]:
    """Give the fields of study of the training papers. Raises InputError where none has any."""
    if collection is None:
        all_fields = material.table.fields or ((),) * len(material.table)
        fields = [tuple(all_fields[row]) for row in material.rows]
    else:
        topics = material.papers.topics(collection)
        own = material.own(topics.pairs[:, 0])
        found: list[list[str]] = [[] for _ in material.rows]
        for place, topic in zip(own.tolist(), topics.pairs[:, 1].tolist(), strict=True):
            if place >= 0:
                found[place].append(topics.names[topic])
        fields = [tuple(names) for names in found]
    if not any(fields):
        raise InputError("names no fields of its papers", material.papers.path, "name a collection: options.fields")
    return fields


def _scincl(
    graph: Graph,
    material: Material,
    seed: int,
    k_plus: int | None = None,
    k_minus: int | None = None,
    easy: int = 3,
    hard: int = 2,
    easy_from: Any = "filtered",
    width: int | None = None,
    hard_width: int | None = None,
    thresholds: Sequence[float] | None = None,
    embeddings: Mapping[str, Any] | None = None,
) -> tuple[Triples, Facts]:
    """Mine as SciNCL; the bands end at ``k_plus`` and ``k_minus`` (both None: scaled to the graph).

    Bands are as wide as their counts, or ``width`` and ``hard_width`` ranks; ``thresholds`` are two cosines in place of
    ranks (see mine_neighbours).
    """
    if (k_plus is None) != (k_minus is None):
        raise UsageError("bands end at k_plus and k_minus: give both or neither", "mining scincl")
    bands = None
    if k_plus is not None and k_minus is not None:
        bands = Band(k_plus - easy - hard, k_plus), Band(k_minus - hard, k_minus)
    if width is not None or hard_width is not None:
        near, far = bands or scaled_bands(len(graph.connected()), positives=easy + hard, hard=hard)
        bands = Band(near.high - (width or near.width), near.high), Band(far.high - (hard_width or far.width), far.high)
    cosines = None if thresholds is None else (float(thresholds[0]), float(thresholds[1]))
    options = dict(embeddings or {})
    try:
        vectors = embed_graph(graph, seed, **options)
    except TypeError as error:
        raise UsageError(f"graph embeddings: {error}", "mining scincl") from error
    triples, report = mine_neighbours(
        graph, vectors, seed, bands=bands, easy=easy, hard=hard, easy_from=easy_from, thresholds=cosines
    )
    facts = _account(report)
    if graph.edges >= _ENOUGH:
        kept, held = hold_out(graph, seed)
        facts["foretold"] = dataclasses.asdict(
            link_metrics(embed_graph(kept, seed, **options), held, seed, graph=graph)
        )
    return triples, facts


def _scimult(
    graph: Graph,
    material: Material,
    seed: int,
    per_query: int | None = None,
    bidirectional: bool = False,
    exclude_citing: bool = False,
    hard: int = 1,
) -> tuple[Triples, Facts]:
    """Mine as SciMult: every citation with one hard negative, or with ``hard`` 0 with none."""
    triples, report = mine_links(
        graph, seed, per_query=per_query, bidirectional=bidirectional, exclude_citing=exclude_citing
    )
    return _with_hard(triples, hard), _account(report)


def _with_hard(triples: Triples, hard: int) -> Triples:
    """Give the triples with their hard negative (1), or without (0). Raises UsageError for another number."""
    if hard not in (0, 1):
        raise UsageError(f"{hard} hard negatives a pair", "mining", "0 or 1")
    return triples if hard else Triples(triples.query, triples.positive, triples.negatives[:, :0])


def _account(report: MiningReport) -> Facts:
    """Give a miner's report as JSON can hold it, without what is empty."""
    return {key: value for key, value in dataclasses.asdict(report).items() if value or key == "collisions"}


_MINING: Mapping[str, Callable[..., tuple[Triples, Facts]]] = {
    "specter": _specter,
    "scincl": _scincl,
    "scimult": _scimult,
}
