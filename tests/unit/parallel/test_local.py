"""The map whose workers may die or hang: it gives what map gives, and says which items were lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sectioncls.errors import InputError, SectionclsError
from sectioncls.parallel import map_surviving, worker_count


def square(number: int) -> int:
    return number * number


def treacherous(number: int) -> int:
    """Die of 3 and 8, hang at 5."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 8:
        os._exit(7)
    if number == 5:
        time.sleep(60)
    return number * number


def once(mark: str) -> str:
    """Die at the first call with a mark, as a worker does that the system kills for another's memory."""
    path = Path(mark)
    if path.suffix == ".die" and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.stem


def fail_at_three(number: int) -> int:
    if number == 3:
        raise InputError("is three", number, "take four")
    return number


def never() -> None:
    os._exit(1)


def echo(data: bytes) -> bytes:
    return data


def prepared(_: int) -> str | None:
    return os.environ.get("SHEEP")


def set_sheep() -> None:
    os.environ["SHEEP"] = "baa"


def lost(item: object, reason: str, detail: str) -> tuple[str, str]:
    return reason, detail


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_equals_map(workers: int) -> None:
    assert sorted(map_surviving(square, range(40), workers=workers, lost=lost)) == [(n, n * n) for n in range(40)]
    assert list(map_surviving(square, [], workers=workers, lost=lost)) == []


def test_the_dead_and_the_slow_are_named_and_the_others_go_on() -> None:
    found = dict(map_surviving(treacherous, range(12), workers=2, lost=lost, time_limit=1.0))
    assert found == {n: n * n for n in range(12)} | {
        3: ("crashed", "the worker process was ended by SIGKILL"),
        5: ("too-slow", "more than 1 seconds"),
        8: ("crashed", "the worker process ended with code 7"),
    }


def test_one_death_is_forgiven(tmp_path: Path) -> None:
    items = [str(tmp_path / f"{n}.{'die' if n == 4 else 'live'}") for n in range(10)]
    found = dict(map_surviving(once, items, workers=2, lost=lost))
    assert found == {item: Path(item).stem for item in items}


def test_large_items_and_results() -> None:
    items = [bytes([n]) * 3_000_000 for n in range(5)]
    assert sorted(map_surviving(echo, items, workers=2, lost=lost)) == [(item, item) for item in items]


def test_reads_no_further_than_it_says() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    stream = map_surviving(square, items(), workers=2, lost=lost)
    for given in range(1, 30):
        next(stream)
        assert taken - given <= 2 * 3
    stream.close()
    assert taken < 100
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [0, 1])
def test_errors_come_through_whole(workers: int) -> None:
    with pytest.raises(InputError, match=r"3: is three \(take four\)"):
        list(map_surviving(fail_at_three, range(10), workers=workers, lost=lost))


def test_workers_that_never_start_are_one_line() -> None:
    with pytest.raises(SectionclsError, match=r"die as they start.*code 1"):
        list(map_surviving(square, range(3), workers=1, lost=lost, prepare=never))


def test_workers_are_prepared() -> None:
    found = map_surviving(prepared, range(4), workers=2, lost=lost, prepare=set_sheep)
    assert {value for _, value in found} == {"baa"}
    assert os.environ.get("SHEEP") is None


def test_worker_count() -> None:
    assert worker_count(3) == 3
    assert worker_count(0) >= 1
