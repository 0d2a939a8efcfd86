"""One fine-tuning while it runs: what it is made of, the loop, checks on dev, the state that is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
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
    balanced_weights,
    fingerprint,
    freeze_lowest,
    keep_lowest,
    load_encoder,
    tune_only,
)
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.desk import Desk, Row
from sectioncls.recipes.devscore import DevScorer, dev_scorer
from sectioncls.recipes.evaluate import read_rows
from sectioncls.recipes.interrupt import held_interrupt
from sectioncls.recipes.objectives import Objective, build_objective
from sectioncls.recipes.observer import Observer
from sectioncls.recipes.presets import Plan, plan
from sectioncls.recipes.schema import FinetuneOptions
from sectioncls.staging import write_json
from sectioncls.training import (
    Diverged,
    LabelBatches,
    LengthBatches,
    Sampler,
    Settings,
    State,
    Step,
    Task,
    Tracking,
    collapse_note,
    end_tracking,
    fit,
    margin_note,
    start,
    track_scores,
    track_step,
)

__all__ = ["Course", "Watch", "begin", "best_dev", "load_start", "only_classifies", "train"]

Watch = Callable[[Sequence[Row]], None]
"""Is given all checks on dev so far (rows of the history), after each; may raise to end the training."""

# Ids of a batch in an error's line; all of them stand in a file.
_NAMED = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Course:
    """What one training is made of, and stays the same while it runs. ``base`` is the start's fingerprint."""

    settings: Plan
    encoder: Encoder
    corpus: Corpus
    task: Task
    objective: Objective
    scorer: DevScorer
    desk: Desk
    seed: int
    base: str
    observer: Observer

    @property
    def fitting(self) -> Settings:
        """The loop's own settings."""
        names = ("epochs", "learning_rate", "warmup", "precision", "chunk")
        return Settings(**{name: getattr(self.settings, name) for name in names}, seed=self.seed)


def load_start(options: FinetuneOptions, corpus_scheme: str) -> Encoder:
    """Give the encoder that ``options`` start from. Raises ModelError when it can't be had."""
    settings = plan(options, corpus_scheme)
    context = None
    if settings.context == "window":
        context = Context(settings.window, settings.overlap, settings.titles, settings.place)
    elif settings.titles or settings.place:
        raise UsageError("only windows read titles and places", todo="add --context window")
    return load_encoder(options.model, pooling=settings.pooling, revision=options.revision, context=context)


def begin(
    corpus: Corpus,
    settings: Plan,
    encoder: Encoder,
    work: Path,
    *,
    seed: int,
    overwrite: bool,
    resume: bool,
    observer: Observer,
    track: Tracking | None = None,
) -> tuple[State, Course]:
    """Give a training as it stands before its next step: the first, or with ``resume`` that after a checkpoint.

    Raises InputError for a corpus that nothing can be learnt from or a checkpoint of other settings, UsageError for
    settings that don't go together.
    """
    if settings.delta and settings.tune == "all":
        raise UsageError("a delta of all weights is the whole model", todo="add --tune lora or --tune bitfit")
    if encoder.context is not None and not corpus.info.has_articles:
        raise InputError("the corpus has no articles, so there is no context", corpus.path, "train without --context")
    for remark in require_trainable(corpus, ("train", "dev")):
        observer.note(f"note: {remark}")
    told = _told_by_titles(corpus) if encoder.context is not None and encoder.context.titles else 0.0
    base = fingerprint(encoder)
    tune_only(encoder, settings.tune, settings.rank)  # type: ignore[arg-type]
    if settings.freeze:
        freeze_lowest(encoder, settings.freeze)
    signature = {**dataclasses.asdict(settings), "seed": seed, "corpus": corpus.info.fingerprint, "weights": base}
    desk = Desk(work, signature, resume=resume, overwrite=overwrite)
    objective = _objective(encoder, corpus, settings, seed)
    scorer = dev_scorer(encoder, corpus, margin=settings.margin, seed=seed, neighbours=not only_classifies(settings))
    task = _task(encoder, corpus, settings, objective, seed)
    course = Course(settings, encoder, corpus, task, objective, scorer, desk, seed, base, observer)
    state = start(encoder, [task], course.fitting, tracking=track)
    desk.restore(state)
    note = margin_note(settings.margin, bounded=encoder.normalises or settings.distance == "cosine")
    if note and objective.uses("margin") and state.step == 0:
        desk.note(state, note, observer)
    if told and state.step == 0:
        desk.note(state, f"{told:.0%} of the labels were read off the titles that the encoder reads", observer)
    return state, course


def train(state: State, course: Course, watch: Watch | None = None) -> None:
    """Run the loop; score dev ``checks`` times per epoch, keep the best, stop when patience is out.

    Raises UsageError where the loss or its gradient is no number: the last checkpoint stays, and ``diverged.json``
    beside it names the sentences of that step.
    """
    settings, desk, observer = course.settings, course.desk, course.observer
    per_epoch = len(course.task.sampler)
    total = course.fitting.total([course.task])
    if state.step == 0:
        dev, _ = course.scorer(state.encoder, course.objective.head)
        desk.dev(state, 0.0, dev, observer)
        track_scores(state, dev)
    elif watch is not None:
        watch(_checks(desk))
    # A resumed training may stand where patience had run out, before the folder was written.
    if _waited(state, settings):
        end_tracking(state)
        return
    with observer.stage("training", total, "steps") as advance, held_interrupt() as interrupted:
        advance(state.step)
        for step in _steps(state, course):
            desk.step(step)
            track_step(state, step)
            advance(1)
            due = step.number * settings.checks // per_epoch > (step.number - 1) * settings.checks // per_epoch
            if due or step.number == total:
                _check(state, step, course)
                if watch is not None:
                    watch(_checks(desk))
            if interrupted():
                desk.save(state)
                observer.note(f"interrupted at step {state.step}; --resume goes on from there")
                raise KeyboardInterrupt
            if _waited(state, settings):
                break
    end_tracking(state)


def best_dev(state: State, course: Course) -> dict[str, float]:
    """Bring the state to what is kept, the best on dev or the last, and give its dev scores."""
    return course.desk.take_best(state) if course.settings.patience else dict(state.extra["dev"])


def only_classifies(settings: Plan) -> bool:
    """Tell whether nothing is asked of the vectors but that a linear classifier can read them."""
    return settings.objective in ("ce", "crf")


def _steps(state: State, course: Course) -> Any:
    """Yield the loop's steps; where it diverges, say which sentences it was reading."""
    try:
        yield from fit(state, [course.task], course.fitting)
    except Diverged as error:
        train = course.corpus.split("train")
        places = course.task.tokens.members(error.batches[course.task.name])
        ids = [f"{train.article_ids[place]}:{train.index[place]}" for place in places]
        file = course.desk.folder / "diverged.json"  # one name and content in every process
        write_json(file, {"step": error.step, "what": error.what, "sentences": ids})
        kept = course.desk.checkpoint.is_file()
        state_of = "the checkpoint before it is kept" if kept else "there was no checkpoint yet"
        named = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more, see {file}" if len(ids) > _NAMED else "")
        what = f"{error.what} at step {error.step}, on the sentences {named}; {state_of}"
        raise UsageError(what, course.desk.folder, error.todo) from error


def _check(state: State, step: Step, course: Course) -> None:
    """Score dev, name a collapse once, keep the best state where one is chosen, write a checkpoint."""
    desk, scorer = course.desk, course.scorer
    dev, vectors = scorer(state.encoder, course.objective.head)
    desk.dev(state, step.epoch, dev, course.observer)
    track_scores(state, dev)
    note = None
    if not only_classifies(course.settings):
        note = collapse_note(vectors, scorer.classes, course.seed, agreement=dev.get("ari", 0.0))
    if note and not state.extra.get("collapsed"):
        state.extra["collapsed"] = True
        desk.note(state, note, course.observer)
    if course.settings.patience:
        desk.keep(state, scorer.choice)
    desk.save(state)


def _checks(desk: Desk) -> list[Row]:
    return [row for row in desk.history() if row["kind"] == "dev" and row["step"]]


def _waited(state: State, settings: Plan) -> bool:
    return settings.patience > 0 and int(state.extra.get("worse", 0)) >= settings.patience


def _objective(encoder: Encoder, corpus: Corpus, settings: Plan, seed: int) -> Objective:
    weights = None
    if settings.class_weights == "balanced":
        if corpus.info.label_sets:
            raise InputError("is joined of several label sets", corpus.path, "train without class weights")
        weights = balanced_weights(corpus.split("train").labels, len(corpus.labels))
    return build_objective(
        settings.objective,
        encoder.dimension,
        corpus.labels,
        settings.loss_settings(),
        settings.smoothing,
        seed,
        dropout=settings.dropout,
        class_weights=weights,
    )


def _task(encoder: Encoder, corpus: Corpus, settings: Plan, objective: Objective, seed: int) -> Task:
    train = corpus.split("train")
    tokens = read_rows(encoder, train)
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


def _told_by_titles(corpus: Corpus) -> float:
    """Give the share of training sentences whose label a title gave."""
    sources = corpus.table("train", ["label_source"])["label_source"].to_pylist()
    return sum(str(source).startswith("title:") for source in sources) / len(sources)


def _row_weights(train: Split) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the annotators' agreement of each row, of mean 1. Raises InputError where the corpus has none."""
    if train.confidence is None:
        raise InputError("the corpus has no column confidence", todo="leave --weigh-rows out")
    weights = np.nan_to_num(train.confidence, nan=1.0)
    return np.asarray(weights / weights.mean())
