"""What each encoder and method of a run said of the test sentences, read once however many panels ask."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sectioncls.report.views import Encoder, Row, RunView

__all__ = ["Columns", "best_with_predictions", "has", "methods_that_know", "predictions"]

Columns = dict[str, list[Any]]


@lru_cache(maxsize=4)  # a page asks panel by panel, for one run after the other
def predictions(run: RunView) -> Mapping[tuple[str, str], Columns]:
    """Give the columns of the table ``predictions`` by encoder and method; {} where the run keeps none."""
    table = run.run.read_table("predictions")
    rows: dict[tuple[str, str], list[int]] = {}
    for at, owner in enumerate(zip(table.get("encoder", ()), table.get("method", ()), strict=True)):
        rows.setdefault(owner, []).append(at)
    return {
        owner: {name: [values[at] for at in mine] for name, values in table.items()} for owner, mine in rows.items()
    }


def best_with_predictions(run: RunView, encoder: str) -> Columns | None:
    """Give what the best classifier on an encoder said, of those whose predictions are kept; None without any."""
    tables = (table for found, _, table in methods_that_know(run, "predicted") if found.key == encoder)
    return next(tables, None)


def methods_that_know(run: RunView, column: str) -> list[tuple[Encoder, Row, Columns]]:
    """Give the methods on encoders whose predictions have something in ``column``, the best first, with these."""
    found = predictions(run)
    rows = [(group.encoder, row) for group in run.groups if group.encoder for row in group.rows]
    rows = [(encoder, row) for encoder, row in rows if "f1-micro" in row.scores]
    rows.sort(key=lambda one: -one[1].scores["f1-micro"].value)
    tables = [(encoder, row, found.get((encoder.key, row.method))) for encoder, row in rows]
    return [(encoder, row, table) for encoder, row, table in tables if table and has(table, column)]


def has(table: Columns, column: str) -> bool:
    """Tell whether any row has a value in ``column``."""
    return any(value is not None for value in table.get(column, ()))
