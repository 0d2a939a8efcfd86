"""Trained models on corpora that they may never have seen: the matrix of arXiv 2102.06008."""

from __future__ import annotations

from typing import Any

from sectioncls.records import Score
from sectioncls.report.views import Measured, RunView, Summary

__all__ = ["build"]

# What the cells of a matrix may show; the first is that of the best.
_METRICS = (
    ("f1-micro", "F1-micro", "of the labels that the corpus knows"),
    ("f1-macro", "F1-macro", "of the labels that the corpus knows"),
    ("hit-rate", "Hit rate", "share of sentences whose label may be right, where a corpus leaves several open"),
    ("ece", "Calibration error", "as the probabilities come; smaller is better"),
    ("ece-recalibrated", "Calibration error, mended", "after a temperature fitted on 100 labelled sentences"),
)


def build(summary: Summary) -> dict[str, Any] | None:
    """Give one matrix a metric, models by corpora, over all runs; None where no run tested transfer."""
    found: dict[str, dict[tuple[str, str], dict[str, Measured]]] = {}
    trained: dict[tuple[str, str], str] = {}
    own: set[tuple[tuple[str, str], str]] = set()
    for run in summary.runs:
        for score in run.run.scores():
            if score.protocol == "transfer" and score.label is None:
                key, column = (run.name, score.encoder), _column(score)
                cells = found.setdefault(score.metric, {}).setdefault(key, {})
                cells[column] = _measured(score)
                on = _corpus_of(run, score.encoder)
                trained[key] = str(on.get("name", ""))
                if on.get("fingerprint") and on["fingerprint"] == score.fingerprint:
                    own.add((key, column))
    tables = []
    for metric, title, about in _METRICS:
        rows = found.get(metric, {})
        columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
        if rows:
            best = {column: _best(rows, column) for column in columns} if metric.startswith("f1") else {}
            tables.append(
                {"metric": metric, "title": title, "about": about, "columns": columns, "rows": rows, "best": best}
            )
    if not tables:
        return None
    return {"tables": tables, "trained": trained, "own": own, "several": len({run for run, _ in trained}) > 1}


def _column(score: Score) -> str:
    """Give the corpus as a column names it, with its split where that is not test."""
    return score.corpus if score.split == "test" else f"{score.corpus} ({score.split})"


def _measured(score: Score) -> Measured:
    return Measured(score.value, score.low, score.high, score.n, score.unit, (score.seed,))


def _corpus_of(run: RunView, encoder: str) -> dict[str, Any]:
    """Give what run.json says of the corpus that a model learnt from."""
    entry = (run.info.get("encoders") or {}).get(encoder) or {}
    corpus = entry.get("corpus") if isinstance(entry, dict) else None
    return corpus if isinstance(corpus, dict) else {}


def _best(rows: dict[tuple[str, str], dict[str, Measured]], column: str) -> float | None:
    """Give the highest value of a column, as the page rounds it; None where there is nothing to compare."""
    values = [round(cells[column].value, 4) for cells in rows.values() if column in cells]
    return max(values) if len(values) > 1 else None
