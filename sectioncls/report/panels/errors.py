"""Sentences that the best method got wrong; only on a page that may hold corpus text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sectioncls.errors import InputError
from sectioncls.render import marks
from sectioncls.report.summary import RunView, Summary

__all__ = ["SHOWN", "build"]

SHOWN = 30
"""How many sentences a page shows."""


def build(summary: Summary) -> dict[str, Any] | None:
    """Give up to SHOWN misclassified test sentences per run; None unless the page may hold text."""
    if not summary.with_text:
        return None
    entries = [_entry(run) for run in summary.runs if run.best]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def _entry(run: RunView) -> dict[str, Any]:
    """Give the sentences of one run, spread evenly over its errors, or why there are none."""
    wrong = _wrong(run)
    try:
        texts = _texts(run)
    except InputError as error:
        return {"run": run, "rows": [], "total": len(wrong), "why": str(error), "looks": {}}
    step = max(1, len(wrong) // SHOWN)
    rows = []
    for article, index, true, predicted in wrong[::step][:SHOWN]:
        if (article, index) in texts:
            rows.append((article, index, true, predicted, texts[article, index]))
    looks = marks(sorted({label for row in rows for label in row[2:4]}))
    return {"run": run, "rows": rows, "total": len(wrong), "why": "", "looks": looks}


def _wrong(run: RunView) -> list[tuple[str, int, str, str]]:
    """Give article, index, true and predicted label of every error of the best method."""
    table = run.run.read_table("predictions")
    if not table or run.best is None:
        return []
    key = (run.best[0].key, run.best[1].method)
    names = ("encoder", "method", "article_id", "index", "label", "predicted")
    rows = zip(*(table[name] for name in names), strict=True)
    return [tuple(row[2:]) for row in rows if row[:2] == key and row[4] != row[5]]


def _texts(run: RunView) -> dict[tuple[str, int], str]:
    """Give the test sentences by article and index, from the corpus that the run was made on."""
    from sectioncls.corpora import open_corpus

    place = run.corpus.info.get("path")
    if not place:
        raise InputError("the run does not say where its corpus is")
    corpus = open_corpus(Path(str(place)))
    if corpus.info.fingerprint != run.corpus.info.get("fingerprint"):
        raise InputError("is not the corpus of this run (other fingerprint)", place)
    test = corpus.split("test")
    return {
        (article, int(index)): text
        for article, index, text in zip(test.article_ids, test.index, test.texts, strict=True)
    }
