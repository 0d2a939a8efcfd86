"""The table of SciRepEval's tasks, and the score of each from arrays in the shape of its records.

==============  =====================================================================================
shape           what a record says
==============  =====================================================================================
``labels``      a paper and its label, train and test (Labelled)
``numbers``     a paper and its number, train and test (Labelled)
``candidates``  a query, a candidate paper and a grade (Candidates)
``triplets``    a query paper, one that it cites and one that it does not (Triplets)
``blocks``      a paper, the written name of its author, and who it is, dev and test (Blocks)
``reviewers``   a paper, a reviewer and a rating; reviewers have papers of their own (Rated)
==============  =====================================================================================

Paper: arXiv 2211.13308, section 3.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_matrix
from sectioncls.downstream.authors import author_clusters, author_scores, choose_bound
from sectioncls.downstream.probe import (
    class_scores,
    few_shot_samples,
    few_shot_topic_samples,
    probe,
    probe_topics,
    topic_scores,
)
from sectioncls.downstream.protocols import PaperProtocol
from sectioncls.downstream.rank import Judgements, QueryValues, measured_scores, query_scores
from sectioncls.downstream.regress import regress, regression_scores
from sectioncls.downstream.retrieve import dense_scorer, hash_order, id_order, pair_similarities
from sectioncls.downstream.reviewers import Reviewers, affinities, reviewer_precision
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Score

__all__ = [
    "Blocks",
    "Candidates",
    "Labelled",
    "PaperTask",
    "Rated",
    "TaskData",
    "Triplets",
    "paper_task",
    "paper_tasks",
    "score_few_shot",
    "score_paper_task",
]


@dataclass(frozen=True, slots=True)
class PaperTask:
    """One row of the table (papertasks.toml, whose head says what each field is)."""

    name: str
    title: str
    format: Literal["classification", "regression", "proximity", "search"]
    metrics: tuple[str, ...]
    trained: bool
    shape: Literal["labels", "numbers", "candidates", "triplets", "blocks", "reviewers"]
    texts: str
    test: str
    like: str
    labels: Literal["one", "several", "yes-no"] | None = None
    few_shot: tuple[tuple[int, int], ...] = ()
    fields: tuple[str, ...] = ("title", "abstract")
    ours: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows of train and test with class ids (n,), flags (n, classes) or numbers (n,); ``classes`` is how many."""

    train_x: Matrix
    train_y: npt.NDArray[Any]
    test_x: Matrix
    test_y: npt.NDArray[Any]
    classes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Judged candidates: ``queries`` are vectors by query number, ``documents`` by document row of ``judged``."""

    queries: Matrix
    documents: Matrix
    judged: Judgements


@dataclass(frozen=True, slots=True, eq=False)
class Triplets:
    """Vectors (n, dimension) of queries, of what each cites, and of what it does not."""

    query: Matrix
    positive: Matrix
    negative: Matrix
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Papers of dev and test: vectors, the block of each (the author's written name) and its author."""

    dev_x: Matrix
    dev_block: tuple[str, ...]
    dev_author: Ids
    test_x: Matrix
    test_block: tuple[str, ...]
    test_author: Ids


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """Rated pairs (m, 2) of (paper number, reviewer number); ``papers`` are vectors by number of ``paper_ids``.

    ``profiles`` are vectors of the reviewers' own papers, whose rows ``group`` names.
    """

    paper_ids: tuple[str, ...]
    papers: Matrix
    profiles: Matrix
    group: Reviewers
    pairs: Ids
    ratings: npt.NDArray[np.float64]


TaskData: TypeAlias = Labelled | Candidates | Triplets | Blocks | Rated


@cache
def paper_tasks() -> tuple[PaperTask, ...]:
    """All 24 tasks, in the order of the table."""
    content = tomllib.loads((files(__package__) / "papertasks.toml").read_text(encoding="utf-8"))
    return tuple(_task(row) for row in content["task"])


def paper_task(name: str) -> PaperTask:
    """The task called ``name``; raises UsageError naming those that there are."""
    found = {task.name: task for task in paper_tasks()}
    if name not in found:
        raise UsageError(f"no task {name!r} of SciRepEval", todo=f"there are {', '.join(found)}")
    return found[name]


def score_paper_task(
    task: PaperTask, data: TaskData, protocol: PaperProtocol, *, like: Score
) -> tuple[list[Score], QueryValues | None]:
    """Rows of the task's metrics, and the value of each query where the task has queries.

    Raises InputError where ``data`` is not of the task's shape, or holds too little.
    """
    kind, score = _SHAPES[task.shape]
    if not isinstance(data, kind):
        raise InputError(f"{task.title} needs {kind.__name__}, not {type(data).__name__}", task.name)
    rows, values = score(task, data, protocol, replace(like, task=f"scirepeval:{task.name}", protocol=protocol.name))
    return [row for row in rows if row.metric in task.metrics], values


def score_few_shot(
    task: PaperTask, data: Labelled, protocol: PaperProtocol, *, like: Score, runs: int | None = None
) -> list[Score]:
    """Rows of the task's metric after training on few papers, one for each [size, runs] of the table.

    ``value`` is the mean over runs and its ends hold the middle 95 % of them (``unit`` is ``run``); ``runs`` replaces
    the table's number. One label a paper: C = 1; several: C is chosen for each sample, as published.
    """
    rows = []
    several = task.labels == "several"
    name = replace(like, task=f"scirepeval:{task.name}", protocol=protocol.name, split="test")
    for size, number in task.few_shot:
        wanted = number if runs is None else runs
        if several:
            samples = few_shot_topic_samples(data.train_y, size, wanted, seed=protocol.seed)
        else:
            samples = few_shot_samples(data.train_y, size, wanted)
        settings = protocol if several else replace(protocol, svm_grid=(1.0,))
        values = []
        for chosen in samples:
            some = replace(data, train_x=data.train_x[chosen], train_y=data.train_y[chosen])
            found, _ = _labels(task, some, settings, like)
            values += [score.value for score in found if score.metric == task.metrics[0]]
        low, high = (float(end) for end in np.percentile(values, [2.5, 97.5]))
        rows.append(
            replace(
                name,
                metric=task.metrics[0],
                value=float(np.mean(values)),
                low=low,
                high=high,
                n=len(values),
                unit="run",
                method=f"linear-svm {size}-shot",
            )
        )
    return rows


def _labels(
    task: PaperTask, data: Labelled, protocol: PaperProtocol, like: Score
) -> tuple[list[Score], QueryValues | None]:
    options: dict[str, Any] = {"grid": protocol.svm_grid, "folds": protocol.folds, "seed": protocol.seed}
    row = replace(like, method="linear-svm")
    if task.labels == "several":
        flags = probe_topics(data.train_x, data.train_y, data.test_x, **options)
        return topic_scores(data.test_y, flags, like=row, absent=protocol.absent), None
    found = probe(data.train_x, data.train_y, data.test_x, **options)
    positive = 1 if task.labels == "yes-no" else None
    return class_scores(data.test_y, found, data.classes, like=row, positive=positive), None


def _numbers(
    task: PaperTask, data: Labelled, protocol: PaperProtocol, like: Score
) -> tuple[list[Score], QueryValues | None]:
    found = regress(
        data.train_x,
        data.train_y,
        data.test_x,
        grid=protocol.svr_grid,
        folds=protocol.folds,
        seed=protocol.seed,
        max_iter=protocol.svr_rounds,
    )
    return regression_scores(data.test_y, found, like=replace(like, method="linear-svr")), None


def _candidates(
    task: PaperTask, data: Candidates, protocol: PaperProtocol, like: Score
) -> tuple[list[Score], QueryValues | None]:
    judged = data.judged
    near = pair_similarities(data.queries, data.documents, judged.query, judged.document, protocol.similarity)
    if protocol.decimals is not None:
        near = np.round(near, protocol.decimals)
    order = hash_order(judged.document_ids) if protocol.ties == "hash" else id_order(judged.document_ids)
    bound = protocol.relevant_from or 1
    values = measured_scores(judged, near, task.metrics, relevant_from=bound, order=order)
    return query_scores(values, like=replace(like, method=protocol.similarity)), values


def _triplets(
    task: PaperTask, data: Triplets, protocol: PaperProtocol, like: Score
) -> tuple[list[Score], QueryValues | None]:
    rows = np.arange(len(data.ids))
    near, far = (
        pair_similarities(data.query, other, rows, rows, protocol.similarity)
        for other in (data.positive, data.negative)
    )
    # A tie is half right: with equal vectors nothing is known.
    hits = np.where(near > far, 1.0, np.where(near == far, 0.5, 0.0))
    values = QueryValues(data.ids, {"accuracy": hits})
    return query_scores(values, like=replace(like, method=protocol.similarity)), values


def _blocks(
    task: PaperTask, data: Blocks, protocol: PaperProtocol, like: Score
) -> tuple[list[Score], QueryValues | None]:
    bound = choose_bound(data.dev_x, data.dev_block, data.dev_author)
    found = author_clusters(data.test_x, data.test_block, bound)
    return author_scores(data.test_author, found, like=replace(like, method="average-linkage")), None


def _reviewers(
    task: PaperTask, data: Rated, protocol: PaperProtocol, like: Score
) -> tuple[list[Score], QueryValues | None]:
    scorer = dense_scorer(as_matrix(data.papers), data.profiles, "cosine")
    near = affinities(scorer, np.arange(len(data.paper_ids)), data.group)
    found = reviewer_precision(data.paper_ids, data.group.ids, data.pairs, data.ratings, near)
    named = {f"{measure}-{rule}": column for rule, values in found.items() for measure, column in values.values.items()}
    values = QueryValues(found["soft"].query_ids, named)
    return query_scores(values, like=replace(like, method="top-3")), values


_SHAPES: Mapping[str, tuple[type[Any], Callable[..., tuple[list[Score], QueryValues | None]]]] = {
    "labels": (Labelled, _labels),
    "numbers": (Labelled, _numbers),
    "candidates": (Candidates, _candidates),
    "triplets": (Triplets, _triplets),
    "blocks": (Blocks, _blocks),
    "reviewers": (Rated, _reviewers),
}


def _task(row: Mapping[str, Any]) -> PaperTask:
    values: dict[str, Any] = {
        key: tuple(tuple(item) if isinstance(item, list) else item for item in value)
        if isinstance(value, list)
        else value
        for key, value in row.items()
    }
    return PaperTask(**values)
