"""Runs → what the report says of them: scores grouped by corpus, encoder and method, published ones beside.

Nothing is measured here: values come from ``scores.json``; several seeds of one method become their mean with
the range of the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sectioncls.errors import InputError, UsageError
from sectioncls.records import UNSEEN, Score
from sectioncls.report.published import Comparison, compare_data
from sectioncls.report.views import (
    CLASSIFYING,
    CLUSTERING,
    METHODS,
    CorpusView,
    Encoder,
    Group,
    Measured,
    Row,
    RunView,
    Summary,
    backbone_name,
    method_name,
)
from sectioncls.runs import Run, open_run

__all__ = ["summarize"]

_MARKED = ("f1-micro", "f1-macro", "ari", "ami")  # a silhouette is not marked: collapse raises it
_OWN_HEAD = "The encoder's own classifier"  # trained with it on other states than [CLS]
_STATES = {"base": "as released", "tuned": "fine-tuned", "cls": "[CLS] fine-tuned"}


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
        title = f"{backbone_name(backbone, str(entry.get('model') or key))}, {_STATES.get(state, state)}"
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
        if score.split in ("test", UNSEEN) and score.protocol != "transfer":
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
    kinds: dict[tuple[str, str, str | None], list[Score]] = {}
    for score in scores:
        kinds.setdefault((score.split, score.metric, score.label), []).append(score)
    measured: dict[str, Measured] = {}
    per_label: dict[str, Measured] = {}
    unseen: dict[str, Measured] = {}
    for (split, metric, label), same in kinds.items():
        if split == UNSEEN:
            unseen[metric] = _measured(same, None)
            continue
        if label is not None:
            if metric == "f1":
                per_label[label] = _measured(same, None)
            continue
        beside = comparison.value(encoder.backbone, encoder.state, method, metric) if encoder else None
        measured[metric] = _measured(same, beside)
    own_head = method == "cls-head" and encoder is not None and encoder.state != "cls"
    return Row(method, _OWN_HEAD if own_head else method_name(method), measured, per_label, unseen=unseen)


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
        return replace(row, best=best)

    return tuple(Group(group.encoder, group.runs, tuple(map(mark, group.rows))) for group in groups)


def _best(groups: Iterable[Group]) -> tuple[Encoder, Row] | None:
    """Give the encoder and method with the highest F1-micro; the first of equals."""
    pairs = [(group.encoder, row) for group in groups if group.encoder for row in group.rows]
    pairs = [pair for pair in pairs if not math.isnan(_value(pair[1], "f1-micro"))]
    return max(pairs, key=lambda pair: _value(pair[1], "f1-micro"), default=None)


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
