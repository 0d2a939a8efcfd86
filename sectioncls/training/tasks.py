"""A task: rows, their targets, how they are batched and what is learnt from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from sectioncls.encoders import KeptTokens, Tokens, Windows

__all__ = ["Sampler", "Task", "task_batches"]

Rows = npt.NDArray[np.int64]


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
    """

    name: str
    tokens: Tokens | Windows | KeptTokens
    targets: tuple[Tensor, ...]
    sampler: Sampler
    objective: Callable[..., Tensor]
    weight: float = 1.0


def task_batches(tasks: Sequence[Task], first_step: int) -> Iterator[list[tuple[Task, Rows]]]:
    """Yield, from ``first_step`` on and without end, one batch of every task; a short task starts over when it ends."""
    streams = [_stream(task, first_step) for task in tasks]
    while True:
        yield [(task, next(stream)) for task, stream in zip(tasks, streams, strict=True)]


def _stream(task: Task, step: int) -> Iterator[Rows]:
    epoch, position = divmod(step, len(task.sampler))
    while True:
        yield from task.sampler.batches(epoch)[position:]
        epoch, position = epoch + 1, 0
