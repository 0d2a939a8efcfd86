"""A task: rows, their targets, how they are batched and what is learnt from them; and how tasks share the steps."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from torch import Tensor

from sectioncls.encoders import KeptTokens, Tokens, Windows
from sectioncls.training.occurrences import Occurrences

__all__ = [
    "Mixing",
    "Rows",
    "Sampler",
    "Sharing",
    "Task",
    "cost_of_steps",
    "steps_per_epoch",
    "steps_within",
    "task_batches",
]

Rows = npt.NDArray[np.int64]
Step: TypeAlias = "list[tuple[Task, Rows]]"
Sharing = Literal["together", "draining", "alternating"]


class Sampler(Protocol):
    """Batches of row numbers, a pure function of the epoch."""

    def __len__(self) -> int:
        """Batches per epoch."""

    def batches(self, epoch: int) -> list[Rows]:
        """Give the batches of one epoch."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to learn: ``objective(vectors, *targets)`` over the batches of ``sampler``.

    ``targets`` are columns with one entry per text (labels first), of which a batch gets those of its vectors.
    ``objective`` is a function, or a module when it has weights of its own. Task losses are added, times ``weight``.
    ``costs`` (rows,) is what a row counts in a budget; None counts one for each.
    """

    name: str
    tokens: Tokens | Windows | KeptTokens | Occurrences
    targets: tuple[Tensor, ...]
    sampler: Sampler
    objective: Callable[..., Tensor]
    weight: float = 1.0
    costs: npt.NDArray[np.float64] | None = None

    def cost(self, rows: Rows) -> float:
        """Give what a batch of ``rows`` counts in a budget."""
        return float(len(rows) if self.costs is None else self.costs[rows].sum())


@dataclass(frozen=True, slots=True)
class Mixing:
    """How tasks share the steps.

    ``together``: every step takes a batch of every task, a short task starts over when it ends; ``draining``: the same,
    but a task that has given all its rows waits for the end of the epoch (arXiv 2211.13308, its public code);
    ``alternating``: a step takes a batch of one task, each task in proportion to its batches to the ``power`` (1 in
    proportion, 0 in equal shares, between them tempered), evenly spread (arXiv 2305.14232: a batch holds one task).
    """

    sharing: Sharing = "together"
    power: float = 1.0


def steps_per_epoch(tasks: Sequence[Task], mixing: Mixing) -> int:
    """Give the steps of one pass over the longest task, or where tasks alternate, of as many batches as all have."""
    sizes = [len(task.sampler) for task in tasks]
    return sum(sizes) if mixing.sharing == "alternating" else max(sizes)


def steps_within(tasks: Sequence[Task], mixing: Mixing, budget: float) -> int:
    """Give how many steps from the first on cost no more than ``budget``, one at least."""
    spent, done = 0.0, 0
    for cost in _costs(tasks, mixing):
        spent += cost
        if spent > budget:
            break
        done += 1
    return max(1, done)


def cost_of_steps(tasks: Sequence[Task], mixing: Mixing, steps: int) -> float:
    """Give what the first ``steps`` steps cost."""
    return sum(islice(_costs(tasks, mixing), steps))


def _costs(tasks: Sequence[Task], mixing: Mixing) -> Iterator[float]:
    for step in task_batches(tasks, 0, mixing):
        yield sum(task.cost(rows) for task, rows in step)


def task_batches(tasks: Sequence[Task], first_step: int, mixing: Mixing | None = None) -> Iterator[Step]:
    """Yield, from ``first_step`` on and without end, the batches of each step; a pure function of the step."""
    mixing = mixing or Mixing()
    if mixing.sharing == "alternating":
        yield from _alternating(tasks, first_step, mixing.power)
        return
    per_epoch = steps_per_epoch(tasks, mixing)
    draining = mixing.sharing == "draining"
    streams = [_draining(task, first_step, per_epoch) if draining else _stream(task, first_step) for task in tasks]
    while True:
        batches = [(task, next(stream)) for task, stream in zip(tasks, streams, strict=True)]
        yield [(task, rows) for task, rows in batches if rows is not None]


def _stream(task: Task, step: int) -> Iterator[Rows]:
    epoch, position = divmod(step, len(task.sampler))
    while True:
        yield from task.sampler.batches(epoch)[position:]
        epoch, position = epoch + 1, 0


def _draining(task: Task, step: int, per_epoch: int) -> Iterator[Rows | None]:
    epoch, position = divmod(step, per_epoch)
    while True:
        yield from [*task.sampler.batches(epoch), *[None] * (per_epoch - len(task.sampler))][position:]
        epoch, position = epoch + 1, 0


def _alternating(tasks: Sequence[Task], first_step: int, power: float) -> Iterator[Step]:
    turns = _turns([len(task.sampler) ** power for task in tasks])
    taken = [0] * len(tasks)
    for _ in range(first_step):
        taken[next(turns)] += 1
    streams = [_stream(task, count) for task, count in zip(tasks, taken, strict=True)]
    for place in turns:
        yield [(tasks[place], next(streams[place]))]


def _turns(shares: Sequence[float]) -> Iterator[int]:
    """Yield whose turn it is: k-th turns stand at (k + 1/2) / share, so that shares hold over any stretch."""
    waiting = [(0.5 / share, place, 0) for place, share in enumerate(shares)]
    heapq.heapify(waiting)
    while True:
        _, place, count = waiting[0]
        yield place
        heapq.heapreplace(waiting, ((count + 1.5) / shares[place], place, count + 1))
