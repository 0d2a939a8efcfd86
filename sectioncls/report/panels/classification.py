"""Every classifier on every encoder, baselines first, the published value beside."""

from __future__ import annotations

import math
from typing import Any

from sectioncls.report.views import CorpusView, Measured, Summary, interval_words

__all__ = ["build"]

WIDTH = 200
"""Width of an interval's drawing, in pixels."""


def build(summary: Summary) -> dict[str, Any] | None:
    """Give one table per corpus; None when no run classified anything."""
    tables = [_table(corpus, summary) for corpus in summary.corpora if corpus.classification]
    return {"tables": tables} if tables else None


def _table(corpus: CorpusView, summary: Summary) -> dict[str, Any]:
    """Give the groups of one corpus and the common axis of its intervals."""
    rows = [row for group in corpus.classification for row in group.rows]
    scores = [row.scores["f1-micro"] for row in rows if "f1-micro" in row.scores]
    low, high = _axis(scores)

    def at(value: float | None) -> float | None:
        if value is None or math.isnan(value):
            return None
        return round(4 + (WIDTH - 8) * (100 * value - low) / (high - low), 1)

    base = next((row for row in rows if row.method == "tfidf-logistic-regression"), None)
    first = scores[0] if scores else None
    return {
        "corpus": corpus,
        "published": any(score.published is not None for score in scores),
        "macro": any("f1-macro" in row.scores for row in rows),
        "intervals": interval_words(scores),
        "ranges": any(score.unit == "seed" for score in scores),
        "n": first.n if first else 0,
        "axis": (low, high),
        "width": WIDTH,
        "at": at,
        "base": at(base.scores["f1-micro"].value) if base and "f1-micro" in base.scores else None,
        "several": len(summary.runs) > 1,
        "outside": any(score.published_inside is False for score in scores),
    }


def _axis(scores: list[Measured]) -> tuple[int, int]:
    """Give the ends of the axis in points, whole tens around everything that is drawn."""
    values = [
        100 * value
        for score in scores
        for value in (score.value, score.low, score.high, score.published)
        if value is not None and not math.isnan(value)
    ]
    low = 10 * math.floor(min(values, default=0) / 10)
    high = 10 * math.ceil(max(values, default=100) / 10)
    return low, max(high, low + 10)
