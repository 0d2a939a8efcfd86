"""Scoring a paper encoder on a paper set: every task that the set has, one embedding function, Score rows.

The encoder is a function ``embed(texts, task, side)``; ``task`` is one of paper_results.FORMATS, ``side`` is
``query`` or ``document``. Tasks are named as in paper_plan.py; what words alone give is in paper_words.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_matrix
from sectioncls.downstream.label_ranking import best_topics, topic_judgements
from sectioncls.downstream.probe import class_scores
from sectioncls.downstream.protocols import PaperProtocol
from sectioncls.downstream.rank import measured_lists
from sectioncls.downstream.retrieve import dense_scorer, pair_similarities, top_documents
from sectioncls.errors import InputError
from sectioncls.papersets import PaperSet, topic_text
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.paper_plan import (
    ClassData,
    NumberData,
    Planned,
    RankingData,
    ReviewerData,
    TopicData,
    class_data,
    number_data,
    reviewer_data,
    topic_data,
)
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.recipes.paper_scoring import (
    LEAST,
    Setting,
    score_classes,
    score_judged,
    score_numbers,
    score_reviewers,
    score_topics,
    score_whole,
    setting,
)

__all__ = ["Embed", "Prepare", "evaluate_papers"]

Vectors: TypeAlias = npt.NDArray[np.float32]

Embed = Callable[[Sequence[str], str, str], npt.NDArray[Any]]
"""``embed(texts, task, side)`` gives one vector a text, (n, dimension)."""

Prepare = Callable[[Sequence[tuple[Sequence[str], str, str]]], None]
"""Told beforehand what ``embed`` will be asked for, as (texts, task, side), to encode it in one go."""

Wanted: TypeAlias = "list[tuple[str, str, Ids]]"


@dataclass(slots=True)
class _Embeddings:
    """Vectors of papers, each made once for each format and side; with ``shared`` once for all of them."""

    embed: Embed
    texts: Sequence[str]
    search_texts: Sequence[str] | None
    shared: bool
    known: dict[str, tuple[Vectors, npt.NDArray[np.bool_]]] = field(default_factory=dict)

    def read(self, task: str, side: str) -> Sequence[str]:
        """The papers as they are read for a task and side."""
        return self.search_texts if task == "search" and side == "document" and self.search_texts else self.texts

    def requests(self, wanted: Wanted) -> list[tuple[Sequence[str], str, str]]:
        """Texts, task and side of papers that are wanted as (task, side, rows), each paper of a pair once."""
        rows: dict[tuple[str, str], list[Ids]] = {}
        for task, side, mine in wanted:
            rows.setdefault((task, side), []).append(mine)
        return [
            ([self.read(task, side)[row] for row in np.unique(np.concatenate(parts))], task, side)
            for (task, side), parts in rows.items()
        ]

    def papers(self, task: str, rows: Ids, side: str = "document") -> Vectors:
        """Vectors (n, dimension) of papers by row."""
        found = self.read(task, side)
        key = "" if self.shared and found is self.texts else f"{task}:{side}"
        wanted = np.unique(rows)
        if key in self.known:
            wanted = wanted[~self.known[key][1][wanted]]
        if len(wanted):
            new = self.of([found[row] for row in wanted], task, side)
            if key not in self.known:
                everything = np.zeros((len(self.texts), new.shape[1]), dtype=np.float32)
                self.known[key] = everything, np.zeros(len(self.texts), dtype=np.bool_)
            self.known[key][0][wanted] = new
            self.known[key][1][wanted] = True
        return self.known[key][0][rows]

    def of(self, texts: Sequence[str], task: str, side: str) -> Vectors:
        """Vectors of other texts: search queries, topics."""
        found = as_matrix(self.embed(texts, task, side)).astype(np.float32)
        if len(found) != len(texts):
            raise InputError(f"{len(texts)} texts but {len(found)} vectors", "embeddings")
        return found


def evaluate_papers(
    papers: PaperSet,
    embed: Embed,
    *,
    name: str,
    protocol: str | PaperProtocol = "default",
    split: str = "test",
    tasks: Collection[str] = (),
    whole: Collection[str] = (),
    separator: str = ". ",
    search_texts: Sequence[str] | None = None,
    least: int = LEAST,
    shared: bool = False,
    prepare: Prepare | None = None,
    observer: Observer = SILENT,
) -> PaperEvaluation:
    """Score an encoder called ``name`` on the tasks of ``papers`` (``tasks`` of plan_tasks, by default all).

    ``separator`` stands between title and abstract, and between a topic's name and its definition;
    ``search_texts`` are all papers as documents of a search, where they differ. ``shared`` says that ``embed``
    heeds neither task nor side, so that each paper is encoded once. ``least`` papers must bear a topic for it to be
    ranked; ``whole`` names rankings over all papers although negatives are judged. ``prepare`` hears all papers that
    will be asked for before the first is. A task that the set holds too little for is left out with a note.
    Raises UsageError and InputError as setting does.
    """
    options: dict[str, Any] = {"protocol": protocol, "split": split, "tasks": tasks, "whole": whole}
    given = setting(papers, name=name, separator=separator, least=least, **options)
    texts = given.texts()
    if search_texts is not None and len(search_texts) != len(texts):
        raise InputError(f"{len(texts)} papers but {len(search_texts)} texts for search", "search texts")
    vectors = _Embeddings(embed, texts, search_texts, shared)
    result = PaperEvaluation()
    data: dict[str, Any] = {}
    for planned in given.tasks:
        with result.attempt(planned.name):
            data[planned.name] = _KINDS[planned.kind].data(given, planned)
    there = [planned for planned in given.tasks if planned.name in data]
    if prepare is not None:
        wanted = [one for planned in there for one in _KINDS[planned.kind].wanted(given, planned, data[planned.name])]
        prepare(vectors.requests(wanted))
    with observer.stage(f"scoring {name}", len(there), "tasks") as advance:
        for planned in there:
            with result.attempt(planned.name):
                _KINDS[planned.kind].score(given, planned, data[planned.name], vectors, result)
            advance(1)
    return result


def _ranking_of(planned: Planned) -> str:
    return "search" if planned.kind == "search" else "proximity"


def _rank_wanted(given: Setting, planned: Planned, data: RankingData) -> Wanted:
    task = _ranking_of(planned)
    documents = np.arange(len(given.table)) if planned.whole else data.judged.document
    asking: Wanted = [] if data.query_rows is None else [(task, "query", data.query_rows)]
    return [*asking, (task, "document", documents)]


def _rank(given: Setting, planned: Planned, data: RankingData, vectors: _Embeddings, result: PaperEvaluation) -> None:
    judged, similarity = data.judged, given.protocol.similarity
    task = _ranking_of(planned)
    if data.query_rows is None:
        queries = vectors.of(data.query_texts, task, "query")
    else:
        queries = vectors.papers(task, data.query_rows, "query")
    if planned.whole:
        documents = vectors.papers(task, np.arange(len(given.table)))
        score_whole(given, planned, data, dense_scorer(queries, documents, similarity), similarity, result)
        return
    rows, places = np.unique(judged.document, return_inverse=True)
    documents = vectors.papers(task, rows)
    scores = pair_similarities(queries, documents, judged.query, places, similarity)
    score_judged(given, planned, data, scores, similarity, result)


def _class(given: Setting, planned: Planned, data: ClassData, vectors: _Embeddings, result: PaperEvaluation) -> None:
    train, test = (vectors.papers("classification", rows) for rows in (data.train, data.test))
    score_classes(given, planned, data, train, test, "linear-svm", result)


def _label(given: Setting, planned: Planned, data: ClassData, vectors: _Embeddings, result: PaperEvaluation) -> None:
    names, ids = data.topics.names, given.ids(data.test)
    papers = vectors.papers("classification", data.test, "query")
    for method, texts in _topic_texts(given, names, data.topics.definitions).items():
        like = given.like(planned, method)
        scorer = dense_scorer(papers, vectors.of(texts, "classification", "document"), given.protocol.similarity)
        if data.multi:
            judged = topic_judgements(ids, np.argwhere(data.test_y > 0), names)
            lists = top_documents(scorer, np.arange(len(ids)), given.order(names), 1)
            result.add_queries(measured_lists(judged, lists, ["p@1"]), like, unit="paper")
        else:
            found = best_topics(scorer, len(ids), names)
            result.scores += class_scores(data.test_y, found, len(names), like=like)
            result.add_predictions(ids, data.test_y, found, like)


def _topics(given: Setting, planned: Planned, data: TopicData, vectors: _Embeddings, result: PaperEvaluation) -> None:
    papers = vectors.papers("classification", data.papers, "query")
    scorers = {
        method: dense_scorer(papers, vectors.of(texts, "classification", "document"), given.protocol.similarity)
        for method, texts in _topic_texts(given, data.names, data.definitions).items()
    }
    score_topics(given, planned, data, scorers, result)


def _regress(given: Setting, planned: Planned, data: NumberData, vectors: _Embeddings, result: PaperEvaluation) -> None:
    train, test = (vectors.papers("regression", rows) for rows in (data.train, data.test))
    score_numbers(given, planned, data, train, test, "linear-svr", result)


def _reviewers(
    given: Setting, planned: Planned, data: ReviewerData, vectors: _Embeddings, result: PaperEvaluation
) -> None:
    found = vectors.papers("proximity", data.rows())
    score_reviewers(given, planned, data, dense_scorer(found, found, "cosine"), "top-3", result)


def _topic_texts(given: Setting, names: Sequence[str], definitions: Sequence[str]) -> dict[str, list[str]]:
    """Topics as text: names, and names with definitions where there are any."""
    ways = {"name": [topic_text(name, "", given.separator) for name in names]}
    if any(definitions):
        pairs = zip(names, definitions, strict=True)
        ways["name+definition"] = [topic_text(name, definition, given.separator) for name, definition in pairs]
    return ways


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of task: its data, which papers it asks for as (task, side, rows), and what scores it."""

    data: Callable[[Setting, Planned], Any]
    wanted: Callable[[Setting, Planned, Any], Wanted]
    score: Callable[[Setting, Planned, Any, _Embeddings, PaperEvaluation], None]


_RANK = _Kind(lambda given, planned: given.ranking(planned), _rank_wanted, _rank)

_KINDS: dict[str, _Kind] = {
    "rank": _RANK,
    "retrieve": _RANK,
    "search": _RANK,
    "class": _Kind(
        lambda given, planned: class_data(given.papers, given.table, planned, given.split),
        lambda given, planned, data: [("classification", "document", np.union1d(data.train, data.test))],
        _class,
    ),
    "label": _Kind(
        lambda given, planned: class_data(given.papers, given.table, planned, given.split),
        lambda given, planned, data: [("classification", "query", data.test)],
        _label,
    ),
    "topics": _Kind(
        lambda given, planned: topic_data(given.papers, given.table, planned, given.split, given.least),
        lambda given, planned, data: [("classification", "query", data.papers)],
        _topics,
    ),
    "regress": _Kind(
        lambda given, planned: number_data(given.papers, given.table, planned, given.split),
        lambda given, planned, data: [("regression", "document", np.union1d(data.train, data.test))],
        _regress,
    ),
    "reviewers": _Kind(
        lambda given, planned: reviewer_data(given.papers, given.table, planned, given.split),
        lambda given, planned, data: [("proximity", "document", data.rows())],
        _reviewers,
    ),
}
