"""Rows of the baselines that a recipe names, kept once in the run: what is there already is not made again."""

from __future__ import annotations

import time
from dataclasses import replace

from sectioncls.encoders import Encoder
from sectioncls.errors import InputError, ModelError
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.paper_results import PaperEvaluation, format_of_task
from sectioncls.recipes.paper_scoring import setting
from sectioncls.recipes.paper_words import evaluate_words
from sectioncls.recipes.papers.baselines.answers import Fitted, evaluate_baseline
from sectioncls.recipes.papers.baselines.fitting import fit_baseline
from sectioncls.recipes.papers.baselines.names import choose_baselines
from sectioncls.recipes.papers.baselines.published import open_published, published_of, separator_of
from sectioncls.recipes.papers.fields import add_fields
from sectioncls.recipes.papers.material import Material, search_texts
from sectioncls.recipes.papers.schema import PaperEvaluateOptions
from sectioncls.recipes.papers.scores import is_scored, keep_rows, protocol_of, score_encoder
from sectioncls.runs import Run

__all__ = ["score_baselines"]


def score_baselines(
    run: Run, material: Material, options: PaperEvaluateOptions, observer: Observer = SILENT, *, seed: int = 0
) -> None:
    """Score every baseline of ``options`` into a run; ``seed`` is for those that are learnt.

    A baseline that the set holds nothing for, and an encoder whose weights are not here, is left out with a note; how
    long each took to learn stands in run.json under ``baselines``. Raises UsageError for a name that is not known.
    """
    chosen = choose_baselines(options.baselines)
    for split in options.splits:
        methods = [name for name in chosen.words if not is_scored(run, name, split)]
        if methods:
            result = evaluate_words(
                material.papers,
                protocol=options.protocol,
                split=split,
                tasks=options.tasks,
                whole=options.whole,
                least=options.least,
                methods=methods,
                observer=observer,
            )
            _keep(run, material, options, result, split)
    for name in chosen.fitted:
        _score_fitted(run, material, options, name, seed, observer)
    absent = [
        name
        for name, folder in chosen.published
        if not _score_published(run, material, options, name, folder, observer)
    ]
    if absent:
        count = f"{len(absent)} of {len(chosen.published)} encoders of others"
        _note(run, f"{count} need weights that are not here: {', '.join(absent)}")


def _score_fitted(
    run: Run, material: Material, options: PaperEvaluateOptions, name: str, seed: int, observer: Observer
) -> None:
    splits = [split for split in options.splits if not is_scored(run, name, split)]
    if not splits:
        return
    fitted = _fitted(run, material, name, seed, observer)
    if fitted is None:
        return
    for split in splits:
        given = setting(
            material.papers,
            protocol=protocol_of(options),
            split=split,
            tasks=options.tasks,
            whole=options.whole,
            separator=material.options.separator,
            least=options.least,
        )
        result = evaluate_baseline(given, name, fitted, seed=seed, observer=observer)
        _keep(run, material, options, result, split)


def _fitted(run: Run, material: Material, name: str, seed: int, observer: Observer) -> Fitted | None:
    """Learn a baseline; None, with a note, where the set holds nothing for it."""
    began = time.perf_counter()
    try:
        with observer.stage(f"learning {name}", 1, "baselines") as advance:
            fitted = fit_baseline(name, material, seed)
            advance(1)
    except InputError as error:
        _note(run, f"{name} is left out: {error.what}")
        return None
    spent = {**fitted.facts, "seconds": round(time.perf_counter() - began, 2)}
    run.update(baselines={**run.info.get("baselines", {}), name: spent})
    return fitted


def _score_published(
    run: Run, material: Material, options: PaperEvaluateOptions, name: str, folder: str | None, observer: Observer
) -> bool:
    """Score an encoder of others; False, with a line, where its weights are not here."""
    row = published_of(name)
    title = str(model_facts(name)["name"])
    splits = [split for split in options.splits if not is_scored(run, title, split)]
    if not splits:
        return True
    try:
        encoder: Encoder = open_published(name, folder)
    except ModelError as error:
        observer.note(f"{name} is left out: {error}")
        return False
    known = run.info.get("encoders", {})
    facts = model_facts(row.model)
    run.update(encoders={**known, title: {key: facts[key] for key in ("backbone", "state", "model")}})
    read = material.options.model_copy(update={"separator": separator_of(row, encoder)})
    papers = replace(material, options=read, found=tuple(search_texts(material.table, read)))
    for split in splits:
        some = options.model_copy(update={"splits": (split,)})
        if row.formats:
            there = setting(papers.papers, split=split, tasks=options.tasks, whole=options.whole).tasks
            tasks = tuple(one.name for one in there if format_of_task(one.name) in row.formats)
            if not tasks:
                continue
            some = some.model_copy(update={"tasks": tasks})
        score_encoder(run, papers, encoder, title, None, (), some, observer)
    if row.note:
        _note(run, row.note)
    return True


def _keep(run: Run, material: Material, options: PaperEvaluateOptions, result: PaperEvaluation, split: str) -> None:
    if options.fields is not None:
        add_fields(result, material, options.fields, split)
    keep_rows(run, result, split)


def _note(run: Run, text: str) -> None:
    if text not in run.info.get("notes", []):
        run.note(text)
