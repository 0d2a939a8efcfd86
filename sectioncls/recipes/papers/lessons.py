"""From a task's name to what is learnt: texts in triples, or texts with labels or numbers. No encoder yet.

=================  =================  ==================================================================================
name               route              what is drawn together, or foretold
=================  =================  ==================================================================================
links              proximity          a paper and what it cites, mined as SPECTER, SciNCL or SciMult do
cocite, couple     proximity          papers that are cited together; papers that cite the same
authors            proximity          papers that share an author
topics:COLLECTION  classification     a paper and the texts of its topics
class:COLLECTION   classification     a paper's topics by a linear head: cross-entropy, or binary where it has several
year, citations    regression         a number by a linear head, standardised on train; target:NAME is any other
search             search             a query and its answers; judged papers that are none are hard negatives
titles             search             a title and the abstract below it, for sets that no one has searched
mlm                proximity          masked words of a paper, by a head over the vocabulary (masked.py)
graph              proximity          a paper's graph embedding, by a linear head: SciNCL's student and teacher
oracle             proximity          what dev and test judge itself: an upper bound
=================  =================  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.losses import HeadLoss
from sectioncls.mining import Triples
from sectioncls.papersets import topic_texts
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.positives import (
    link_triples,
    one_a_pair,
    search_triples,
    shared_authors,
    tied,
    topic_triples,
)
from sectioncls.recipes.papers.schema import TaskOptions
from sectioncls.recipes.papers.study.lessons import oracle_triples, teacher_vectors

__all__ = [
    "Contrast",
    "Foretold",
    "Lesson",
    "Masked",
    "kind_of",
    "lesson_of",
    "number_of",
    "route_of_task",
    "standardised",
    "topic_targets",
]

Rows = npt.NDArray[np.int64]

# Kinds of tasks that take options.
_WITH_OPTIONS = ("links", "topics", "cocite", "couple", "authors", "search", "graph", "oracle")
# Entries of a matrix papers x topics that a head of several labels may learn from.
_ENTRIES = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Triples of texts: ``query`` counts into ``queries``, ``positive`` and ``negatives`` into ``documents``.

    ``known`` (m, 2) are all pairs (query, document) that belong together, whether they stand in a triple or not.
    ``papers`` says of queries and documents whether they are papers, which count in a budget. ``facts`` is the account
    of how the triples were made.
    """

    name: str
    route: str
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    triples: Triples
    known: Rows
    papers: tuple[bool, bool] = (True, True)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Foretold:
    """Texts with ``targets``: class ids (n,), a matrix (n, outputs) of 0 and 1 or of numbers, or numbers (n,)."""

    name: str
    route: str
    texts: tuple[str, ...]
    targets: npt.NDArray[Any]
    loss: HeadLoss
    outputs: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """Texts whose masked words are to be told (BERT's pre-training task, arXiv 1810.04805, section 3.1)."""

    name: str
    route: str
    texts: tuple[str, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)


Lesson: TypeAlias = Contrast | Foretold | Masked


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of task: its route, whether its name ends in one of the set's, and what makes the lesson."""

    route: str
    named: bool
    lesson: Callable[[Material, TaskOptions, str, int], Lesson]


def lesson_of(material: Material, task: TaskOptions, seed: int) -> Lesson:
    """Give what ``task`` teaches on the training papers; everything drawn comes from ``seed``.

    Raises UsageError for an unknown task, InputError where the set has nothing for it.
    """
    kind, rest = kind_of(task.name)
    if task.options and kind not in _WITH_OPTIONS:
        raise UsageError(f"the task {task.name} takes no options", todo="leave them out")
    lesson = _KINDS[kind].lesson(material, task, rest, seed)
    return lesson if task.route is None else replace(lesson, route=task.route)


def route_of_task(name: str) -> str:
    """Give the route of a task by its name. Raises UsageError for an unknown one."""
    return _KINDS[kind_of(name)[0]].route


def kind_of(name: str) -> tuple[str, str]:
    """Give a task's kind and what stands behind the colon. Raises UsageError for an unknown one."""
    kind, _, rest = name.partition(":")
    if kind not in _KINDS or _KINDS[kind].named != bool(rest):
        known = [f"{key}:NAME" if value.named else key for key, value in _KINDS.items()]
        raise UsageError(f"no such task {name!r}", todo=f"known: {', '.join(known)}")
    return kind, rest


def topic_targets(material: Material, collection: str, rows: Rows) -> tuple[Rows, npt.NDArray[Any], HeadLoss, int]:
    """Give those of ``rows`` that have topics, their targets, the loss that these need, and the number of topics.

    One topic for each training paper makes class ids, else the targets are a matrix of 0 and 1. Topics that no training
    paper has are not counted. Raises InputError for a collection that is too large, or has one topic only.
    """
    topics = material.papers.topics(collection)
    train = topics.pairs[material.own(topics.pairs[:, 0]) >= 0]
    known = np.unique(train[:, 1])
    if len(known) < 2:
        raise InputError(f"has {len(known)} topics of {collection} among its training papers", material.papers.path)
    if len(known) * len(rows) > _ENTRIES:
        what = f"{len(known)} topics of {collection} are too many for a head"
        raise InputError(what, material.papers.path, f"take topics:{collection}")
    single = bool(np.bincount(train[:, 0]).max() == 1)
    pairs = topics.pairs[np.isin(topics.pairs[:, 0], rows) & np.isin(topics.pairs[:, 1], known)]
    own = np.unique(pairs[:, 0])
    matrix = np.zeros((len(own), len(known)), dtype=np.float32)
    matrix[np.searchsorted(own, pairs[:, 0]), np.searchsorted(known, pairs[:, 1])] = 1
    return (own, matrix.argmax(1), "ce", len(known)) if single else (own, matrix, "bce", len(known))


def number_of(material: Material, name: str) -> npt.NDArray[np.float64]:
    """Give a number of every paper, NaN where unknown; counts (``citations``) as log(1 + n).

    ``citations`` is the first target whose name speaks of citations. Raises InputError where the set has none.
    """
    kind, rest = kind_of(name)
    if kind == "year":
        years = material.table.years.astype(np.float64)
        return np.where(years >= 0, years, np.nan)
    names = material.papers.target_names()
    found = rest or next((target for target in names if "cit" in target.lower()), "citations")
    values = material.papers.targets(found)
    counted = kind == "citations" and "log" not in found.lower()
    return np.log1p(values) if counted else values


def standardised(values: npt.NDArray[np.float64], rows: Rows) -> tuple[npt.NDArray[np.float64], float, float]:
    """Give the values less the mean of those of ``rows``, over their deviation; and these two."""
    known = values[rows]
    known = known[~np.isnan(known)]
    mean, deviation = float(known.mean()), float(known.std())
    return (values - mean) / (deviation or 1.0), mean, deviation


def _links(material: Material, task: TaskOptions, _: str, seed: int) -> Contrast:
    graph = material.graph()
    triples, facts = link_triples(graph, material, task, seed)
    edges = graph.rows()
    return _papers(material, task, triples, np.concatenate((edges, edges[:, ::-1])), facts, seed)


def _together(material: Material, task: TaskOptions, _: str, seed: int) -> Contrast:
    edges, pairs = material.graph().rows(), tied(material, task)
    triples = one_a_pair(pairs, seed)
    known = np.concatenate((edges, edges[:, ::-1], pairs, pairs[:, ::-1]))
    return _papers(material, task, triples, known, {"pairs": len(pairs)}, seed)


def _authors(material: Material, task: TaskOptions, _: str, seed: int) -> Contrast:
    pairs, facts = shared_authors([material.table.authors[row] for row in material.rows], task, seed)
    triples = one_a_pair(pairs, seed)
    return _papers(material, task, triples, np.concatenate((pairs, pairs[:, ::-1])), facts, seed)


def _papers(
    material: Material, task: TaskOptions, triples: Triples, known: Rows, facts: Mapping[str, Any], seed: int
) -> Contrast:
    """Give a lesson of papers on both sides."""
    texts = material.learnt_texts()
    triples = _capped(triples, material, task, seed)
    facts = {**facts, "triples": len(triples)}
    return Contrast(task.name, route_of_task(task.name), texts, texts, triples, known, facts=facts)


def _topics(material: Material, task: TaskOptions, collection: str, seed: int) -> Contrast:
    topics = material.papers.topics(collection)
    own = material.own(topics.pairs[:, 0])
    pairs = np.stack((own, topics.pairs[:, 1]), axis=1)[own >= 0]
    borne = len(np.unique(pairs[:, 1]))
    if borne < 2:
        raise InputError(f"has {borne} topics of {collection} among its training papers", material.papers.path)
    triples, facts = topic_triples(material, pairs, len(topics.names), task, seed)
    triples = _capped(triples, material, task, seed)
    options = material.options
    return Contrast(
        name=task.name,
        route="classification",
        queries=material.learnt_texts(),
        documents=tuple(topic_texts(topics, options.separator, definitions=options.definitions)),
        triples=triples,
        known=pairs,
        papers=(True, False),
        facts={**facts, "triples": len(triples), "topics": len(topics.names)},
    )


def _class(material: Material, task: TaskOptions, collection: str, seed: int) -> Foretold:
    rows, targets, loss, outputs = topic_targets(material, collection, material.rows)
    kept = _some(len(rows), task.cap, seed)
    texts = tuple(material.learnt[row] for row in rows[kept])
    facts = {"papers": len(kept), "topics": outputs, "loss": loss}
    return Foretold(task.name, "classification", texts, targets[kept], loss, outputs, facts)


def _number(material: Material, task: TaskOptions, _: str, seed: int) -> Foretold:
    values = number_of(material, task.name)
    rows = material.rows[~np.isnan(values[material.rows])]
    if len(rows) < 2:
        raise InputError(f"knows no {task.name} of its training papers", material.papers.path, f"leave out {task.name}")
    scaled, mean, deviation = standardised(values, rows)
    kept = rows[_some(len(rows), task.cap, seed)]
    texts = tuple(material.learnt[row] for row in kept)
    facts = {"papers": len(kept), "mean": mean, "deviation": deviation}
    return Foretold(task.name, "regression", texts, scaled[kept].astype(np.float32), "mse", 1, facts)


def _search(material: Material, task: TaskOptions, _: str, seed: int) -> Contrast:
    asked = material.papers.queries()
    triples, known, facts = search_triples(material, task, seed)
    triples = _capped(triples, material, task, seed)
    facts = {**facts, "triples": len(triples)}
    return Contrast(task.name, "search", asked.texts, material.found, triples, known, papers=(False, True), facts=facts)


def _titles(material: Material, task: TaskOptions, _: str, seed: int) -> Contrast:
    titles, abstracts = (
        tuple(texts[row].strip() for row in material.rows)
        for texts in (material.table.titles, material.table.abstracts)
    )
    both = np.array([bool(title and abstract) for title, abstract in zip(titles, abstracts, strict=True)], dtype=bool)
    rows = np.flatnonzero(both).astype(np.int64)
    triples = Triples(rows, rows, np.zeros((len(rows), 0), dtype=np.int64))
    triples = _capped(triples, material, task, seed)
    known = np.stack((rows, rows), axis=1)
    facts = {"triples": len(triples)}
    return Contrast(task.name, "search", titles, abstracts, triples, known, papers=(False, True), facts=facts)


def _taught(material: Material, task: TaskOptions, _: str, seed: int) -> Foretold:
    rows, targets, facts = teacher_vectors(material, task, seed)
    kept = _some(len(rows), task.cap, seed)
    texts = tuple(material.learnt[row] for row in material.rows[rows[kept]])
    facts = {**facts, "papers": len(kept)}
    return Foretold(task.name, "proximity", texts, targets[kept], "vector", targets.shape[1], facts)


def _masked(material: Material, task: TaskOptions, _: str, seed: int) -> Masked:
    texts = tuple(material.learnt[row] for row in material.rows[_some(len(material.rows), task.cap, seed)])
    return Masked(task.name, "proximity", texts, {"papers": len(texts)})


def _oracle(material: Material, task: TaskOptions, _: str, seed: int) -> Contrast:
    triples, known, facts = oracle_triples(material, task, seed)
    return _papers(material, task, triples, known, facts, seed)


def _capped(triples: Triples, material: Material, task: TaskOptions, seed: int) -> Triples:
    """Give what a cap leaves of the triples. Raises InputError where there is none."""
    if not len(triples):
        raise InputError(f"holds nothing to learn {task.name} from", material.papers.path, f"leave out {task.name}")
    return triples.take(_some(len(triples), task.cap, seed))


def _some(count: int, cap: int | None, seed: int) -> Rows:
    """Give the rows that a cap leaves, in order."""
    if cap is None or count <= cap:
        return np.arange(count, dtype=np.int64)
    return np.sort(np.random.default_rng((seed, 1)).choice(count, cap, replace=False)).astype(np.int64)


_KINDS: dict[str, _Kind] = {
    "links": _Kind("proximity", False, _links),
    "cocite": _Kind("proximity", False, _together),
    "couple": _Kind("proximity", False, _together),
    "authors": _Kind("proximity", False, _authors),
    "topics": _Kind("classification", True, _topics),
    "class": _Kind("classification", True, _class),
    "year": _Kind("regression", False, _number),
    "citations": _Kind("regression", False, _number),
    "target": _Kind("regression", True, _number),
    "search": _Kind("search", False, _search),
    "titles": _Kind("search", False, _titles),
    "mlm": _Kind("proximity", False, _masked),
    "graph": _Kind("proximity", False, _taught),
    "oracle": _Kind("proximity", False, _oracle),
}
