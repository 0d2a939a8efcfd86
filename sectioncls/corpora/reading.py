"""The reading half of a build: documents go through workers or a cluster into the spill."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, Literal

from sectioncls.corpora.labelling import Reader, label_articles
from sectioncls.corpora.sources import Item, Meter, Source, key_of, open_source, unfold
from sectioncls.corpora.spill import Packed, Spill
from sectioncls.errors import SectionclsError
from sectioncls.parallel import TIME_LIMIT, map_surviving, worker_count
from sectioncls.records import Rejected

__all__ = ["ContainerOf", "Engine", "Maker", "Results", "Task", "map_tasks", "read_locally"]

Engine = Literal["local", "ray"]
Results = list[Packed | Rejected]
ContainerOf = Callable[[Any], str]
Maker = Callable[..., Results]
"""Gives what the spill keeps of a document, called as ``make(document, read=…, rules=…)``; picklable."""


@dataclass(frozen=True, slots=True)
class Task:
    """An item to read, where it came from and by what it is known."""

    item: Item
    container: str
    key: bytes


def read_locally(
    items: Meter,
    read: Reader,
    rules: Any,
    spill: Spill,
    *,
    container_of: ContainerOf,
    jobs: int,
    time_limit: float = TIME_LIMIT,
    make: Maker = label_articles,
) -> Iterator[str]:
    """Set aside what the items hold and give the container of each that is done.

    What the spill has already is not read again. ``jobs`` worker processes read (0: one per core); 1 reads in this
    process, which a document can then end. ``make`` says by the ``rules`` what is kept of a document.
    """
    tasks = _new(items, spill, container_of)
    workers = 0 if jobs == 1 else worker_count(jobs)
    for task, results in map_tasks(tasks, read, rules, workers=workers, time_limit=time_limit, make=make):
        spill.add(task.container, task.key, results)
        yield task.container


def map_tasks(
    tasks: Iterable[Task],
    read: Reader,
    rules: Any,
    *,
    workers: int,
    time_limit: float = TIME_LIMIT,
    make: Maker = label_articles,
) -> Iterator[tuple[Task, Results]]:
    """Give each task with its articles and rejections, whichever is ready first."""
    return map_surviving(
        partial(read_task, read=read, rules=rules, make=make),
        tasks,
        workers=workers,
        lost=_lost,
        time_limit=time_limit,
        prepare=without_torch,
    )


def read_task(task: Task, *, read: Reader, rules: Any, make: Maker = label_articles) -> Results:
    """Give the articles and rejections of an item; a fault of ours in one document is a rejection as well."""
    results: Results = []
    documents = open_source(task.item) if isinstance(task.item, Source) else iter((task.item,))
    try:
        for document in documents:
            results += make(document, read=read, rules=rules)
    except SectionclsError:
        raise
    except Exception as error:
        return [Rejected(_name(task.item), "crashed", _place(error))]
    return results


def _new(items: Meter, spill: Spill, container_of: ContainerOf) -> Iterator[Task]:
    """Give a task for each item that the spill does not hold."""
    for item in unfold(items):
        task = Task(item, container_of(item), key_of(item))
        if spill.seen_before(task.container, task.key):
            items.skipped += 1
        else:
            yield task


def _lost(task: Task, reason: str, detail: str) -> Results:
    return [Rejected(_name(task.item), reason, detail)]


def _name(item: Item) -> str:
    return item.source if isinstance(item, Rejected) else item.name


def _place(error: Exception) -> str:
    """Say in words what went wrong and in which line of code."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words[:300]} (in {PurePath(frames[-1].filename).name}, line {frames[-1].lineno})"


def without_torch() -> None:
    """Keep torch out of a worker: spaCy would load it where it is installed, and nothing here uses it."""
    sys.modules.setdefault("torch", None)  # type: ignore[arg-type]
