"""The ordered map gives what map gives, reads no further ahead than it says, and ends cleanly."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from sectioncls.errors import InputError, SectionclsError
from sectioncls.parallel import map_ordered, worker_count
from sectioncls.parallel.local import IN_FLIGHT_PER_WORKER


def square(number: int) -> int:
    return number * number


def slow_first(number: int) -> int:
    if number == 0:
        time.sleep(0.2)
    return number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise InputError("is three", number, "take four")
    return number


def die(_: int) -> int:
    os._exit(1)


def prepared(_: int) -> str | None:
    return os.environ.get("SHEEP")


def set_sheep() -> None:
    os.environ["SHEEP"] = "baa"


@pytest.mark.parametrize("jobs", [1, 2])
def test_equals_map(jobs: int) -> None:
    assert list(map_ordered(square, range(50), jobs=jobs)) == list(map(square, range(50)))
    assert list(map_ordered(square, [], jobs=jobs)) == []


def test_order_holds_when_a_worker_is_slow() -> None:
    assert list(map_ordered(slow_first, range(10), jobs=2)) == list(range(10))


@pytest.mark.parametrize("jobs", [1, 2])
def test_reads_no_further_than_it_says(jobs: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    stream = map_ordered(square, items(), jobs=jobs)
    for given in range(1, 30):
        next(stream)
        assert taken - given <= (0 if jobs == 1 else jobs * IN_FLIGHT_PER_WORKER)
    stream.close()
    assert taken < 100


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_come_through_whole(jobs: int) -> None:
    with pytest.raises(InputError, match=r"3: is three \(take four\)"):
        list(map_ordered(fail_at_three, range(10), jobs=jobs))


def test_a_dead_worker_is_one_line() -> None:
    with pytest.raises(SectionclsError, match="a worker process died"):
        list(map_ordered(die, range(3), jobs=2))


def test_workers_are_prepared() -> None:
    assert set(map_ordered(prepared, range(4), jobs=2, prepare=set_sheep)) == {"baa"}
    assert os.environ.get("SHEEP") is None


def test_worker_count() -> None:
    assert worker_count(3) == 3
    assert worker_count(0) >= 1
