"""The table of 24 tasks, and one made-up sample for each shape of records."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sectioncls.downstream.papertasks import (
    Blocks,
    Candidates,
    Labelled,
    Rated,
    Triplets,
    paper_task,
    paper_tasks,
    score_few_shot,
    score_paper_task,
)
from sectioncls.downstream.protocols import PAPER_PROTOCOLS
from sectioncls.downstream.rank import judgements
from sectioncls.downstream.reviewers import reviewers
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Score

RNG = np.random.default_rng(1)
LIKE = Score("", 0.0, corpus="made up", encoder="none", seed=42)
RULES = PAPER_PROTOCOLS["scirepeval"]
CENTRES = 3 * np.eye(6)


def points(classes):
    return CENTRES[np.asarray(classes)] + RNG.normal(size=(len(classes), 6))


def labelled(labels, rows=60):
    train, test = RNG.integers(0, 2, rows), RNG.integers(0, 2, 40)
    if labels == "several":
        flags = [np.stack([one == 0, one == 1], axis=1).astype(int) for one in (train, test)]
        return Labelled(points(train), flags[0], points(test), flags[1], 2)
    return Labelled(points(train), train, points(test), test, 2)


def sample(task):
    if task.shape == "labels":
        return labelled(task.labels)
    if task.shape == "numbers":
        train, test = RNG.normal(size=(50, 6)), RNG.normal(size=(30, 6))
        return Labelled(train, train[:, 0], test, test[:, 0])
    if task.shape == "candidates":
        classes = RNG.integers(0, 3, 30)
        pairs = [(query, d) for query in range(3) for d in range(30)]
        gains = [int(classes[d] == query) for query, d in pairs]
        judged = judgements([f"q{q}" for q, _ in pairs], [d for _, d in pairs], gains, [f"d{d}" for d in range(30)])
        return Candidates(CENTRES[:3], points(classes), judged)
    if task.shape == "triplets":
        classes = RNG.integers(0, 3, 20)
        ids = tuple(str(row) for row in range(20))
        return Triplets(points(classes), points(classes), points((classes + 1) % 3), ids)
    if task.shape == "blocks":
        person = np.repeat(np.arange(4), 5)
        block = tuple("ab"[one // 2] for one in person)
        return Blocks(points(person), block, person, points(person), block, person)
    group, _ = reviewers({f"r{one}": list(range(4 * one, 4 * one + 4)) for one in range(6)})
    pairs = np.array([(p, r) for p in range(6) for r in range(6)])
    ratings = np.where(pairs[:, 0] == pairs[:, 1], 3.0, np.where(pairs[:, 1] == (pairs[:, 0] + 1) % 6, 2.0, 0.0))
    names = tuple(f"p{p}" for p in range(6))
    return Rated(names, CENTRES, points(np.repeat(np.arange(6), 4)), group, pairs, ratings)


def test_the_table_is_that_of_the_benchmark():
    tasks = paper_tasks()
    assert len(tasks) == len({task.name for task in tasks}) == 24
    assert {task.name for task in tasks if task.trained} == {
        "mesh",
        "fos",
        "citation-count",
        "year",
        "same-author",
        "highly-influential-citations",
        "citation-prediction",
        "search",
    }
    formats = [task.format for task in tasks]
    assert [formats.count(one) for one in ("classification", "regression", "proximity", "search")] == [6, 5, 10, 3]
    assert all(re.fullmatch(r"[a-z0-9-]+", task.name) and task.texts and task.test and task.like for task in tasks)
    assert [task.name for task in tasks if task.ours] == ["citation-prediction"]


@pytest.mark.parametrize("task", paper_tasks(), ids=lambda task: task.name)
def test_each_task_runs_on_records_of_its_shape(task):
    rows, values = score_paper_task(task, sample(task), RULES, like=LIKE)
    assert sorted(row.metric for row in rows) == sorted(task.metrics)
    for row in rows:
        assert (row.task, row.protocol, row.encoder) == (f"scirepeval:{task.name}", "scirepeval", "none")
        assert 0.6 < row.value <= 1 or row.metric.startswith("p@")
        assert row.low <= row.value <= row.high
    has_queries = task.shape in ("candidates", "triplets", "reviewers")
    assert (values is not None) == has_queries


@pytest.mark.parametrize("name", ["biomimicry", "drsm", "fos"])
def test_few_shot_is_the_mean_of_its_runs(name):
    task = paper_task(name)
    rows = score_few_shot(task, labelled(task.labels, 140), RULES, like=LIKE, runs=2)
    assert [row.method for row in rows] == [f"linear-svm {size}-shot" for size, _ in task.few_shot]
    assert all(row.unit == "run" and row.low <= row.value <= row.high for row in rows)


def test_equal_vectors_make_half_a_triplet_right():
    same = np.ones((4, 2))
    rows, _ = score_paper_task(
        paper_task("citation-prediction"), Triplets(same, same, same, tuple("abcd")), RULES, like=LIKE
    )
    assert rows[0].value == 0.5


def test_refusals():
    with pytest.raises(UsageError, match="no task 'feeds' of SciRepEval"):
        paper_task("feeds")
    with pytest.raises(InputError, match="Search needs Candidates, not Labelled"):
        score_paper_task(paper_task("search"), labelled("one"), RULES, like=LIKE)
