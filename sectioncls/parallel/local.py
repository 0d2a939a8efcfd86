"""An ordered map over a stream with worker processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from sectioncls.errors import SectionclsError

__all__ = ["IN_FLIGHT_PER_WORKER", "map_ordered", "worker_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")

IN_FLIGHT_PER_WORKER = 8


def worker_count(jobs: int) -> int:
    """Give the number of worker processes that ``--jobs`` asks for; 0 takes one per core we may use."""
    if jobs > 0:
        return jobs
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def map_ordered(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    jobs: int = 1,
    prepare: Callable[[], None] | None = None,
) -> Iterator[Result]:
    """Give ``function(item)`` for each item, in the order of the items.

    ``jobs=1`` runs in this process; otherwise that many workers do (0: one per core) and at most
    IN_FLIGHT_PER_WORKER items for each are read ahead, so memory stays bounded. ``prepare`` runs first in each
    worker process. The functions, the items and the results must be picklable. An exception of the function
    ends the stream; so does a worker that dies (SectionclsError).
    """
    workers = worker_count(jobs)
    if workers == 1:
        yield from map(function, items)
        return
    # spawn, not fork: a fork of a process with running threads may hang
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=prepare)
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            with interrupts_held():  # a submit may start a worker, which then never sees Ctrl-C
                waiting.append(pool.submit(function, item))
            if len(waiting) >= workers * IN_FLIGHT_PER_WORKER:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise SectionclsError("a worker process died", None, "memory may be short: try --jobs 1") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back inside the block; a process that is started there holds it back for good."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
