"""Where the best method of each run errs: F1 per label, and which label it takes for which."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sectioncls.render import marks
from sectioncls.report.predictions import predictions
from sectioncls.report.views import RunView, Summary

__all__ = ["build", "confusion"]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give the label table and the confusion matrix of each run's best method; None without either."""
    entries = [entry for run in summary.runs if (entry := _entry(run))]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def _entry(run: RunView) -> dict[str, Any] | None:
    if run.best is None:
        return None
    encoder, row = run.best
    counts = confusion(run)
    if not counts and not row.per_label:
        return None
    found = {label for pair in counts for label in pair} | set(row.per_label)
    labels = run.ordered(found)
    totals = {label: sum(n for (true, _), n in counts.items() if true == label) for label in labels}
    baseline = run.baseline("tfidf-logistic-regression")
    test = run.corpus.info.get("counts", {}).get("test", {})
    return {
        "run": run,
        "encoder": encoder,
        "row": row,
        "labels": labels,
        "looks": marks(labels),
        "counts": counts,
        "totals": totals,
        "support": {label: totals[label] or test.get(label, 0) for label in labels},
        "baseline": baseline.per_label if baseline else {},
        "intervals": any(score.low is not None for score in row.per_label.values()),
        "worst": _worst(counts, totals),
    }


def confusion(run: RunView) -> dict[tuple[str, str], int]:
    """Give (true label, predicted label) → sentences for the best method; {} without its predictions."""
    if run.best is None:
        return {}
    table = predictions(run).get((run.best[0].key, run.best[1].method), {})
    return dict(Counter(zip(table.get("label", ()), table.get("predicted", ()), strict=True)))


def _worst(counts: dict[tuple[str, str], int], totals: dict[str, int]) -> list[tuple[str, str, int, float]]:
    """Give the three commonest confusions: true, predicted, sentences, share of the true label."""
    wrong = [(n, pair) for pair, n in counts.items() if pair[0] != pair[1]]
    wrong.sort(key=lambda item: (-item[0], item[1]))
    return [(true, predicted, n, n / totals[true]) for n, (true, predicted) in wrong[:3]]
