"""Paper encoders: every encoder on every task, the means, what changed against the vanilla one, what each cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sectioncls.records import Score
from sectioncls.report.summary import Measured, RunView, Summary

__all__ = ["build"]

_WORDS = {"bm25": "BM25", "tfidf": "TF-IDF", "popularity": "Popularity"}
_METRICS = {
    "map": "MAP",
    "ndcg": "nDCG",
    "ndcg@10": "nDCG@10",
    "recall@20": "Recall@20",
    "f1-macro": "F1-macro",
    "f1-binary": "F1",
    "p@1": "P@1",
    "tau": "τ",
}
_VANILLA = "none"

Cells = dict[str, Measured]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's tables; None where no run is of papers."""
    entries = [_entry(run) for run in summary.runs if run.info.get("kind") == "papers"]
    return {"entries": entries, "several": len(entries) > 1} if entries else None


def _entry(run: RunView) -> dict[str, Any]:
    main: Mapping[str, Mapping[str, Sequence[str]]] = run.info.get("main") or {}
    scores = [score for score in run.run.scores() if score.split == "test" and score.label is None]
    tasks = {task: metric for chosen in main.values() for task, (metric, _) in chosen.items()}
    rows = {title: _row(scores, "", main[word]) for word, title in _WORDS.items() if word in main}
    rows |= {name: _row(scores, name, main[name]) for name in run.encoders if name in main}
    means = {name: _means(scores, name) for name in run.encoders}
    means = {name: cells for name, cells in means.items() if cells}
    base = _VANILLA if _VANILLA in rows else next((name for name in run.encoders if name in rows), None)
    return {
        "run": run,
        "tasks": [(task, _METRICS.get(metric, metric)) for task, metric in tasks.items()],
        "rows": rows,
        "best": _best(rows),
        "groups": list(dict.fromkeys(group for cells in means.values() for group in cells)),
        "means": means,
        "best_means": _best(means),
        "vanilla": base,
        "changes": _changes(rows, base, set(run.encoders)),
        "costs": [(name, run.info["encoders"][name]) for name in run.encoders],
        "notes": [str(note) for note in run.info.get("notes") or ()],
    }


def _row(scores: Sequence[Score], name: str, chosen: Mapping[str, Sequence[str]]) -> Cells:
    """Give an encoder's main value on each task, or with no ``name`` that of words; several seeds become their mean."""
    return {
        task: _value([s for s in scores if (s.encoder, s.task, s.metric, s.method) == (name, task, metric, method)])
        for task, (metric, method) in chosen.items()
    }


def _means(scores: Sequence[Score], name: str) -> Cells:
    found: dict[str, list[Score]] = {}
    for score in scores:
        if score.encoder == name and score.task.startswith("average:"):
            found.setdefault(score.task.partition(":")[2], []).append(score)
    return {group: _value(same) for group, same in found.items()}


def _value(scores: Sequence[Score]) -> Measured:
    if len(scores) == 1:
        one = scores[0]
        return Measured(one.value, one.low, one.high, one.n, one.unit, (one.seed,))
    values = [score.value for score in scores]
    seeds = tuple(score.seed for score in scores)
    if not values:
        return Measured(math.nan, None, None, 0, "", ())
    return Measured(math.fsum(values) / len(values), min(values), max(values), scores[0].n, "seed", seeds)


def _best(rows: Mapping[str, Cells]) -> set[tuple[str, str]]:
    """Give the (row, task) that are highest of their task, as rounded on the page."""
    best: set[tuple[str, str]] = set()
    for task in {task for cells in rows.values() for task in cells}:
        values = {name: round(cells[task].value, 3) for name, cells in rows.items() if task in cells}
        values = {name: value for name, value in values.items() if not math.isnan(value)}
        best |= {(name, task) for name, value in values.items() if value == max(values.values())}
    return best


def _changes(rows: Mapping[str, Cells], base: str | None, encoders: set[str]) -> dict[str, dict[str, float]]:
    """Give by how many per cent each encoder differs from ``base`` on each task."""
    if base is None:
        return {}
    under = rows[base]
    return {
        name: {
            task: 100 * (cell.value / under[task].value - 1)
            for task, cell in cells.items()
            if task in under and under[task].value > 0 and not math.isnan(cell.value)
        }
        for name, cells in rows.items()
        if name in encoders and name != base
    }
