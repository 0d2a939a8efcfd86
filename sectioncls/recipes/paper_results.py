"""What an evaluation of papers leaves: Score rows, the value of each query, predictions, and means over tasks."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.papertasks import paper_task
from sectioncls.downstream.rank import QueryValues, query_scores
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = [
    "BENCHMARK",
    "FORMATS",
    "PaperEvaluation",
    "format_of_task",
    "main_scores",
    "standing_scores",
    "system_of",
    "task_means",
]

BENCHMARK = "scirepeval"
"""What names of tasks of that benchmark begin with."""

FORMATS = ("classification", "regression", "proximity", "search")

_FORMATS = {
    "class": "classification",
    "label": "classification",
    "topics": "classification",
    "regress": "regression",
    "rank": "proximity",
    "retrieve": "proximity",
    "reviewers": "proximity",
    "search": "search",
}

# The metric that stands for a task of each kind, where the task has several.
_MAIN = {
    "class": ("f1-binary", "f1-macro"),
    "label": ("f1-macro", "p@1"),
    "topics": ("recall@20",),
    "regress": ("tau",),
    "rank": ("map",),
    "retrieve": ("recall@20",),
    "reviewers": ("tau",),
    "search": ("ndcg@10", "ndcg"),
}

# Where one system answers a task in several ways, that with the first of these in its method stands for it.
_WAYS = ("+definition+match", "+match", "+definition", "")


@dataclass(slots=True)
class PaperEvaluation:
    """Score rows and what they were counted from.

    ``query_scores`` are the columns ``task metric query encoder method value``, one row a query, for paired tests;
    ``predictions`` are ``task paper encoder method truth predicted``, class numbers or values as float64 (-1 or NaN
    never occur). ``notes`` say what was left out and why, with counts.
    """

    scores: list[Score] = field(default_factory=list)
    query_scores: dict[str, list[Any]] = field(default_factory=dict)
    predictions: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_queries(self, values: QueryValues, like: Score, *, unit: str = "query", seed: int = 0) -> None:
        """Add the values of queries: their means as Score rows, and one row for each query that has a value."""
        self.scores += query_scores(values, like=like, unit=unit, seed=seed)
        self.add_values(values, like)

    def add_values(self, values: QueryValues, like: Score) -> None:
        """Add one row for each query that has a value, whose means are Score rows already."""
        for metric, found in values.values.items():
            known = np.flatnonzero(~np.isnan(found))
            _extend(
                self.query_scores,
                len(known),
                task=like.task,
                metric=metric,
                query=[values.query_ids[row] for row in known],
                encoder=like.encoder,
                method=like.method,
                value=found[known].tolist(),
            )

    def add_predictions(self, ids: Sequence[str], truth: npt.ArrayLike, predicted: npt.ArrayLike, like: Score) -> None:
        """Add what was predicted for papers, beside the truth."""
        _extend(
            self.predictions,
            len(ids),
            task=like.task,
            paper=list(ids),
            encoder=like.encoder,
            method=like.method,
            truth=np.asarray(truth, dtype=np.float64).tolist(),
            predicted=np.asarray(predicted, dtype=np.float64).tolist(),
        )

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    @contextmanager
    def attempt(self, task: str) -> Iterator[None]:
        """Score one task inside; where the set holds too little for it, a note says what is missing."""
        try:
            yield
        except InputError as error:
            self.note(f"{task} is left out: {error.what}")

    def add(self, other: PaperEvaluation) -> None:
        """Add all that another evaluation has."""
        self.scores += other.scores
        for note in other.notes:
            self.note(note)
        for mine, theirs in ((self.query_scores, other.query_scores), (self.predictions, other.predictions)):
            for column, rows in theirs.items():
                mine.setdefault(column, []).extend(rows)


def format_of_task(task: str) -> str:
    """Which of FORMATS a task of this module's names belongs to; '' for a name of another kind (averages)."""
    kind, _, name = task.partition(":")
    return paper_task(name).format if kind == BENCHMARK else _FORMATS.get(kind, "")


def system_of(score: Score) -> str:
    """Who made a row: the encoder, or without one the baseline (``bm25``, ``tfidf``, ``popularity``)."""
    return score.encoder or re.split("[-+]", score.method)[0]


def main_scores(scores: Sequence[Score]) -> dict[str, Score]:
    """The row that stands for each task of one system (see system_of): its main metric, in the way that reads most.

    MAP for judged lists, Recall@20 for retrieval, nDCG@10 for search (whole nDCG where the protocol has only that),
    F1 for classes, Recall@20 for topics (named topics first), Kendall's tau for numbers and for reviewers.
    """
    return {task: rows[0] for task, rows in standing_scores(scores).items()}


def standing_scores(scores: Sequence[Score]) -> dict[str, tuple[Score, ...]]:
    """All rows that stand for each task of one system: one (see main_scores); of SciRepEval all published metrics."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        if not math.isnan(score.value) and score.label is None:
            found.setdefault(score.task, []).append(score)
    rows = {task: _standing(task, mine) for task, mine in found.items()}
    return {task: mine for task, mine in rows.items() if mine}


def task_means(scores: Sequence[Score], *, trained: Collection[str] = ()) -> list[Score]:
    """Means over the tasks of one system (see system_of): of each format, of tasks ``trained`` on, the others, all.

    Each task counts once, by the mean of what stands for it (see standing_scores). Task names of the rows are
    ``average:FORMAT``, ``average:in-train``, ``average:held-out`` and ``average:all``, ``n`` is the number of tasks.
    SciRepEval's own training tasks are in-train without being named. Intervals take tasks as independent, which tasks
    on the same papers are only in part.
    """
    rows = {task: mine for task, mine in standing_scores(scores).items() if format_of_task(task)}
    groups: dict[str, list[str]] = {kind: [task for task in rows if format_of_task(task) == kind] for kind in FORMATS}
    seen = [task for task in rows if task in trained or _trained_there(task)]
    if seen:
        groups["in-train"] = seen
        groups["held-out"] = [task for task in rows if task not in seen]
    groups["all"] = list(rows)
    return [_mean(name, [rows[task] for task in tasks]) for name, tasks in groups.items() if tasks]


def _standing(task: str, rows: Sequence[Score]) -> tuple[Score, ...]:
    """The rows of one task that stand for it."""
    kind, _, name = task.partition(":")
    if kind == BENCHMARK:
        known = paper_task(name)
        return () if known.ours else tuple(score for score in rows if score.metric in known.metrics)
    wanted = _MAIN.get(kind, ())
    ranked = [
        ((wanted.index(score.metric), _way(score)), place) for place, score in enumerate(rows) if score.metric in wanted
    ]
    return (rows[min(ranked)[1]],) if ranked else ()


def _way(score: Score) -> int:
    return next(number for number, end in enumerate(_WAYS) if score.method.endswith(end))


def _trained_there(task: str) -> bool:
    kind, _, name = task.partition(":")
    return kind == BENCHMARK and paper_task(name).trained


def _mean(name: str, tasks: Sequence[Sequence[Score]]) -> Score:
    like = tasks[0][0]
    value = float(np.mean([np.mean([score.value for score in rows]) for rows in tasks]))
    halves = [[_half(score) for score in rows] for rows in tasks]
    known = [float(np.mean([half for half in rows if half is not None])) for rows in halves if None not in rows]
    low = high = None
    if len(known) == len(tasks):
        half = float(np.sqrt(np.square(known).sum())) / len(tasks)
        low, high = value - half, value + half
    return replace(
        like,
        metric="mean",
        value=value,
        low=low,
        high=high,
        n=len(tasks),
        unit="task",
        task=f"average:{name}",
        method="",
        label=None,
    )


def _half(score: Score) -> float | None:
    return None if score.low is None or score.high is None else (score.high - score.low) / 2


def _extend(columns: dict[str, list[Any]], rows: int, **values: Any) -> None:
    for column, value in values.items():
        columns.setdefault(column, []).extend(value if isinstance(value, list) else [value] * rows)
