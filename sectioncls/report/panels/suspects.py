"""Test sentences whose label the surest method doubts: candidates for a second look, by confident learning.

Paper: Northcutt, Jiang and Chuang 2021 (arXiv 1911.00068), section 3.1: another label is as likely as it usually is for
sentences that bear it. Named by article and index; their text stands there only on a page that may hold it.
"""

from __future__ import annotations

from typing import Any

from sectioncls.render import marks
from sectioncls.report.predictions import methods_that_know
from sectioncls.report.sentences import Told, told
from sectioncls.report.views import RunView, Summary

__all__ = ["LISTED", "build"]

LISTED = 30
"""How many stand on the page; the run's table ``predictions`` has all."""


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's doubted labels, the most doubtful first; None when no run's method gave probabilities."""
    entries = [entry for run in summary.runs if (entry := _entry(run, summary.with_text))]
    if not entries:
        return None
    return {"entries": entries, "several": len(summary.runs) > 1, "with_text": summary.with_text}


def _entry(run: RunView, with_text: bool) -> dict[str, Any] | None:
    """Give what the best method with probabilities doubts."""
    found = methods_that_know(run, "own_probability")
    if not found:
        return None
    encoder, method, table = found[0]
    doubted = [at for at, other in enumerate(table["suggested"]) if other is not None]
    doubted.sort(key=lambda at: (table["own_probability"][at] - table["probability"][at], at))
    corpus = told(run) if with_text else Told({}, {})
    names = [*run.corpus.labels, *(table["label"][at] for at in doubted), *(table["suggested"][at] for at in doubted)]
    return {
        "run": run,
        "encoder": encoder,
        "method": method,
        "total": len(doubted),
        "n": len(table["label"]),
        "why": corpus.why,
        "looks": marks([*dict.fromkeys(names)]),
        "rows": [
            {
                **{name: table[name][at] for name in ("label", "suggested", "own_probability", "probability", "index")},
                "article": str(table["article_id"][at]),
                "text": corpus.texts.get((str(table["article_id"][at]), int(table["index"][at])), ""),
            }
            for at in doubted[:LISTED]
        ],
    }
