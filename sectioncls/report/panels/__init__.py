"""The panels of a report, in the order of the page: one file and one template of the same name each.

A panel is a function of the Summary that gives the values of its template, or None when it has nothing to show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sectioncls.report.panels import (
    classification,
    clustering,
    clusters,
    corpus,
    errors,
    facts,
    learning,
    overview,
    papers,
    per_label,
    precision_recall,
    projection,
    replication,
    studies,
    suspects,
    training,
    transfer,
    trials,
    unseen,
)
from sectioncls.report.views import Summary

__all__ = ["PANELS"]

PANELS: dict[str, tuple[str, Callable[[Summary], dict[str, Any] | None]]] = {
    "studies": ("Claims of the papers", studies.build),
    "overview": ("Result", overview.build),
    "papers": ("Paper encoders", papers.build),
    "classification": ("Classification", classification.build),
    "clustering": ("Clustering", clustering.build),
    "unseen": ("Without what other splits hold", unseen.build),
    "clusters": ("What the clusters hold", clusters.build),
    "replication": ("Beside the paper", replication.build),
    "projection": ("Maps of the embeddings", projection.build),
    "per_label": ("Labels and confusions", per_label.build),
    "precision_recall": ("Precision and recall", precision_recall.build),
    "errors": ("Errors", errors.build),
    "suspects": ("Labels to look at again", suspects.build),
    "learning": ("Learning curves", learning.build),
    "training": ("Training", training.build),
    "trials": ("Search of the settings", trials.build),
    "transfer": ("Transfer to other corpora", transfer.build),
    "corpus": ("Corpus", corpus.build),
    "facts": ("How to remake it", facts.build),
}
"""Panel name → its title and the function that gives its values."""
