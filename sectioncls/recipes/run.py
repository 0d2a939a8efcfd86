"""A recipe, run: corpus, baseline, fine-tuning, scores, pictures and report in one run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sectioncls.corpora import Corpus, open_corpus, require_trainable
from sectioncls.downstream import project, sample_rows
from sectioncls.encoders import Encoder, load_encoder, load_head, read_history
from sectioncls.errors import InputError
from sectioncls.recipes.build import recipe_corpus
from sectioncls.recipes.evaluate import Evaluation, Vectors, embed, evaluate_encoder, evaluate_texts, uses_dev
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.finetune import finetune
from sectioncls.recipes.matrices import write_matrix
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.runinfo import info_at_start, source_facts, timed
from sectioncls.recipes.schema import EvaluateOptions, Recipe
from sectioncls.records import Score
from sectioncls.report import write_report
from sectioncls.runs import Run, create_run, reopen_run

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
    an unfinished folder: pieces that are whole stay, the fine-tuning goes on from its checkpoint.
    """
    run = _open(recipe, folder, overwrite=overwrite, resume=resume)
    run.write_text("recipe.toml", text)
    with timed(run, "corpus"):
        data = open_corpus(corpus) if corpus else recipe_corpus(recipe, run.path / "corpus")
    remarks = require_trainable(data)
    run.update(corpus=source_facts(data.info, data.path), notes=_remarks(data, remarks))
    _evaluate_texts(run, data, recipe.evaluate, observer)
    _evaluate_model(run, data, recipe.base, recipe.evaluate, recipe.seed, observer)
    if recipe.finetune is not None:
        with timed(run, "finetune"):
            _finetune(run, data, recipe, observer, resume=resume)
        _evaluate_model(run, data, str(run.folder("encoder")), recipe.evaluate, recipe.seed, observer)
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
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> list[Score]:
    """Give the scores of ``models`` (as load_encoder takes them) and of the text baselines on ``corpus``.

    With ``folder``, everything is kept there as a run that ``report`` reads; without, nothing is kept and no picture is
    drawn.
    """
    remarks = require_trainable(corpus)
    with TemporaryDirectory() as scratch:
        info = info_at_start(corpus.name, protocol=options.protocol, seeds=[seed])
        run = create_run(folder or Path(scratch) / "run", info, overwrite=overwrite)
        run.update(corpus=source_facts(corpus.info, corpus.path), notes=_remarks(corpus, remarks))
        drawn = options if folder else options.model_copy(update={"projections": ()})
        _evaluate_texts(run, corpus, drawn, observer)
        for model in models:
            _evaluate_model(run, corpus, model, drawn, seed, observer)
        run.finish()
        return run.scores()


def _evaluate_model(
    run: Run, corpus: Corpus, model: str, options: EvaluateOptions, seed: int, observer: Observer
) -> None:
    """Score one encoder into a run: embeddings, scores, predictions, clusters, pictures. Done already: nothing."""
    facts = model_facts(model)
    name = str(facts["name"])
    if any(score.encoder == name for score in run.scores()):
        return
    folder = Path(model)
    encoder, head = load_encoder(model), load_head(folder) if folder.is_dir() else None
    if not run.history():
        for row in read_history(folder):
            run.append_history(row)
    entry = {key: facts.get(key) for key in ("backbone", "state", "model", "training", "notes")}
    run.update(encoders={**run.info.get("encoders", {}), name: {**entry, "dimension": encoder.dimension}})
    with timed(run, f"encode {name}"):
        train = _embedded(run, encoder, corpus, name, "train", observer)
        test = _embedded(run, encoder, corpus, name, "test", observer)
        dev = _embedded(run, encoder, corpus, name, "dev", observer) if uses_dev(options) else None
    with timed(run, f"score {name}"):
        result = evaluate_encoder(
            corpus,
            train,
            test,
            name=name,
            options=options,
            dev_vectors=dev,
            head=head,
            context="none" if encoder.context is None else "window",
            observer=observer,
        )
    with timed(run, f"project {name}"):
        _project(run, corpus, test, name, options, seed, observer)
    _keep(run, result)


def _evaluate_texts(run: Run, corpus: Corpus, options: EvaluateOptions, observer: Observer) -> None:
    if any(score.encoder == "" for score in run.scores()):
        return
    with timed(run, "text baselines"):
        result = evaluate_texts(corpus, options=options, observer=observer)
    _keep(run, result)


def _finetune(run: Run, corpus: Corpus, recipe: Recipe, observer: Observer, *, resume: bool) -> None:
    folder = run.folder("encoder")
    if resume and (folder / "sectioncls.json").is_file():
        return
    assert recipe.finetune is not None
    finetune(
        corpus,
        recipe.finetune,
        folder,
        seed=recipe.seed,
        work=run.folder("checkpoint"),
        resume=resume,
        observer=observer,
    )
    run.update()


def _open(recipe: Recipe, folder: Path, *, overwrite: bool, resume: bool) -> Run:
    if resume and (folder / "run.json").is_file():
        run = reopen_run(folder)
        if run.info.get("recipe") != recipe.model_dump(mode="json"):
            raise InputError("was started with another recipe", folder, "start again with --overwrite")
        return run
    info = info_at_start(recipe.name, protocol=recipe.evaluate.protocol, seeds=[recipe.seed])
    return create_run(folder, {**info, "recipe": recipe.model_dump(mode="json")}, overwrite=overwrite)


def _remarks(corpus: Corpus, remarks: Sequence[str]) -> list[str]:
    """Give what a reader of the scores must know of the corpus."""
    notes = [*corpus.info.notes, *remarks]
    train, test = set(corpus.split("train").texts), corpus.split("test").texts
    known = sum(text in train for text in test)
    if known:
        share = f"{known} of {len(test)} test sentences ({100 * known / len(test):.1f} %)"
        notes.append(f"{share} stand word for word in train, so scores on test are partly memory")
    return notes


def _embedded(run: Run, encoder: Encoder, corpus: Corpus, name: str, split: str, observer: Observer) -> Vectors:
    """Give the vectors of a split, from the run's own file when an earlier try wrote it."""
    path = run.folder("embeddings") / f"{name}-{split}.npy"
    rows = corpus.split(split)
    if path.is_file():
        kept: Vectors = np.load(path, allow_pickle=False)
        if kept.shape == (len(rows), encoder.dimension):
            return kept
    tokens = encoder.read(rows.texts, rows.article_ids, rows.index)
    vectors = embed(encoder, tokens, f"{name}: encoding {split}", observer)
    write_matrix(path, vectors)
    return vectors


def _project(
    run: Run, corpus: Corpus, vectors: Vectors, name: str, options: EvaluateOptions, seed: int, observer: Observer
) -> None:
    test = corpus.split("test")
    rows = sample_rows(len(test), options.points, seed=seed)
    with observer.stage(f"drawing {name}", len(options.projections), "pictures") as advance:
        for method in options.projections:
            points = project(vectors[rows], method=method, seed=seed)
            run.add_rows(
                "projection",
                {
                    "article_id": [test.article_ids[row] for row in rows],
                    "index": test.index[rows],
                    "label": [corpus.labels[test.labels[row]] for row in rows],
                    "encoder": [name] * len(rows),
                    "method": [method] * len(rows),
                    "x": points[:, 0],
                    "y": points[:, 1],
                },
            )
            advance(1)


def _keep(run: Run, result: Evaluation) -> None:
    run.add_rows("predictions", result.predictions)
    run.add_rows("clusters", result.clusters)
    for name, columns in (("curves", result.curves), ("descriptions", result.descriptions)):
        if columns:
            run.add_rows(name, columns)
    if result.settings:
        run.update(settings={**run.info.get("settings", {}), **result.settings})
    run.add_scores(result.scores)
