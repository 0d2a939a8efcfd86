"""Runs → what the report says of them: scores grouped by corpus, encoder and method, published ones beside.

Nothing is measured here: values come from ``scores.json``; several seeds of one method become their mean with
the range of the seeds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sectioncls.errors import InputError, UsageError
from sectioncls.records import Score
from sectioncls.report.published import Comparison, compare_data
from sectioncls.runs import Run, open_run

__all__ = [
    "BASELINES",
    "METHODS",
    "CorpusView",
    "Encoder",
    "Group",
    "Measured",
    "Row",
    "RunView",
    "Summary",
    "interval_words",
    "is_collapse",
    "method_name",
    "on_points",
    "summarize",
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

CLASSIFYING = ("f1-micro", "f1-macro")
CLUSTERING = ("ari", "ami", "silhouette", "effective-rank")
_MARKED = ("f1-micro", "f1-macro", "ari", "ami")  # a silhouette is not marked: collapse raises it
_OWN_HEAD = "The encoder's own classifier"  # trained with it on other states than [CLS]
_BACKBONES = {"minilm": "MiniLM", "scibert": "SciBERT"}
_STATES = {"base": "as released", "tuned": "fine-tuned", "cls": "[CLS] fine-tuned"}


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
        name = _backbone(self.backbone, self.model)
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
    """One method on one encoder: its scores by metric, per-label F1, and the metrics it is best in."""

    method: str
    title: str
    scores: Mapping[str, Measured]
    per_label: Mapping[str, Measured]
    best: frozenset[str] = frozenset()


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
    a collapse at any rank: noise around a few points has many directions and no size.
    """
    rank, near = row.scores.get("effective-rank"), row.scores.get("silhouette")
    if near is None:
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


def summarize(paths: Sequence[str | Path], *, with_text: bool = False) -> Summary:
    """Give the Summary of finished run folders, in the order given; InputError when one is not finished."""
    if not paths:
        raise UsageError("no run to report on", todo="name at least one run folder")
    runs = [open_run(path) for path in paths]
    names = _unique_names(runs)
    by_corpus: dict[str, list[int]] = {}
    for position, run in enumerate(runs):
        info = _mapping(run, "corpus")
        key = str(info.get("fingerprint") or f"{info.get('name')} {position}")
        by_corpus.setdefault(key, []).append(position)
    views: dict[int, RunView] = {}
    corpora = []
    for positions in by_corpus.values():
        corpus, members = _corpus([(names[position], runs[position]) for position in positions])
        corpora.append(corpus)
        views.update(zip(positions, members, strict=True))
    return Summary(tuple(views[position] for position in range(len(runs))), tuple(corpora), with_text)


def _corpus(runs: list[tuple[str, Run]]) -> tuple[CorpusView, list[RunView]]:
    """Give one corpus and the views of the runs on it."""
    info = _mapping(runs[0][1], "corpus")
    comparison = compare_data(info)
    encoders = {name: _encoders(run) for name, run in runs}
    # Scores of paper encoders have a panel of their own.
    scores = {name: [score for score in run.scores() if score.task == "sentence"] for name, run in runs}
    groups = {name: _groups(name, scores[name], encoders[name], comparison) for name, _ in runs}
    merged = _merge([group for name, _ in runs for group in groups[name]])
    corpus = CorpusView(
        name=str(info.get("name", "corpus")),
        info=info,
        labels=tuple(str(label) for label in info.get("labels", ())),
        comparison=comparison,
        groups=tuple(merged),
        classification=_marked(_with(merged, CLASSIFYING)),
        clustering=_marked(_with(merged, CLUSTERING)),
    )
    views = [RunView(run, name, corpus, encoders[name], tuple(groups[name]), _best(groups[name])) for name, run in runs]
    return corpus, views


def _encoders(run: Run) -> dict[str, Encoder]:
    """Give the encoders of a run by name."""
    found = {}
    for key, entry in _mapping(run, "encoders").items():
        if not isinstance(entry, Mapping):
            raise InputError(f"the encoder {key!r} is not an object", run.path / "run.json")
        backbone, state = str(entry.get("backbone", key)), str(entry.get("state", "base"))
        title = f"{_backbone(backbone, str(entry.get('model') or key))}, {_STATES.get(state, state)}"
        notes = tuple(str(note) for note in entry.get("notes") or ())
        found[key] = Encoder(
            key, title, backbone, state, str(entry.get("model", "")), entry.get("dimension"), notes,
            entry.get("training") or {},
        )  # fmt: skip
    return found


def _groups(run: str, scores: Iterable[Score], encoders: Mapping[str, Encoder], comparison: Comparison) -> list[Group]:
    """Give the test scores of one run as groups: text baselines first, then the encoders in their order."""
    by_row: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        if score.split == "test" and score.protocol != "transfer":
            by_row.setdefault((score.encoder, score.method), []).append(score)
    groups = []
    unknown = [key for key, _ in by_row if key not in encoders and key]
    for key in ["", *encoders, *dict.fromkeys(unknown)]:
        encoder = (encoders.get(key) or Encoder(key, key, key, "", "", None, (), {})) if key else None
        rows = [_row(method, by_row[name, method], encoder, comparison) for name, method in by_row if name == key]
        if rows:
            groups.append(Group(encoder, (run,), tuple(sorted(rows, key=_order))))
    return groups


def _row(method: str, scores: list[Score], encoder: Encoder | None, comparison: Comparison) -> Row:
    """Give one method's scores; several seeds of one metric become one value."""
    kinds: dict[tuple[str, str | None], list[Score]] = {}
    for score in scores:
        kinds.setdefault((score.metric, score.label), []).append(score)
    measured: dict[str, Measured] = {}
    per_label: dict[str, Measured] = {}
    for (metric, label), same in kinds.items():
        if label is not None:
            if metric == "f1":
                per_label[label] = _measured(same, None)
            continue
        beside = comparison.value(encoder.backbone, encoder.state, method, metric) if encoder else None
        measured[metric] = _measured(same, beside)
    own_head = method == "cls-head" and encoder is not None and encoder.state != "cls"
    return Row(method, _OWN_HEAD if own_head else method_name(method), measured, per_label)


def _measured(scores: list[Score], published: float | None) -> Measured:
    """Give one seed's value with its interval, or the mean of several with their range."""
    seeds = tuple(score.seed for score in scores)
    first = scores[0]
    if len(scores) == 1:
        return Measured(first.value, first.low, first.high, first.n, first.unit, seeds, published)
    values = [score.value for score in scores]
    mean = math.fsum(values) / len(values)
    return Measured(mean, min(values), max(values), first.n, "seed", seeds, published)


def _merge(groups: list[Group]) -> list[Group]:
    """Give the groups of all runs, equal ones (same encoder, same values) once."""
    merged: dict[Any, Group] = {}
    for group in groups:
        encoder = group.encoder and (group.encoder.title, group.encoder.model, group.encoder.notes)
        values = [(row.method, sorted((m, s.value, s.low) for m, s in row.scores.items())) for row in group.rows]
        key = repr((encoder, values))
        old = merged.get(key)
        merged[key] = group if old is None else Group(old.encoder, old.runs + group.runs, old.rows)
    return sorted(merged.values(), key=lambda group: group.encoder is not None)


def _with(groups: Iterable[Group], metrics: Sequence[str]) -> list[Group]:
    """Give the groups with only the rows that have one of the metrics."""
    kept = [
        Group(group.encoder, group.runs, tuple(row for row in group.rows if set(row.scores) & set(metrics)))
        for group in groups
    ]
    return [group for group in kept if group.rows]


def _marked(groups: list[Group]) -> tuple[Group, ...]:
    """Give the groups with the best value of each metric marked, as rounded on the page."""
    top: dict[str, float] = {}
    for row in (row for group in groups for row in group.rows):
        for metric in _MARKED:
            if metric in row.scores and not math.isnan(row.scores[metric].value):
                top[metric] = max(top.get(metric, -math.inf), round(row.scores[metric].value, 4))

    def mark(row: Row) -> Row:
        best = frozenset(m for m in top if m in row.scores and round(row.scores[m].value, 4) == top[m])
        return Row(row.method, row.title, row.scores, row.per_label, best)

    return tuple(Group(group.encoder, group.runs, tuple(map(mark, group.rows))) for group in groups)


def _best(groups: Iterable[Group]) -> tuple[Encoder, Row] | None:
    """Give the encoder and method with the highest F1-micro; the first of equals."""
    pairs = [(group.encoder, row) for group in groups if group.encoder for row in group.rows]
    pairs = [pair for pair in pairs if not math.isnan(_value(pair[1], "f1-micro"))]
    return max(pairs, key=lambda pair: _value(pair[1], "f1-micro"), default=None)


def _backbone(backbone: str, model: str) -> str:
    """Give a backbone's name; a model that is none of ours goes by its own."""
    return _BACKBONES.get(backbone) or (model if backbone == "other" and model else backbone)


def _value(row: Row, metric: str) -> float:
    return row.scores[metric].value if metric in row.scores else math.nan


def _order(row: Row) -> tuple[int, str]:
    known = list(METHODS)
    return (known.index(row.method) if row.method in known else len(known), row.method)


def _unique_names(runs: list[Run]) -> list[str]:
    """Give each run a name that no other has."""
    names: list[str] = []
    for run in runs:
        name, number = run.name, 2
        while name in names:
            name, number = f"{run.name} ({number})", number + 1
        names.append(name)
    return names


def _mapping(run: Run, key: str) -> Mapping[str, Any]:
    """Give one object of run.json; InputError when it is something else."""
    value = run.info.get(key) or {}
    if not isinstance(value, Mapping):
        raise InputError(f"{key} is not an object", run.path / "run.json")
    return value
