"""A map over a stream by worker processes on this machine that may die or hang: the stream goes on without them.

Each worker has a pipe of its own and holds one item at a time, so it is always known which item it was at, and
a worker that is killed in the middle of a message harms nobody else's. (The executor of the standard library,
and others that share one queue, end with their first dead worker.)
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Literal, TypeVar

from sectioncls.errors import SectionclsError

__all__ = ["TIME_LIMIT", "LostReason", "map_surviving", "worker_count"]

Item = TypeVar("Item")
Result = TypeVar("Result")
LostReason = Literal["crashed", "too-slow"]

TIME_LIMIT = 60.0
"""Seconds that a worker may take for one item."""
_STARTS = 5  # times in a row that workers may die before they have given anything
_FAREWELL = 5.0  # seconds that a worker has to leave when there is no more work


@dataclass(slots=True)
class _Worker(Generic[Item]):
    """One process, the pipe to it, and what it is at."""

    process: BaseProcess
    pipe: Connection
    ready: bool = False
    item: Item | None = None
    began: float = 0.0

    def give(self, item: Item) -> None:
        self.item = item
        self.began = time.monotonic()
        with suppress(OSError):  # it may be dead already: reading from it will say so
            self.pipe.send(item)

    def end(self) -> str:
        """Kill the process and say in words how it ended."""
        self.pipe.close()
        self.process.join(0.2)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"the worker process was ended by {_signal_name(-code)}"
        return f"the worker process ended with code {code}"


def worker_count(jobs: int) -> int:
    """Give the number of worker processes that ``--jobs`` asks for; 0 takes one per core we may use."""
    if jobs > 0:
        return jobs
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def map_surviving(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int,
    lost: Callable[[Item, LostReason, str], Result],
    time_limit: float = TIME_LIMIT,
    prepare: Callable[[], None] | None = None,
) -> Iterator[tuple[Item, Result]]:
    """Give each item with ``function(item)``, whichever is ready first.

    ``workers`` processes do the work; 0 does it in this process, in order, without protection. An item whose
    worker dies or takes more than ``time_limit`` seconds is tried once more in a fresh worker while the others
    rest, since the guilt may not be its own; then ``lost(item, reason, detail)`` is its result. At most two
    items for each worker are read ahead. An exception of the function ends the stream. ``prepare`` runs first
    in each worker. Functions, items and results must be picklable. Raises SectionclsError when no worker starts.
    """
    if not workers:
        for item in items:
            yield item, function(item)
        return
    pool = _Pool(function, workers, lost, time_limit, prepare)
    try:
        yield from pool.run(iter(items))
        pool.dismiss()
    finally:
        for worker in pool.crew:
            worker.end()


class _Pool(Generic[Item, Result]):
    """The workers and the items on their way."""

    def __init__(
        self,
        function: Callable[[Item], Result],
        workers: int,
        lost: Callable[[Item, LostReason, str], Result],
        time_limit: float,
        prepare: Callable[[], None] | None,
    ) -> None:
        self.function = function
        self.workers = workers
        self.lost = lost
        self.time_limit = time_limit
        self.prepare = prepare
        self.crew: list[_Worker[Item]] = []
        self.suspects: deque[Item] = deque()
        self.on_trial = False
        self.failed_starts = 0

    def run(self, items: Iterator[Item]) -> Iterator[tuple[Item, Result]]:
        ahead: deque[Item] = deque()
        more = True
        while True:
            self.recruit()
            self.hand_out(ahead)
            pipes = [worker.pipe for worker in self.crew]
            while more and len(ahead) < self.workers and not wait(pipes, 0):
                try:
                    ahead.append(next(items))
                except StopIteration:
                    more = False
                self.hand_out(ahead)
            if not more and not ahead and not self.suspects and not self.busy():
                return
            done: list[tuple[Item, Result]] = []
            ready = set(wait(pipes, self.patience()))
            for worker in list(self.crew):
                if worker.pipe in ready:
                    done += self.hear(worker)
                elif worker.item is not None and time.monotonic() - worker.began > self.time_limit:
                    done += self.bury(worker, "too-slow", f"more than {self.time_limit:g} seconds")
            self.recruit()
            self.hand_out(ahead)
            yield from done

    def busy(self) -> int:
        return sum(worker.item is not None for worker in self.crew)

    def patience(self) -> float | None:
        """Give the seconds until the first worker is over its time, None when none works."""
        began = [worker.began for worker in self.crew if worker.item is not None]
        return max(0.0, min(began) + self.time_limit - time.monotonic()) + 0.01 if began else None

    def recruit(self) -> None:
        """Fill the crew up."""
        while len(self.crew) < self.workers:
            # spawn, not fork: a fork of a process with running threads may hang
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, self.function, self.prepare), daemon=True)
            with _interrupts_held():
                process.start()
            theirs.close()
            self.crew.append(_Worker(process, ours))

    def hand_out(self, ahead: deque[Item]) -> None:
        """Give work to whoever rests; while an item is suspect, it is the only one."""
        for worker in self.crew:
            if not worker.ready or worker.item is not None or self.on_trial:
                continue
            if self.suspects:
                if self.busy():
                    return
                self.on_trial = True
                worker.give(self.suspects.popleft())
            elif ahead:
                worker.give(ahead.popleft())

    def hear(self, worker: _Worker[Item]) -> list[tuple[Item, Result]]:
        """Give what a worker has to say."""
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return self.bury(worker, "crashed", "")
        if kind == "ready":
            worker.ready = True
            return []
        if kind == "error":
            raise value
        item = worker.item
        assert item is not None
        worker.item = None
        self.on_trial = False
        self.failed_starts = 0
        return [(item, value)]

    def bury(self, worker: _Worker[Item], reason: LostReason, detail: str) -> list[tuple[Item, Result]]:
        """Take a worker out; its item gets a second try, or is lost if that was it."""
        self.crew.remove(worker)
        words = worker.end()
        if worker.item is None:
            self.failed_starts += 1
            if self.failed_starts >= _STARTS:
                raise SectionclsError("worker processes die as they start", None, f"{words}; try --jobs 1")
            return []
        if not self.on_trial:
            self.suspects.append(worker.item)
            return []
        self.on_trial = False
        return [(worker.item, self.lost(worker.item, reason, detail or words))]

    def dismiss(self) -> None:
        """Let the workers leave by themselves, which lets them clean up."""
        for worker in self.crew:
            worker.pipe.close()
        until = time.monotonic() + _FAREWELL
        for worker in self.crew:
            worker.process.join(max(0.0, until - time.monotonic()))


def _serve(pipe: Connection, function: Callable[[Any], Any], prepare: Callable[[], None] | None) -> None:
    """What a worker does: answer items until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if prepare is not None:
            prepare()
        pipe.send(("ready", None))
        while True:
            item = pipe.recv()
            try:
                answer = ("result", function(item))
            except Exception as error:
                answer = ("error", _portable(error))
            pipe.send(answer)
    except (EOFError, OSError):  # the other side has gone
        return


def _portable(error: Exception) -> Exception:
    """Give the error as one that can cross the pipe."""
    try:
        return error if isinstance(pickle.loads(pickle.dumps(error)), Exception) else SectionclsError(repr(error))
    except Exception:
        return SectionclsError(f"{type(error).__name__}: {error}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back inside the block; a process that is started there holds it back for good."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
