"""Precision against recall of each label, where a method says how likely each label is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sectioncls.render import Mark, Picture, marks, number
from sectioncls.report.figures import precision_recall
from sectioncls.report.views import Encoder, Row, RunView, Summary

__all__ = ["build", "pictures"]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's curves and the average precision of every method that has one; None where none has."""
    entries = [entry for run in summary.runs if (entry := _entry(run))]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def pictures(run: RunView) -> list[tuple[str, Callable[[str], Picture]]]:
    """Give the figure's file name and what draws it in a form; [] where no method has probabilities."""
    entry = _entry(run)
    return [("precision-recall", entry["draw"])] if entry else []


def _entry(run: RunView) -> dict[str, Any] | None:
    rows = [(group.encoder, row) for group in run.groups if group.encoder for row in group.rows]
    rows = [(encoder, row) for encoder, row in rows if "average-precision" in row.scores]
    rows.sort(key=lambda one: -one[1].scores["average-precision"].value)
    if not rows:
        return None
    encoder, row = rows[0]
    lines = _lines(run, encoder, row)
    if not lines:
        return None
    looks = marks([*dict.fromkeys([*run.corpus.labels, *lines])])
    precisions = _averages(run)
    mean = row.scores["average-precision"].value
    alt = (
        f"Precision against recall of {row.title} on {encoder.title}, one curve a label; "
        f"average precision {number(100 * mean, 1)} over the labels."
    )
    return {
        "run": run,
        "first": (encoder, row),
        "draw": _drawer(lines, looks, alt),
        "picture": precision_recall(lines, looks, alt),
        "labels": list(lines),
        "looks": looks,
        "methods": [
            (encoder, row, precisions.get((encoder.key, row.method), {}), row.scores["average-precision"])
            for encoder, row in rows
        ],
    }


def _drawer(
    lines: dict[str, tuple[list[float], list[float]]], looks: dict[str, Mark], alt: str
) -> Callable[[str], Picture]:
    return lambda form: precision_recall(lines, looks, alt, form)


def _lines(run: RunView, encoder: Encoder, row: Row) -> dict[str, tuple[list[float], list[float]]]:
    """Give (recall, precision) of each label, in the order of the labels."""
    table = run.run.read_table("curves")
    found: dict[str, tuple[list[float], list[float]]] = {}
    rows = zip(*(table.get(name, ()) for name in ("encoder", "method", "curve", "series", "x", "y")), strict=True)
    for key, method, curve, label, x, y in rows:
        if (key, method, curve) == (encoder.key, row.method, "precision-recall"):
            recalls, precisions = found.setdefault(label, ([], []))
            recalls.append(float(x))
            precisions.append(float(y))
    return {label: found[label] for label in run.ordered(found)}


def _averages(run: RunView) -> dict[tuple[str, str], dict[str, float]]:
    """Give the average precision of each label by encoder and method; the mean of several seeds."""
    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    for score in run.run.scores():
        if score.metric == "average-precision" and score.label is not None and score.split == "test":
            values.setdefault((score.encoder, score.method), {}).setdefault(score.label, []).append(score.value)
    return {
        owner: {label: sum(found) / len(found) for label, found in labels.items()} for owner, labels in values.items()
    }
