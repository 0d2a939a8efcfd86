"""A trained model on corpora that it may never have seen: labels, calibration, and what 100 sentences mend.

Paper: arXiv 2102.06008 (Brack et al.) trains on one corpus and tests on another; here the labels of the corpus decide
which of the model's labels are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus, Split
from sectioncls.downstream import (
    among_allowed,
    calibration_error,
    classification_scores,
    fit_temperature,
    with_temperature,
)
from sectioncls.errors import InputError
from sectioncls.predict import SectionModel
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.runinfo import info_at_start
from sectioncls.records import Score
from sectioncls.report import write_report
from sectioncls.runs import create_run

__all__ = ["RECALIBRATION", "transfer_run", "transfer_scores"]

RECALIBRATION = 100
"""Sentences that a user might label to recalibrate a model on a source of his own."""

_Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of one label set: texts by article, which labels are asked for, which may be right."""

    name: str
    split: Split
    rows: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.bool_]
    possible: npt.NDArray[np.bool_]


def transfer_run(
    models: Sequence[SectionModel],
    corpora: Sequence[Corpus],
    folder: Path | None,
    *,
    split: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> list[Score]:
    """Give the scores of every model on every corpus, as transfer_scores does; models of one name get a number.

    With ``folder`` they are kept there as a run whose report shows the matrix. Raises InputError for labels that a
    model does not give, OutputError for a folder that is taken.
    """
    names = _names(models)
    run = None
    if folder is not None:
        info = info_at_start(folder.resolve().name, protocol="transfer", seeds=[seed])
        run = create_run(folder, {**info, "kind": "transfer", "corpus": _corpora(corpora)}, overwrite=overwrite)
        run.update(encoders={name: _entry(model) for name, model in zip(names, models, strict=True)})
    scores: list[Score] = []
    with observer.stage("labelling", len(models) * len(corpora), "corpora") as advance:
        for name, model in zip(names, models, strict=True):
            for corpus in corpora:
                found = transfer_scores(model, corpus, split=split, seed=seed, name=name)
                scores += found
                if run is not None:
                    run.add_scores(found)
                advance(1)
    if run is not None:
        run.finish()
        write_report([run.path], run.path / "report.html", overwrite=True)
    return scores


def _names(models: Sequence[SectionModel]) -> list[str]:
    names: list[str] = []
    for model in models:
        name = base = str(model.facts.get("name", "model"))
        number = 2
        while name in names:
            name, number = f"{base} ({number})", number + 1
        names.append(name)
    return names


def _corpora(corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Give what run.json says of corpora that are only tested on."""
    name = corpora[0].name if len(corpora) == 1 else f"{len(corpora)} corpora"
    return {"name": name, "corpora": {corpus.name: corpus.info.fingerprint for corpus in corpora}}


def _entry(model: SectionModel) -> dict[str, Any]:
    """Give what run.json says of a model, the corpus that it learnt from included."""
    kept = {key: model.facts.get(key) for key in ("backbone", "state", "corpus", "training", "notes")}
    return {**kept, "model": model.facts.get("name")}


def transfer_scores(
    model: SectionModel, corpus: Corpus, *, split: str | None = None, seed: int = 0, name: str | None = None
) -> list[Score]:
    """Give F1 (micro, macro, by label) and calibration error of ``model`` on a split (test, else the first there is).

    A sentence gets the likeliest of those labels that its corpus knows, with its share of their probability. ``ece``
    is as it comes, ``ece-recalibrated`` after a temperature fitted on 100 sentences drawn with ``seed`` that are not
    scored for it. ``name`` is the scores' encoder (the model's own name). Sentences of a joined corpus that may bear
    several labels count as right for any of them in ``hit-rate``, and are not in the other scores. Raises InputError
    for labels that the model does not give.
    """
    rows: list[Score] = []
    like = Score(
        metric="",
        value=0.0,
        fingerprint=corpus.info.fingerprint,
        protocol="transfer",
        encoder=name or str(model.facts.get("name", "model")),
        context="none" if model.encoder.context is None else "window",
        method="head",
        seed=seed,
    )
    for part in _parts(model, corpus, split):
        chances = _asked(model, part)
        rows += _scores(part, chances, replace(like, corpus=part.name, split=part.split.name), model.labels, seed)
    return rows


def _parts(model: SectionModel, corpus: Corpus, split: str | None) -> Iterator[_Part]:
    chosen = corpus.split(split or ("test" if "test" in corpus.splits else corpus.splits[0]))
    strange = [label for label in corpus.labels if label not in model.labels]
    if strange:
        todo = f"build it with a label map to {', '.join(model.labels)}"
        raise InputError(f"has the label {strange[0]!r}, which the model does not give", corpus.path, todo)
    places = [model.labels.index(label) for label in corpus.labels]
    allowed = np.zeros((len(chosen), len(model.labels)), dtype=bool)
    possible = allowed.copy()
    if chosen.parts is None or chosen.allowed is None or chosen.possible is None:
        counts = corpus.info.counts.values()
        used = [any(count.get(label, 0) for count in counts) for label in corpus.labels]
        allowed[:, places] = used
        possible[np.arange(len(chosen)), np.asarray(places)[chosen.labels]] = True
        yield _Part(corpus.name, chosen, np.arange(len(chosen)), allowed, possible)
        return
    allowed[:, places], possible[:, places] = chosen.allowed, chosen.possible
    names = np.asarray(chosen.parts)
    for name in sorted(set(chosen.parts)):
        rows = np.flatnonzero(names == name)
        yield _Part(f"{corpus.name}/{name}", chosen, rows, allowed[rows], possible[rows])


def _asked(model: SectionModel, part: _Part) -> _Floats:
    """Give the model's probabilities among the labels that are asked for, (rows, labels)."""
    rows = part.split.at(part.rows)
    chances = model.probabilities(rows.texts, rows.article_ids, rows.index.tolist(), rows.paths)
    return among_allowed(chances, part.allowed)


def _scores(part: _Part, chances: _Floats, like: Score, labels: Sequence[str], seed: int) -> list[Score]:
    predicted = chances.argmax(1)
    hits = part.possible[np.arange(len(predicted)), predicted]
    sure = np.flatnonzero(part.possible.sum(1) == 1)
    rows = []
    if len(sure) < len(hits):
        rows.append(replace(like, metric="hit-rate", value=float(hits.mean()), n=len(hits)))
    if not len(sure):
        return rows
    truth, chances = part.possible[sure].argmax(1), chances[sure]
    groups = [part.split.article_ids[row] for row in part.rows[sure]]
    rows += classification_scores(truth, predicted[sure], labels, like=like, groups=groups, seed=seed)
    rows.append(replace(like, metric="ece", value=calibration_error(chances, truth), n=len(truth)))
    if len(truth) >= 2 * RECALIBRATION:
        drawn = np.random.default_rng(seed).permutation(len(truth))
        few, others = drawn[:RECALIBRATION], drawn[RECALIBRATION:]
        mended = with_temperature(chances[others], fit_temperature(chances[few], truth[few]))
        error = calibration_error(mended, truth[others])
        rows.append(replace(like, metric="ece-recalibrated", value=error, n=len(others)))
    return rows
