"""How training went: the loss, and the scores on the dev split."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sectioncls.render import Picture, number, whole
from sectioncls.report.figures import curves
from sectioncls.report.summary import METHODS, RunView, Summary

__all__ = ["build", "pictures"]

_Draw = Callable[[str], Picture]

_PLAIN = {"kind", "step", "epoch", "seconds", "sentences", "learning_rate", "task"}
_TITLES = {
    "f1-micro": "F1-micro",
    "f1-macro": "F1-macro",
    "ari": "ARI",
    "ami": "AMI",
    "silhouette": "silhouette",
    "effective-rank": "effective rank",
}


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's curves and dev scores; None when no run trained."""
    entries = [entry for run in summary.runs if (entry := _entry(run))]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def _entry(run: RunView, drawn: bool = True) -> dict[str, Any] | None:
    history = run.run.history()
    if len({row.get("encoder") for row in history}) > 1:
        return None  # curves of many encoders hide each other
    steps = [row for row in history if row.get("kind") == "step" and _is_number(row.get("loss"))]
    dev = [row for row in history if row.get("kind") == "dev"]
    notes = [str(row.get("text", "")) for row in history if row.get("kind") == "note"]
    if not steps and not dev:
        return None
    metrics = list(dict.fromkeys(name for row in dev for name in row if name not in _PLAIN))
    metrics = [name for name in metrics if all(_is_number(row.get(name)) for row in dev if name in row)]
    found = [one for one in (_loss(steps), _scores(dev, metrics)) if one]
    return {
        "run": run,
        "drawn": found,
        "pictures": [{"title": title, "picture": draw("page")} for title, draw in found] if drawn else [],
        "dev": dev,
        "metrics": [(name, _title(name), _scale(dev, name)) for name in metrics],
        "notes": notes,
        "last": steps[-1].get("step") if steps else None,
    }


def pictures(run: RunView) -> list[tuple[str, _Draw]]:
    """Give the file name of each curve of a run and what draws it in a form; [] where it trained nothing."""
    entry = _entry(run, drawn=False)
    return [("-".join(title.lower().split()), draw) for title, draw in entry["drawn"]] if entry else []


def _loss(steps: list[dict[str, Any]]) -> tuple[str, _Draw] | None:
    """Give the curve of the loss, one per task."""
    if len(steps) < 2:
        return None
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in steps:
        xs, ys = lines.setdefault(str(row.get("task", "loss")), ([], []))
        xs.append(row["step"])
        ys.append(row["loss"])
    parts = [
        f"{name}: from {number(ys[0], 3)} at step {whole(xs[0])} to {number(ys[-1], 3)} at step {whole(xs[-1])}"
        for name, (xs, ys) in lines.items()
    ]
    alt = f"Training loss over the steps. {'; '.join(parts)}."
    return "Training loss", lambda form: curves(lines, y_label="loss", alt=alt, form=form)


def _scores(dev: list[dict[str, Any]], metrics: list[str]) -> tuple[str, _Draw] | None:
    """Give the curves of those dev scores that share the scale of fractions."""
    names = [name for name in metrics if _scale(dev, name) == 100 and "loss" not in name]
    lines = {}
    for name in names:
        rows = [row for row in dev if name in row]
        lines[_title(name)] = ([row["step"] for row in rows], [100 * row[name] for row in rows])
    if not lines or max(len(xs) for xs, _ in lines.values()) < 2:
        return None
    last = "; ".join(f"{name} {number(ys[-1], 1)}" for name, (_, ys) in lines.items())
    y_label = f"{next(iter(lines))} × 100" if len(lines) == 1 else "× 100"
    alt = f"Scores on the dev split over the training steps. At the end: {last}."
    return "Scores on the dev split", lambda form: curves(lines, y_label=y_label, alt=alt, points=True, form=form)


def _scale(dev: list[dict[str, Any]], name: str) -> int:
    """Give 100 for a metric that is a fraction, 1 for one with a scale of its own."""
    own = "loss" in name or "rank" in name or "distance" in name
    return 1 if own or any(abs(row[name]) > 1 for row in dev if name in row) else 100


def _title(name: str) -> str:
    method, _, metric = name.rpartition("/")
    title = _TITLES.get(metric, re.sub("[-_]", " ", metric))
    return f"{METHODS.get(method, method)} {title}" if method else title


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
