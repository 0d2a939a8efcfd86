"""How well clusters of the test embeddings agree with the labels, and whether the silhouette can be believed."""

from __future__ import annotations

from typing import Any

from sectioncls.report.views import HIGH_SILHOUETTE, CorpusView, Summary, interval_words, on_points

__all__ = ["build"]

_METRICS = (("ari", "ARI"), ("ami", "AMI"), ("silhouette", "Silhouette"))


def build(summary: Summary) -> dict[str, Any] | None:
    """Give one table per corpus; None when no run clustered anything."""
    tables = [_table(corpus, summary) for corpus in summary.corpora if corpus.clustering]
    return {"tables": tables, "metrics": _METRICS} if tables else None


def _table(corpus: CorpusView, summary: Summary) -> dict[str, Any]:
    """Give the groups of one corpus and the notes that explain a high silhouette."""
    rows = [row for group in corpus.clustering for row in group.rows]
    scores = [score for row in rows for score in row.scores.values()]
    encoders = [group.encoder for group in corpus.clustering if group.encoder and group.encoder.collapsed]
    return {
        "corpus": corpus,
        "published": any(score.published is not None for score in scores),
        "rank": any("silhouette" in row.scores or "effective-rank" in row.scores for row in rows),
        "noise": any("noise" in row.scores for row in rows),
        "intervals": interval_words(scores),
        "n": next((score.n for score in scores), 0),
        "several": len(summary.runs) > 1,
        "collapsed": [(encoder, encoder.notes) for encoder in encoders],
        "on_points": lambda row: on_points(row, len(corpus.labels)),
        "any_on_points": any(on_points(row, len(corpus.labels)) for row in rows),
        "labels": len(corpus.labels),
        "high": HIGH_SILHOUETTE,
    }
