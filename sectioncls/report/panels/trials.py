"""The search of settings that came before a training: what was tried, what dev said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from sectioncls.errors import InputError
from sectioncls.render import Picture, number, whole
from sectioncls.report.figures import curves
from sectioncls.report.views import RunView, Summary

__all__ = ["build"]

_FILE = "trials.jsonl"
# Rows that the page shows without being asked.
_OPEN = 12


def build(summary: Summary) -> dict[str, Any] | None:
    """Give the trials of each run that searched; None where none did."""
    entries = [entry for run in summary.runs if (entry := _entry(run))]
    return {"entries": entries, "several": len(summary.runs) > 1, "open": _OPEN} if entries else None


def _entry(run: RunView) -> dict[str, Any] | None:
    """Give one search, its trials from best to worst. Raises InputError for a journal that can't be read."""
    text = run.run.read_text(_FILE)
    if text is None:
        return None
    try:
        head, *rows = [dict(json.loads(line)) for line in text.splitlines()]
        params = list(head["space"])
        trials: list[dict[str, Any]] = [
            {
                "number": int(row["number"]),
                "params": [_said(row["params"].get(name)) for name in params],
                "value": None if row["value"] is None else float(row["value"]),
                "checks": len(row["checks"]),
                "seconds": float(row["seconds"]),
                "state": str(row["state"]),
            }
            for row in rows
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("is not the journal of a search", run.run.path / _FILE) from error
    if not trials:
        return None
    complete = [trial for trial in trials if trial["state"] == "complete" and trial["value"] is not None]
    valued = [trial for trial in trials if trial["value"] is not None]
    best = max(complete or valued or trials, key=lambda trial: (trial["value"] or 0.0, -trial["number"]))
    order = sorted(trials, key=lambda trial: (trial is not best, -(trial["value"] or 0.0), trial["number"]))
    states = [trial["state"] for trial in trials]
    return {
        "run": run,
        "names": [name.replace("_", " ") for name in params],
        "trials": order,
        "best": best["number"],
        "sampler": str(head.get("sampler", "")),
        "states": [(name, states.count(name)) for name in dict.fromkeys(states)],
        "seconds": sum(trial["seconds"] for trial in trials),
        "picture": _picture(valued),
    }


def _picture(trials: list[dict[str, Any]]) -> Picture | None:
    """Give each trial's score and the best so far, over the trials in order."""
    if len(trials) < 3:
        return None
    order = sorted(trials, key=lambda trial: trial["number"])
    numbers = [float(trial["number"]) for trial in order]
    values = [100 * trial["value"] for trial in order]
    best = list(accumulate(values, max))
    alt = (
        f"F1-micro on dev of {whole(len(order))} trials: the best rises from {number(best[0], 1)} to "
        f"{number(best[-1], 1)}."
    )
    draw: Callable[..., Picture] = curves
    lines = {"trial": (numbers, values), "best so far": (numbers, best)}
    return draw(lines, y_label="F1-micro on dev × 100", x_label="trial", alt=alt, points=True)


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "–" if value is None else str(value)
