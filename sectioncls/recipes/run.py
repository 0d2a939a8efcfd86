"""A recipe, run: corpus, baseline, fine-tuning, scores, pictures and report in one run folder."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from sectioncls.audit import unseen_rows
from sectioncls.corpora import Corpus, open_corpus, require_trainable
from sectioncls.encoders import Encoder, cached_vectors, load_encoder, load_head, read_history
from sectioncls.errors import InputError
from sectioncls.recipes.build import recipe_corpus
from sectioncls.recipes.evaluate import (
    Evaluation,
    Vectors,
    embed,
    evaluate_encoder,
    evaluate_texts,
    read_rows,
    uses_dev,
)
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.matrices import write_matrix
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.projection import draw_maps
from sectioncls.recipes.runinfo import info_at_start, source_facts, timed
from sectioncls.recipes.schema import EvaluateOptions, Recipe
from sectioncls.recipes.seeds_run import TRIALS, finetune_seeds, seed_folders
from sectioncls.records import Score
from sectioncls.report import write_report
from sectioncls.runs import Run, create_run, reopen_run
from sectioncls.training import Tracking, check_tracker

__all__ = ["evaluate_models", "run_recipe"]


def run_recipe(
    recipe: Recipe,
    text: str,
    folder: Path,
    *,
    corpus: Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    observer: Observer = SILENT,
) -> Run:
    """Run ``recipe`` into ``folder`` and give the finished run; its ``report.html`` is the last piece.

    ``text`` is the recipe as written, kept beside the results; ``corpus`` replaces the recipe's. ``resume`` goes on in
    an unfinished folder: pieces that are whole stay, the fine-tuning goes on from its checkpoint. Of several seeds each
    has its encoder in ``encoder/seed-N/`` and score rows of its own; the tables hold the first.
    """
    if recipe.track is not None:
        check_tracker(recipe.track)
    run = _open(recipe, folder, overwrite=overwrite, resume=resume)
    run.write_text("recipe.toml", text)
    with timed(run, "corpus"):
        data = open_corpus(corpus) if corpus else recipe_corpus(recipe, run.path / "corpus")
    remarks = require_trainable(data)
    if run.info.get("corpus", {}).get("fingerprint", data.info.fingerprint) != data.info.fingerprint:
        raise InputError("was started on another corpus", folder, "start again with --overwrite")
    unseen = _describe(run, data, remarks)
    _evaluate_texts(run, data, recipe.evaluate, unseen, observer)
    _evaluate_model(run, data, recipe.base, recipe.evaluate, recipe.seed, unseen, observer)
    if recipe.finetune is not None:
        with timed(run, "finetune"):
            _finetune(run, data, recipe, observer, resume=resume)
        seeds = recipe.training_seeds
        for seed, place in seed_folders(run.folder("encoder"), seeds).items():
            _evaluate_model(
                run,
                data,
                str(place),
                recipe.evaluate,
                recipe.seed,
                unseen,
                observer,
                trained=seed if len(seeds) > 1 else None,
                first=seed == seeds[0],
            )
    run.finish()
    write_report([run.path], run.path / "report.html", overwrite=True)
    return run


def evaluate_models(
    models: Sequence[str],
    corpus: Corpus,
    options: EvaluateOptions,
    folder: Path | None,
    *,
    seed: int = 0,
    cache: Path | None = None,
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> list[Score]:
    """Give the scores of ``models`` (as load_encoder takes them) and of the text baselines on ``corpus``.

    With ``folder``, everything is kept there as a run that ``report`` reads; without, nothing is kept and no picture is
    drawn. ``cache`` is a folder of embeddings by fingerprint, which are taken from it and put into it.
    """
    remarks = require_trainable(corpus)
    with TemporaryDirectory() as scratch:
        info = info_at_start(corpus.name, protocol=options.protocol, seeds=[seed])
        run = create_run(folder or Path(scratch) / "run", info, overwrite=overwrite)
        unseen = _describe(run, corpus, remarks)
        drawn = options if folder else options.model_copy(update={"projections": ()})
        _evaluate_texts(run, corpus, drawn, unseen, observer)
        for model in models:
            _evaluate_model(run, corpus, model, drawn, seed, unseen, observer, cache=cache)
        run.finish()
        return run.scores()


def _evaluate_model(
    run: Run,
    corpus: Corpus,
    model: str,
    options: EvaluateOptions,
    seed: int,
    unseen: npt.NDArray[np.bool_],
    observer: Observer,
    *,
    trained: int | None = None,
    first: bool = True,
    cache: Path | None = None,
) -> None:
    """Score one encoder into a run: embeddings, scores, predictions, clusters, pictures. Done already: nothing.

    ``trained`` is the seed of its training where the run has several, which its scores bear; tables and pictures are
    those of the ``first``.
    """
    facts = model_facts(model)
    name = str(facts["name"])
    if any(score.encoder == name and trained in (None, score.seed) for score in run.scores()):
        return
    folder = Path(model)
    encoder, head = load_encoder(model), load_head(folder) if folder.is_dir() else None
    _enter(run, name, facts, encoder.dimension, read_history(folder), trained)
    shown = name if trained is None else f"{name}-{trained}"
    with timed(run, f"encode {shown}"):
        train = _embedded(run, encoder, corpus, shown, "train", cache, observer)
        test = _embedded(run, encoder, corpus, shown, "test", cache, observer)
        dev = _embedded(run, encoder, corpus, shown, "dev", cache, observer) if uses_dev(options) else None
    context = "none" if encoder.context is None else "window"
    with timed(run, f"score {shown}"):
        result = evaluate_encoder(
            corpus,
            train,
            test,
            name=name,
            options=options,
            dev_vectors=dev,
            head=head,
            context=context,
            unseen=unseen,
            observer=observer,
        )
    if trained is not None:
        result.scores = [replace(score, seed=trained) for score in result.scores]
    if not first:
        run.add_scores(result.scores)
        return
    with timed(run, f"project {shown}"):
        drawn = draw_maps(run, corpus, test, name, options, seed=seed, context=context, observer=observer)
    if trained is not None:
        drawn.scores = [replace(score, seed=trained) for score in drawn.scores]
    _keep(run, result, drawn)


def _enter(
    run: Run,
    name: str,
    facts: dict[str, Any],
    dimension: int,
    history: Sequence[dict[str, Any]],
    trained: int | None,
) -> None:
    """Write down what is known of an encoder: its facts once, notes and history of every seed."""
    known = run.info.get("encoders", {})
    entry = known.get(name) or {key: facts.get(key) for key in ("backbone", "state", "model", "training", "notes")}
    if trained is not None:
        notes = dict.fromkeys([*(entry.get("notes") or ()), *(facts.get("notes") or ())])
        seeds = {**entry.get("seeds", {}), str(trained): facts.get("dev")}
        entry = {**entry, "notes": list(notes), "seeds": seeds}
    run.update(encoders={**known, name: {**entry, "dimension": dimension}})
    if not any(trained in (None, row.get("seed")) for row in run.history()):
        for row in history:
            run.append_history(row if trained is None else {**row, "seed": trained})


def _evaluate_texts(
    run: Run, corpus: Corpus, options: EvaluateOptions, unseen: npt.NDArray[np.bool_], observer: Observer
) -> None:
    if any(score.encoder == "" for score in run.scores()):
        return
    with timed(run, "text baselines"):
        result = evaluate_texts(corpus, options=options, unseen=unseen, observer=observer)
    _keep(run, result)


def _finetune(run: Run, corpus: Corpus, recipe: Recipe, observer: Observer, *, resume: bool) -> None:
    folders = seed_folders(run.folder("encoder"), recipe.training_seeds)
    if resume and all((folder / "sectioncls.json").is_file() for folder in folders.values()):
        return
    assert recipe.finetune is not None
    logs = run.path.with_name(f"{run.path.name}.logs")
    finetune_seeds(
        corpus,
        recipe.finetune,
        run.folder("encoder"),
        seeds=recipe.training_seeds,
        search=recipe.search,
        journal=run.path / TRIALS if recipe.search else None,
        work=run.folder("checkpoint"),
        resume=resume,
        observer=observer,
        track=None if recipe.track is None else Tracking(recipe.track, recipe.name, logs),
    )
    shutil.rmtree(run.folder("checkpoint"), ignore_errors=True)
    run.update()


def _open(recipe: Recipe, folder: Path, *, overwrite: bool, resume: bool) -> Run:
    if resume and (folder / "run.json").is_file():
        run = reopen_run(folder)
        if not _same(run.info.get("recipe"), recipe):
            raise InputError("was started with another recipe", folder, "start again with --overwrite")
        return run
    info = info_at_start(recipe.name, protocol=recipe.evaluate.protocol, seeds=recipe.training_seeds)
    return create_run(folder, {**info, "recipe": recipe.model_dump(mode="json")}, overwrite=overwrite)


def _same(kept: Any, recipe: Recipe) -> bool:
    """Tell whether a run was started with this recipe; keys that are newer than the run count as left out."""
    try:
        return Recipe.model_validate(kept) == recipe
    except ValidationError:
        return False


def _describe(run: Run, corpus: Corpus, remarks: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Write down what is known of the corpus; gives which test sentences no other split holds."""
    unseen = unseen_rows(corpus)
    facts = source_facts(corpus.info, corpus.path)
    run.update(corpus=facts, notes=_remarks(corpus, remarks), unseen=int(unseen.sum()))
    return unseen


def _remarks(corpus: Corpus, remarks: Sequence[str]) -> list[str]:
    """Give what a reader of the scores must know of the corpus."""
    notes = list(dict.fromkeys([*corpus.info.notes, *remarks]))
    train, test = set(corpus.split("train").texts), corpus.split("test").texts
    known = sum(text in train for text in test)
    if known:
        share = f"{known} of {len(test)} test sentences ({100 * known / len(test):.1f} %)"
        notes.append(f"{share} stand word for word in train, so scores on test are partly memory")
    return notes


def _embedded(
    run: Run, encoder: Encoder, corpus: Corpus, name: str, split: str, cache: Path | None, observer: Observer
) -> Vectors:
    """Give the vectors of a split, from the run's own file when an earlier try wrote it."""
    path = run.folder("embeddings") / f"{name}-{split}.npy"
    rows = corpus.split(split)
    if path.is_file():
        kept: Vectors = np.load(path, allow_pickle=False)
        if kept.shape == (len(rows), encoder.dimension):
            return kept
    tokens = read_rows(encoder, rows)
    make = partial(embed, encoder, tokens, f"{name}: encoding {split}", observer)
    vectors: Vectors = make() if cache is None else cached_vectors(cache, encoder, tokens, make)
    write_matrix(path, vectors)
    return vectors


def _keep(run: Run, result: Evaluation, drawn: Evaluation | None = None) -> None:
    """Keep tables first and scores last: a model that has scores counts as done."""
    drawn = drawn or Evaluation()
    run.add_rows("predictions", result.predictions)
    others = {"clusters": result.clusters, "curves": result.curves, "descriptions": result.descriptions}
    for name, columns in others.items():
        if columns:  # no clustering was asked for, no curve, …
            run.add_rows(name, columns)
    settings = {key: {**result.settings.get(key, {}), **drawn.settings.get(key, {})}
                for key in {**result.settings, **drawn.settings}}  # fmt: skip
    if settings:
        run.update(settings={**run.info.get("settings", {}), **settings})
    run.add_scores([*result.scores, *drawn.scores])
