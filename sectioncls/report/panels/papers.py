"""Paper encoders: every encoder on every task, the means, what changed against the vanilla one, what each cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sectioncls.records import Score
from sectioncls.report.panels.papers_findings import findings, leak_twins
from sectioncls.report.views import Measured, RunView, Summary

__all__ = ["build"]

# Rows without an encoder, in the order of the table.
_WORDS = {
    "bm25": "BM25",
    "tfidf": "TF-IDF",
    "popularity": "Popularity",
    "doc2vec": "Doc2Vec",
    "fasttext": "fastText averages",
    "lsa": "Latent semantic analysis",
    "sgc": "SGC",
    "graph": "Citation graph alone",
    "citeomatic": "Citeomatic-style",
    "kanakia": "Co-citation and TF-IDF",
    "cited": "Citations in train",
}
_METRICS = {
    "map": "MAP",
    "ndcg": "nDCG",
    "ndcg@10": "nDCG@10",
    "recall@5": "Recall@5",
    "recall@20": "Recall@20",
    "f1-macro": "F1-macro",
    "f1-binary": "F1",
    "p@1": "P@1",
    "tau": "τ",
}
_VANILLA = "none"
_GROUPS = ("classification", "regression", "proximity", "search", "in-train", "held-out", "all")
_MEAN = ", mean of fields"

Cells = dict[str, Measured]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's tables; None where no run is of papers."""
    # A study may measure without any encoder.
    shown = [run for run in summary.runs if run.info.get("main") or run.encoders]
    entries = [_entry(run) for run in shown if run.of_papers]
    return {"entries": entries, "several": len(entries) > 1, "twins": leak_twins(entries)} if entries else None


def _entry(run: RunView) -> dict[str, Any]:
    main: Mapping[str, Mapping[str, Sequence[str]]] = run.info.get("main") or {}
    every = [score for score in run.run.scores() if score.split == "test"]
    scores = [score for score in every if score.label is None]
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
        "groups": sorted({group for cells in means.values() for group in cells}, key=_place),
        "means": means,
        "best_means": _best(means),
        "vanilla": base,
        "changes": _changes(rows, base, set(run.encoders)),
        "found": findings(run, rows, means, base),
        "costs": [(name, run.info["encoders"][name]) for name in run.encoders],
        "by_field": _by_field(every, run.encoders),
        "notes": [str(note) for note in run.info.get("notes") or ()],
    }


def _place(group: str) -> tuple[int, str]:
    """Give where a mean stands: formats first, then the tasks learnt, those held out, and all."""
    return (_GROUPS.index(group) if group in _GROUPS else len(_GROUPS), group)


def _row(scores: Sequence[Score], name: str, chosen: Mapping[str, Sequence[str]]) -> Cells:
    """Give an encoder's main value on each task, or with no ``name`` that of words; several seeds become their mean."""
    return {
        task: _value([s for s in scores if (s.encoder, s.task, s.metric, s.method) == (name, task, metric, method)])
        for task, (metric, method) in chosen.items()
    }


def _by_field(scores: Sequence[Score], encoders: Iterable[str]) -> list[dict[str, Any]]:
    """Give a table for each metric of each ranking that has rows of fields: systems by fields, and their mean."""
    ranked = [score for score in scores if score.task.startswith(("rank:", "retrieve:"))]
    tables = []
    for task, metric in dict.fromkeys((score.task, score.metric) for score in ranked if score.label is not None):
        mine = [score for score in ranked if score.task == task and score.metric in (metric, metric + _MEAN)]
        mine = [score for score in mine if score.label is not None or score.metric != metric]
        sizes: dict[str, int] = {score.label: score.n for score in mine if score.label is not None}
        rows: dict[str, Cells] = {}
        for title, of in ((title, ("", word)) for word, title in _WORDS.items()):
            rows[title] = _fields([score for score in mine if (score.encoder, score.method) == of])
        for name in encoders:
            rows[name] = _fields([score for score in mine if score.encoder == name])
        fields: list[tuple[str, int]] = sorted(sizes.items(), key=_largest)
        tables.append(
            {
                "task": task,
                "metric": _METRICS.get(metric, metric),
                "fields": fields,
                "rows": {title: cells for title, cells in rows.items() if cells},
            }
        )
    return tables


def _largest(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _fields(scores: Sequence[Score]) -> Cells:
    """Give the value of each field, and under '' that of the mean of fields."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.label or "", []).append(score)
    return {field: _value(same) for field, same in found.items()}


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
