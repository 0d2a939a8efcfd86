"""What a report speaks of: methods and their names, encoders, rows of scores, corpora, runs, the whole Summary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sectioncls.report.published import Comparison
from sectioncls.runs import Run

__all__ = [
    "AGREED",
    "BASELINES",
    "CLASSIFYING",
    "CLUSTERING",
    "COLLAPSED",
    "HIGH_SILHOUETTE",
    "METHODS",
    "CorpusView",
    "Encoder",
    "Group",
    "Measured",
    "Row",
    "RunView",
    "Summary",
    "backbone_name",
    "interval_words",
    "is_collapse",
    "method_name",
    "on_points",
]

METHODS = {
    "majority": "Majority label",
    "position-logistic-regression": "Place in the article alone",
    "tfidf-logistic-regression": "TF-IDF + logistic regression",
    "tfidf-kmeans": "TF-IDF + k-means",
    "decision-tree": "Decision tree",
    "knn": "k nearest neighbours",
    "mlp": "Multi-layer perceptron",
    "random-forest": "Random forest",
    "svm": "Support vector machine",
    "logistic-regression": "Logistic regression",
    "linear-svm": "Linear support vector machine",
    "nearest-centroid": "Nearest centroid",
    "gradient-boosting": "Gradient boosting",
    "cls-head": "[CLS] classifier",
    "kmeans": "k-means",
    "minibatch-kmeans": "Mini-batch k-means",
    "spherical-kmeans": "Spherical k-means",
    "agglomerative": "Agglomerative (Ward)",
    "hdbscan": "HDBSCAN",
}
"""Method name → how it is written on a page; also the order of rows."""

BASELINES = ("majority", "position-logistic-regression", "tfidf-logistic-regression", "tfidf-kmeans")
"""Methods that use no encoder of ours."""

HIGH_SILHOUETTE = 0.5
"""From here on a silhouette is called high: clusters lie closer together than half as far as the next."""

COLLAPSED = 0.75
"""From here on a silhouette is that of a collapse whatever the rank, as training's monitor has it."""

AGREED = 0.75
"""From here on clusters agree so well with the labels (ARI) that tight ones are no collapse, as training has it."""

CLASSIFYING = ("f1-micro", "f1-macro")
CLUSTERING = ("ari", "ami", "silhouette", "effective-rank")
_BACKBONES = {"minilm": "MiniLM", "scibert": "SciBERT"}


@dataclass(frozen=True, slots=True)
class Encoder:
    """One encoder of a run as the page names it; ``collapsed`` when its notes report a collapse."""

    key: str
    title: str
    backbone: str
    state: str
    model: str
    dimension: int | None
    notes: tuple[str, ...]
    training: Mapping[str, Any]

    @property
    def phrase(self) -> str:
        """The encoder inside a sentence."""
        name = backbone_name(self.backbone, self.model)
        return {"base": f"{name} as released", "tuned": f"fine-tuned {name}"}.get(self.state, name)

    @property
    def collapsed(self) -> bool:
        """True when a note of the run says that the embeddings fell together."""
        return any(is_collapse(note) for note in self.notes)


@dataclass(frozen=True, slots=True)
class Measured:
    """One value with its interval (fractions); ``low`` to ``high`` is the range of the seeds where several."""

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    seeds: tuple[int | None, ...]
    published: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        return None if self.published is None or math.isnan(self.value) else self.value - self.published

    @property
    def published_inside(self) -> bool | None:
        """Whether the published value lies in our interval; None without both."""
        if self.published is None or self.low is None or self.high is None:
            return None
        return self.low - 5e-5 <= self.published <= self.high + 5e-5  # printed to two decimals of a per cent


@dataclass(frozen=True, slots=True)
class Row:
    """One method on one encoder: its scores by metric, per-label F1, and the metrics it is best in.

    ``unseen`` are scores on those test sentences alone that no other split holds; empty where these are all.
    """

    method: str
    title: str
    scores: Mapping[str, Measured]
    per_label: Mapping[str, Measured]
    best: frozenset[str] = frozenset()
    unseen: Mapping[str, Measured] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one encoder (None: text baselines) of one or more runs that gave the same values."""

    encoder: Encoder | None
    runs: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class CorpusView:
    """One corpus (by fingerprint) with everything measured on its test split; ``groups`` holds every row."""

    name: str
    info: Mapping[str, Any]
    labels: tuple[str, ...]
    comparison: Comparison
    groups: tuple[Group, ...]
    classification: tuple[Group, ...]
    clustering: tuple[Group, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunView:
    """One run: its encoders, and the encoder and row with the highest F1-micro, baselines aside."""

    run: Run
    name: str
    corpus: CorpusView
    encoders: Mapping[str, Encoder]
    groups: tuple[Group, ...]
    best: tuple[Encoder, Row] | None

    @property
    def info(self) -> Mapping[str, Any]:
        """The content of run.json."""
        return self.run.info

    @property
    def of_papers(self) -> bool:
        """Whether the run is of paper encoders, not of sentences."""
        return self.info.get("kind") == "papers"

    def ordered(self, labels: Iterable[str]) -> list[str]:
        """Give each of ``labels`` once: those of the corpus in its order, then others by the alphabet."""
        present = set(labels)
        known = [label for label in self.corpus.labels if label in present]
        return [*known, *sorted(present - set(known))]

    def baseline(self, method: str) -> Row | None:
        """Give the row of a text baseline."""
        rows = [row for group in self.groups if group.encoder is None for row in group.rows]
        return next((row for row in rows if row.method == method), None)


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that a report shows, before it is drawn; ``with_text`` when it may show corpus text."""

    runs: tuple[RunView, ...]
    corpora: tuple[CorpusView, ...]
    with_text: bool = False


def method_name(method: str) -> str:
    """Give a method as it is written on a page."""
    return METHODS.get(method, method)


def on_points(row: Row, labels: int) -> bool:
    """True for a clustering whose silhouette is that of a collapse: high, in fewer directions than there are labels.

    ``labels`` points that are equally far from each other span ``labels`` - 1 directions. A silhouette close to one is
    a collapse at any rank: noise around a few points has many directions and no size. Where the points are the labels
    (ARI) it is none.
    """
    rank, near, right = (row.scores.get(metric) for metric in ("effective-rank", "silhouette", "ari"))
    if near is None or (right is not None and right.value >= AGREED):
        return False
    return near.value >= COLLAPSED or (near.value >= HIGH_SILHOUETTE and rank is not None and rank.value < labels)


def interval_words(scores: Iterable[Measured]) -> str:
    """Say what stands beside values as their interval: 95 % of single runs, the range of several seeds; '' for none."""
    units = dict.fromkeys(score.unit for score in scores if score.low is not None)
    single = next((unit for unit in units if unit != "seed"), None)
    if single is None:
        return "the range over seeds" if units else ""
    return f"95 % intervals resampled by {single}" + ("; of several seeds their range" if "seed" in units else "")


def is_collapse(note: str) -> bool:
    """True for a note that reports a collapse, not for one that warns of it."""
    return re.search(r"^collapse\b|\bcollapsed\b", note, re.IGNORECASE) is not None


def backbone_name(backbone: str, model: str) -> str:
    """Give a backbone's name; a model that is none of ours goes by its own."""
    return _BACKBONES.get(backbone) or (model if backbone == "other" and model else backbone)
