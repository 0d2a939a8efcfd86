"""What the corpus holds: sentences per split, and how often each label occurs."""

from __future__ import annotations

from typing import Any

from sectioncls.render import marks
from sectioncls.report.summary import CorpusView, Summary

__all__ = ["build"]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give the two tables of each corpus; None when no run says what its corpus holds."""
    corpora = [corpus for corpus in summary.corpora if corpus.info.get("kind") != "papers"]
    entries = [_entry(corpus) for corpus in corpora if corpus.info.get("counts")]
    return {"entries": entries, "several": len(entries) > 1} if entries else None


def _entry(corpus: CorpusView) -> dict[str, Any]:
    counts = corpus.info["counts"]
    found = list(dict.fromkeys([*corpus.labels, *(label for split in counts.values() for label in split)]))
    sizes = {split: sum(by_label.values()) for split, by_label in counts.items()}
    comparison = corpus.comparison
    return {
        "corpus": corpus,
        "splits": list(counts),
        "counts": counts,
        "sizes": sizes,
        "total": sum(sizes.values()),
        "articles": corpus.info.get("articles") or {},
        "has_articles": corpus.info.get("has_articles", True),
        "lengths": corpus.info.get("lengths") or {},
        "published": comparison.published.sizes.get(comparison.corpus, {}) if comparison.corpus else {},
        "labels": found,
        "looks": marks(found),
        "dropped": {reason: n for reason, n in (corpus.info.get("dropped") or {}).items() if n},
        "notes": [str(note) for note in corpus.info.get("notes") or ()],
    }
