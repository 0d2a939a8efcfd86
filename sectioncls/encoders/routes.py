"""What an encoder is asked for: a task, and the side of it that a text stands on."""

from __future__ import annotations

from collections.abc import Sequence

from sectioncls.errors import UsageError

__all__ = ["SIDES", "TASKS", "check_tasks", "route_of"]

TASKS = ("classification", "regression", "proximity", "search")
SIDES = ("query", "document")


def route_of(routes: Sequence[str], task: str | None, side: str, *, by_format: bool = False) -> int:
    """Give the number of the route that a text of ``task`` on ``side`` takes through ``routes``.

    Both sides of a task share a route. ``by_format`` alone sends the documents of a search where papers are compared
    with papers: route ``search`` is the query's then, ``proximity`` the document's. As sentence-transformers does, the
    tasks ``query`` and ``document`` name the two sides of a search.
    Raises UsageError for a task or side that is unknown, or missing.
    """
    if task in SIDES:
        task, side = "search", task
    if side not in SIDES:
        raise UsageError(f"unknown side {side!r}", todo=f"known: {', '.join(SIDES)}")
    known = ", ".join(routes)
    if task is None:
        raise UsageError("this encoder has to be told the task", todo=f"known: {known}")
    if task not in routes:
        raise UsageError(f"unknown task {task!r}", todo=f"known: {known}")
    return routes.index("proximity" if by_format and task == "search" and side == "document" else task)


def check_tasks(tasks: Sequence[str], *, by_format: bool = False) -> tuple[str, ...]:
    """Give ``tasks`` in their usual order. Raises UsageError for an unknown one, for none, or for one given twice."""
    for task in tasks:
        if task not in TASKS:
            raise UsageError(f"unknown task {task!r}", todo=f"known: {', '.join(TASKS)}")
    if not tasks or len(set(tasks)) < len(tasks):
        raise UsageError("name each task once, and one at least", todo=f"known: {', '.join(TASKS)}")
    if by_format and "search" in tasks and "proximity" not in tasks:
        raise UsageError("the documents of a search take the route of proximity", todo="add the task proximity")
    return tuple(task for task in TASKS if task in tasks)
