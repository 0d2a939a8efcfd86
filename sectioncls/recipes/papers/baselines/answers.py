"""What a fitted baseline answers on each kind of task: Score rows beside those of words and encoders.

Rows have no encoder; their method is the baseline's name, and behind a hyphen how it answers: ``doc2vec``,
``doc2vec-linear-svm``, ``doc2vec-name+match``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.label_ranking import best_topics, topic_judgements
from sectioncls.downstream.probe import class_scores
from sectioncls.downstream.rank import measured_lists
from sectioncls.downstream.retrieve import Scorer, dense_scorer, pair_scores, top_documents
from sectioncls.downstream.words import TextEmbedder
from sectioncls.papersets import topic_text
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.paper_plan import Planned, class_data, number_data, reviewer_data, topic_data
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.recipes.paper_scoring import (
    Setting,
    score_classes,
    score_judged,
    score_numbers,
    score_reviewers,
    score_topics,
    score_whole,
)

__all__ = ["Fitted", "evaluate_baseline"]


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A baseline that has been learnt: what is None it can't answer with, and gets no row there.

    ``vectors`` are unit rows of all papers of the set, (papers, dimensions); ``embed`` turns other texts (queries,
    topics) into rows beside them; ``rank`` gives a scorer of query papers (by row) against all papers in place of
    vectors. ``linked`` (papers,) says which papers have a citation that was learnt from, for baselines that read the
    graph. ``facts`` is the account of the training.
    """

    vectors: npt.NDArray[np.float32] | None = None
    embed: TextEmbedder | None = None
    rank: Callable[[Ids], Scorer] | None = None
    linked: npt.NDArray[np.bool_] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def evaluate_baseline(
    given: Setting, name: str, fitted: Fitted, *, seed: int = 0, observer: Observer = SILENT
) -> PaperEvaluation:
    """Score a baseline called ``name`` on the tasks of ``given``; ``seed`` is that of its training.

    Similarity is the cosine. A task that it has no answer to is left out with a note, and so is one that the set holds
    too little for; papers that a graph says nothing of are counted.
    """
    result, plain = PaperEvaluation(), replace(given, name="")
    if fitted.linked is not None:
        rows = given.table.rows(given.split)
        bare = int((~fitted.linked[rows]).sum())
        if bare:
            papers = f"{bare} of {len(rows)} {given.split} papers"
            result.note(f"{name}: {papers} have no citation that may be learnt from; the graph says nothing of them")
    silent: list[str] = []
    with observer.stage(f"scoring {name}", len(given.tasks), "tasks") as advance:
        for planned in given.tasks:
            with result.attempt(planned.name):
                if not _TASKS[planned.kind](plain, planned, name, fitted, result):
                    silent.append(planned.name)
            advance(1)
    if silent:
        result.note(f"{name} has no answer to {', '.join(silent)}")
    result.scores[:] = [replace(score, seed=seed) for score in result.scores]
    return result


def _rank(given: Setting, planned: Planned, name: str, fitted: Fitted, result: PaperEvaluation) -> bool:
    data = given.ranking(planned)
    if data.query_rows is None:
        if fitted.embed is None or fitted.vectors is None:
            return False
        scorer = dense_scorer(fitted.embed(data.query_texts), fitted.vectors)
    elif fitted.rank is not None:
        scorer = fitted.rank(data.query_rows)
    elif fitted.vectors is not None:
        scorer = dense_scorer(fitted.vectors[data.query_rows], fitted.vectors)
    else:
        return False
    if planned.whole:
        score_whole(given, planned, data, scorer, name, result)
    else:
        scores = pair_scores(scorer, data.judged.query, data.judged.document, len(given.table))
        score_judged(given, planned, data, scores, name, result)
    return True


def _class(given: Setting, planned: Planned, name: str, fitted: Fitted, result: PaperEvaluation) -> bool:
    if fitted.vectors is None:
        return False
    data = class_data(given.papers, given.table, planned, given.split)
    train, test = (fitted.vectors[rows] for rows in (data.train, data.test))
    score_classes(given, planned, data, train, test, f"{name}-linear-svm", result)
    return True


def _label(given: Setting, planned: Planned, name: str, fitted: Fitted, result: PaperEvaluation) -> bool:
    if fitted.vectors is None or fitted.embed is None:
        return False
    data = class_data(given.papers, given.table, planned, given.split)
    names, ids = data.topics.names, given.ids(data.test)
    for way, texts in _topic_texts(given, names, data.topics.definitions).items():
        like = given.like(planned, f"{name}-{way}")
        scorer = dense_scorer(fitted.vectors[data.test], fitted.embed(texts))
        if data.multi:
            judged = topic_judgements(ids, np.argwhere(data.test_y > 0), names)
            lists = top_documents(scorer, np.arange(len(ids)), given.order(names), 1)
            result.add_queries(measured_lists(judged, lists, ["p@1"]), like, unit="paper")
        else:
            found = best_topics(scorer, len(ids), names)
            result.scores += class_scores(data.test_y, found, len(names), like=like)
            result.add_predictions(ids, data.test_y, found, like)
    return True


def _topics(given: Setting, planned: Planned, name: str, fitted: Fitted, result: PaperEvaluation) -> bool:
    if fitted.vectors is None or fitted.embed is None:
        return False
    data = topic_data(given.papers, given.table, planned, given.split, given.least)
    papers, embed = fitted.vectors[data.papers], fitted.embed
    ways = _topic_texts(given, data.names, data.definitions)
    scorers = {f"{name}-{way}": dense_scorer(papers, embed(texts)) for way, texts in ways.items()}
    score_topics(given, planned, data, scorers, result)
    return True


def _regress(given: Setting, planned: Planned, name: str, fitted: Fitted, result: PaperEvaluation) -> bool:
    if fitted.vectors is None:
        return False
    data = number_data(given.papers, given.table, planned, given.split)
    train, test = (fitted.vectors[rows] for rows in (data.train, data.test))
    score_numbers(given, planned, data, train, test, f"{name}-linear-svr", result)
    return True


def _reviewers(given: Setting, planned: Planned, name: str, fitted: Fitted, result: PaperEvaluation) -> bool:
    if fitted.vectors is None:
        return False
    data = reviewer_data(given.papers, given.table, planned, given.split)
    found = fitted.vectors[data.rows()]
    score_reviewers(given, planned, data, dense_scorer(found, found), name, result)
    return True


def _topic_texts(given: Setting, names: tuple[str, ...], definitions: tuple[str, ...]) -> dict[str, list[str]]:
    """Give topics as text: names, and names with definitions where there are any."""
    ways = {"name": list(names)}
    if any(definitions):
        pairs = zip(names, definitions, strict=True)
        ways["name+definition"] = [topic_text(name, definition, given.separator) for name, definition in pairs]
    return ways


_TASKS: dict[str, Callable[[Setting, Planned, str, Fitted, PaperEvaluation], bool]] = {
    "rank": _rank,
    "retrieve": _rank,
    "search": _rank,
    "class": _class,
    "label": _label,
    "topics": _topics,
    "regress": _regress,
    "reviewers": _reviewers,
}
