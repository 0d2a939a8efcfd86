"""Fine-tuning a sentence encoder on a corpus: data, loss, loop, choice on dev, the folder that comes out."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sectioncls.corpora import Corpus, Split, require_trainable
from sectioncls.encoders import (
    Context,
    Encoder,
    KeptTokens,
    Tokens,
    Windows,
    delta_of,
    fingerprint,
    fold_delta,
    freeze_lowest,
    keep_lowest,
    load_encoder,
    save_encoder,
    tune_only,
)
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.desk import Desk, Row
from sectioncls.recipes.devscore import DevScorer, dev_scorer
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.interrupt import held_interrupt
from sectioncls.recipes.objectives import Objective, build_objective
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.presets import Plan, plan
from sectioncls.recipes.schema import FinetuneOptions
from sectioncls.recipes.versions import versions
from sectioncls.staging import check_output
from sectioncls.training import (
    LabelBatches,
    LengthBatches,
    Sampler,
    Settings,
    State,
    Step,
    Task,
    collapse_note,
    fit,
    margin_note,
    save_checkpoint,
    start,
)

__all__ = ["Finetuned", "finetune", "load_start"]


@dataclasses.dataclass(frozen=True, slots=True)
class Finetuned:
    """What a fine-tuning gave: the encoder's folder, its name, dev's scores, notes, and every row of the history."""

    folder: Path
    name: str
    plan: Plan
    dev: dict[str, float]
    notes: tuple[str, ...]
    history: tuple[Row, ...]


def finetune(
    corpus: Corpus,
    options: FinetuneOptions,
    folder: Path,
    *,
    seed: int = 0,
    encoder: Encoder | None = None,
    work: Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    observer: Observer = SILENT,
) -> Finetuned:
    """Fine-tune ``options.model`` on ``corpus`` and write it to ``folder``, a sentence-transformers folder.

    ``encoder`` is the model when the caller has loaded it already. ``work`` keeps the checkpoint, the best state and
    the history while it runs (default: ``FOLDER.training``) and is removed at the end; after an interruption
    ``resume`` goes on from it, exactly. The objective ``hsln`` trains a head alone: see finetune_sequence. Raises
    InputError for a corpus that nothing can be learnt from or a checkpoint of other settings, OutputError for a folder
    that is taken, ModelError for a model that can't be had.
    """
    if options.objective == "hsln":
        from sectioncls.recipes.finetune_sequence import finetune_sequence  # which gives what is defined here

        again = overwrite or resume  # it takes a minute: an interrupted one starts again
        return finetune_sequence(
            corpus, options, folder, seed=seed, encoder=encoder, overwrite=again, observer=observer
        )
    work = work or folder.with_name(f"{folder.name}.training")
    check_output(folder, overwrite=overwrite or resume)
    settings = plan(options, corpus.info.scheme)
    if settings.delta and settings.tune == "all":
        raise UsageError("a delta of all weights is the whole model", todo="add --tune lora or --tune bitfit")
    encoder = encoder or load_start(options, corpus.info.scheme)
    if encoder.context is not None and not corpus.info.has_articles:
        raise InputError("the corpus has no articles, so there is no context", corpus.path, "train without --context")
    for remark in require_trainable(corpus, ("train", "dev")):
        observer.note(f"note: {remark}")
    base = fingerprint(encoder) if settings.delta else ""
    tune_only(encoder, settings.tune, settings.rank)  # type: ignore[arg-type]
    if settings.freeze:
        freeze_lowest(encoder, settings.freeze)
    desk = Desk(work, _signature(settings, corpus, seed), resume=resume, overwrite=overwrite)
    objective = build_objective(
        settings.objective, encoder.dimension, corpus.labels, settings.loss_settings(), settings.smoothing, seed
    )
    scorer = dev_scorer(encoder, corpus, margin=settings.margin, seed=seed, neighbours=not _only_classifies(settings))
    course = _Course(
        settings, _task(encoder, corpus, settings, objective, seed), objective, scorer, desk, seed, observer
    )
    state = start(encoder, [course.task], course.fitting)
    desk.restore(state)
    note = margin_note(settings.margin, bounded=encoder.normalises or settings.distance == "cosine")
    if note and objective.uses("margin") and state.step == 0:
        desk.note(state, note, observer)
    _train(state, course)
    dev = desk.take_best(state) if settings.patience else state.extra["dev"]
    result = _write(folder, encoder, corpus, options, course, dev, base)
    desk.clear()
    return result


@dataclasses.dataclass(frozen=True, slots=True)
class _Course:
    """What one training is made of, and stays the same while it runs."""

    settings: Plan
    task: Task
    objective: Objective
    scorer: DevScorer
    desk: Desk
    seed: int
    observer: Observer

    @property
    def fitting(self) -> Settings:
        """The loop's own settings."""
        names = ("epochs", "learning_rate", "warmup", "precision", "chunk")
        return Settings(**{name: getattr(self.settings, name) for name in names}, seed=self.seed)


def load_start(options: FinetuneOptions, corpus_scheme: str) -> Encoder:
    """Give the encoder that ``options`` start from. Raises ModelError when it can't be had."""
    settings = plan(options, corpus_scheme)
    context = Context(settings.window, settings.overlap) if settings.context == "window" else None
    return load_encoder(options.model, pooling=settings.pooling, revision=options.revision, context=context)


def _task(encoder: Encoder, corpus: Corpus, settings: Plan, objective: Objective, seed: int) -> Task:
    train = corpus.split("train")
    tokens = encoder.read(train.texts, train.article_ids, train.index)
    rows: Tokens | Windows | KeptTokens = keep_lowest(encoder, tokens, settings.freeze) if settings.freeze else tokens
    groups = np.unique(np.asarray(train.texts, dtype=object), return_inverse=True)[1]
    weights = np.ones(len(train)) if not settings.weigh_rows else _row_weights(train)
    articles = np.unique(np.asarray(train.article_ids, dtype=object), return_inverse=True)[1]
    columns = (train.labels, groups, weights.astype(np.float32), articles)
    joined = () if train.allowed is None or train.possible is None else (train.allowed, train.possible)
    targets = tuple(torch.from_numpy(column) for column in (*columns, *joined))
    sampler: Sampler = (
        LabelBatches(train.labels, tokens.lengths, settings.batch_size, seed)
        if encoder.context is None
        else LengthBatches(tokens.lengths, settings.batch_size, seed)
    )
    return Task("role", rows, targets, sampler, objective)


def _row_weights(train: Split) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the annotators' agreement of each row, of mean 1. Raises InputError where the corpus has none."""
    if train.confidence is None:
        raise InputError("the corpus has no column confidence", todo="leave --weigh-rows out")
    weights = np.nan_to_num(train.confidence, nan=1.0)
    return np.asarray(weights / weights.mean())


def _train(state: State, course: _Course) -> None:
    """Run the loop; score dev ``checks`` times per epoch, keep the best, stop when patience is out."""
    settings, desk, observer = course.settings, course.desk, course.observer
    per_epoch = len(course.task.sampler)
    total = max(1, round(settings.epochs * per_epoch))
    if state.step == 0:
        dev, _ = course.scorer(state.encoder, course.objective.head)
        desk.dev(state, 0.0, dev, observer)
    # A resumed training may stand where patience had run out, before the folder was written.
    if _waited(state, settings):
        return
    with observer.stage("training", total, "steps") as advance, held_interrupt() as interrupted:
        advance(state.step)
        for step in fit(state, [course.task], course.fitting):
            desk.step(step)
            advance(1)
            due = step.number * settings.checks // per_epoch > (step.number - 1) * settings.checks // per_epoch
            if due or step.number == total:
                _check(state, step, course)
            if interrupted():
                save_checkpoint(state, desk.checkpoint)
                observer.note(f"interrupted at step {state.step}; --resume goes on from there")
                raise KeyboardInterrupt
            if _waited(state, settings):
                break


def _check(state: State, step: Step, course: _Course) -> None:
    """Score dev, name a collapse once, keep the best state where one is chosen, write a checkpoint."""
    desk, scorer = course.desk, course.scorer
    dev, vectors = scorer(state.encoder, course.objective.head)
    desk.dev(state, step.epoch, dev, course.observer)
    note = None if _only_classifies(course.settings) else collapse_note(vectors, scorer.classes, course.seed)
    if note and not state.extra.get("collapsed"):
        state.extra["collapsed"] = True
        desk.note(state, note, course.observer)
    if course.settings.patience:
        desk.keep(state, scorer.choice)
    save_checkpoint(state, desk.checkpoint)


def _only_classifies(settings: Plan) -> bool:
    """Tell whether nothing is asked of the vectors but that a linear classifier can read them."""
    return settings.objective in ("ce", "crf")


def _waited(state: State, settings: Plan) -> bool:
    return settings.patience > 0 and int(state.extra.get("worse", 0)) >= settings.patience


def _signature(settings: Plan, corpus: Corpus, seed: int) -> Row:
    return {**dataclasses.asdict(settings), "seed": seed, "corpus": corpus.info.fingerprint}


def _write(
    folder: Path,
    encoder: Encoder,
    corpus: Corpus,
    options: FinetuneOptions,
    course: _Course,
    dev: dict[str, float],
    weights_of_base: str,
) -> Finetuned:
    """Write the encoder's folder with all that is known of it."""
    settings, head, desk = course.settings, course.objective.head, course.desk
    base = model_facts(options.model)
    state = "cls" if _only_classifies(settings) else "tuned"
    name = f"{Path(options.model).name}-{state}"
    facts = {
        "format": 1,
        "name": name,
        "backbone": base["backbone"],
        "state": state,
        "base_model": base["model"],
        "corpus": {
            "name": corpus.name,
            "labels": list(corpus.labels),
            "train": sum(corpus.info.counts["train"].values()),
            "fingerprint": corpus.info.fingerprint,
            "licence": corpus.info.licence,
        },
        "training": {**dataclasses.asdict(settings), "seed": course.seed},
        "dev": dev,
        "notes": desk.notes,
        "versions": versions(),
    }
    if encoder.context is not None:
        facts["context"] = dataclasses.asdict(encoder.context)
    if head is not None:
        facts["temperature"] = course.scorer.temperature(encoder, head)
    delta = None
    if settings.delta:
        about = {"base": options.model, "sha256": weights_of_base}
        about |= {key: getattr(settings, key) for key in ("tune", "rank", "pooling")}
        delta = (delta_of(encoder), about)
    fold_delta(encoder)
    history = desk.history()
    save_encoder(encoder, folder, facts=facts, head=head, history=history, delta=delta, overwrite=folder.exists())
    return Finetuned(folder, name, settings, dev, tuple(desk.notes), tuple(history))
