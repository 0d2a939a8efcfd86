"""What a study measures without training, as a table with the figures that may be drawn of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

__all__ = ["Line", "MeasuredTable", "Value", "table_of"]

Value: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A figure of a table: the column ``y`` along ``x``, one line for each value of ``series`` ('' : one line)."""

    x: str
    y: str
    series: str = ""
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """Rows under columns; ``heat`` says that cells are correlations, to be shaded. Undefined numbers are None."""

    name: str
    kind: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    figures: tuple[Line, ...] = ()
    notes: tuple[str, ...] = field(default=())
    heat: bool = False

    def at(self, place: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give the rows that have these values in these columns, as mappings; unknown columns match nothing."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return [row for row in rows if all(row.get(key) == value for key, value in place.items())]

    def plain(self) -> dict[str, Any]:
        """Give the table as JSON holds it."""
        return asdict(self)


def table_of(content: Mapping[str, Any]) -> MeasuredTable:
    """Give the table that ``plain`` made, after JSON."""
    figures = tuple(Line(**line) for line in content.get("figures", ()))
    rows: Sequence[Sequence[Value]] = content["rows"]
    kept = {key: value for key, value in content.items() if key not in ("figures", "rows", "columns", "notes")}
    return MeasuredTable(
        **kept,
        columns=tuple(content["columns"]),
        rows=tuple(tuple(row) for row in rows),
        figures=figures,
        notes=tuple(content.get("notes", ())),
    )
