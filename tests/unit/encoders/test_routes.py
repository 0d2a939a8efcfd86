from __future__ import annotations

import pytest

from sectioncls.encoders import TASKS
from sectioncls.encoders.routes import check_tasks, route_of
from sectioncls.errors import UsageError


@pytest.mark.parametrize("by_format", [False, True])
def test_routes_of_tasks_and_sides(by_format):
    for task in TASKS:
        for side in ("query", "document"):
            wanted = "proximity" if by_format and (task, side) == ("search", "document") else task
            assert TASKS[route_of(TASKS, task, side, by_format=by_format)] == wanted
    # As sentence-transformers names the sides of a search.
    assert route_of(TASKS, "query", "document", by_format=by_format) == TASKS.index("search")
    assert TASKS[route_of(TASKS, "document", "query", by_format=by_format)] == ("proximity" if by_format else "search")


def test_unknown_ones_are_named():
    with pytest.raises(UsageError, match=r"unknown task 'links' \(known: search\)"):
        route_of(("search",), "links", "query")
    with pytest.raises(UsageError, match="told the task"):
        route_of(TASKS, None, "query")
    with pytest.raises(UsageError, match="unknown side"):
        route_of(TASKS, "search", "passage")


def test_tasks_are_ordered_and_checked():
    assert check_tasks(["search", "classification"]) == ("classification", "search")
    for tasks in ([], ["search", "search"], ["query"]):
        with pytest.raises(UsageError):
            check_tasks(tasks)
    with pytest.raises(UsageError, match="add the task proximity"):
        check_tasks(["search"], by_format=True)
