"""How tasks share the steps: pure functions of the step, shares that hold, budgets that count."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from sectioncls.training import LengthBatches, Mixing, Task, steps_per_epoch, steps_within, task_batches


def task(name, rows, batch, costs=None):
    return Task(name, None, (), LengthBatches(np.arange(rows) % 7, batch, len(name)), None, costs=costs)


TASKS = [task("a", 40, 4), task("bb", 12, 4), task("ccc", 8, 8)]  # 10, 3 and 1 batches


def steps(mixing, first, count, tasks=TASKS):
    return [[(t.name, rows.tolist()) for t, rows in step] for step in islice(task_batches(tasks, first, mixing), count)]


@pytest.mark.parametrize("sharing", ["together", "draining", "alternating"])
@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("first", [1, 9, 10, 11, 23])
def test_any_step_is_reached_from_any_other(sharing, power, first):
    mixing = Mixing(sharing, power)
    assert steps(mixing, 0, 50)[first:] == steps(mixing, first, 50 - first)


def test_together_is_a_batch_of_each():
    assert steps_per_epoch(TASKS, Mixing()) == 10
    for step in steps(Mixing(), 0, 25):
        assert [name for name, _ in step] == ["a", "bb", "ccc"]


def test_draining_gives_each_row_once_an_epoch():
    mixing = Mixing("draining")
    assert steps_per_epoch(TASKS, mixing) == 10
    for epoch in range(2):
        found = steps(mixing, 10 * epoch, 10)
        assert [len(step) for step in found] == [3, 2, 2, 1, 1, 1, 1, 1, 1, 1]
        for name, rows in (("a", 40), ("bb", 12), ("ccc", 8)):
            seen = [row for step in found for task, members in step if task == name for row in members]
            assert sorted(seen) == list(range(rows))


@pytest.mark.parametrize(("power", "shares"), [(1.0, (10, 3, 1)), (0.0, (1, 1, 1)), (0.5, (10**0.5, 3**0.5, 1))])
def test_shares_hold_over_any_stretch(power, shares):
    mixing = Mixing("alternating", power)
    assert steps_per_epoch(TASKS, mixing) == 14
    found = [step[0][0] for step in steps(mixing, 0, 400)]
    assert all(len(step) == 1 for step in steps(mixing, 0, 30))
    for length in (50, 140, 400):
        for name, share in zip(("a", "bb", "ccc"), shares, strict=True):
            assert abs(found[:length].count(name) - length * share / sum(shares)) <= 1.5


def test_in_proportion_an_epoch_is_every_row_once():
    found = steps(Mixing("alternating"), 0, 14)
    seen = [(name, row) for step in found for name, rows in step for row in rows]
    assert len(seen) == len(set(seen)) == 60


def test_budgets_count_costs():
    assert steps_within(TASKS, Mixing(), 64) == 4  # 16 rows a step
    assert steps_within(TASKS, Mixing(), 63) == 3
    assert steps_within(TASKS, Mixing(), 1) == 1
    halves = [task("a", 40, 4, costs=np.full(40, 0.5))]
    assert steps_within(halves, Mixing(), 30) == 15
