"""Measuring side by side: medians of interleaved repeats, and the peak of memory above what stood before."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest


def _interleaved(work: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, function in work.items():
            began = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in times.items()}


@pytest.fixture
def interleaved():
    """Give {name: median seconds} of functions that take turns, so that a busy moment hits all of them."""
    return _interleaved


def _child(queue, make: Callable[[], Callable[[], object]]) -> None:
    work = make()
    Path("/proc/self/clear_refs").write_text("5")  # the kernel's peak starts anew
    status = lambda key: next(  # noqa: E731
        int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)
    )
    before = status("VmRSS")
    work()
    queue.put((status("VmHWM") - before) / 1024)


def _peak(make: Callable[[], Callable[[], object]]) -> float:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue, make))
    process.start()
    value = queue.get(timeout=600)
    process.join()
    return value


@pytest.fixture
def peak_memory():
    """Give the MB that ``make()()`` needs at its peak above what it held before, each time in a process of its own."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory is read from Linux's /proc")
    return _peak
