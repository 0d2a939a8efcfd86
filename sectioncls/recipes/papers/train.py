"""One stage of training a paper encoder: start, conditioning, tasks, loop, choice on dev, the folder that comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sectioncls.encoders import (
    Encoder,
    condition,
    ensemble,
    fingerprint,
    load_encoder,
    read_facts,
    save_encoder,
    tune_only,
)
from sectioncls.errors import InputError, UsageError
from sectioncls.losses import TaskHead
from sectioncls.recipes.desk import Desk, Row
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.interrupt import held_interrupt
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.papers.devquestions import dev_question
from sectioncls.recipes.papers.devscore import CHOICE, DevScorer
from sectioncls.recipes.papers.lessons import Lesson, lesson_of
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import ModelOptions, StageOptions
from sectioncls.recipes.papers.tasks import default_margin, task_of
from sectioncls.recipes.versions import versions
from sectioncls.staging import check_output
from sectioncls.training import (
    Mixing,
    Settings,
    State,
    Step,
    Task,
    cost_of_steps,
    fit,
    margin_note,
    save_checkpoint,
    start,
    steps_per_epoch,
    steps_within,
)

__all__ = ["Trained", "join_variants", "load_begin", "train_papers"]


@dataclass(frozen=True, slots=True)
class Trained:
    """What a stage gave: the encoder's folder, dev's scores, notes, every row of the history, and its own facts."""

    folder: Path
    dev: Mapping[str, float]
    notes: tuple[str, ...]
    history: tuple[Row, ...]
    facts: Mapping[str, Any]


def load_begin(begin: ModelOptions | Path) -> Encoder:
    """Give the encoder that a stage begins from: a model as a recipe names it, or a folder of an earlier stage.

    Raises ModelError when it can't be had.
    """
    if isinstance(begin, Path):
        return load_encoder(begin)
    encoder = load_encoder(begin.name, pooling=begin.pooling, revision=begin.revision)
    if not begin.normalise and encoder.normalises:
        own = encoder.model[1].pooling_mode
        encoder = load_encoder(begin.name, pooling=own, revision=begin.revision)
    limit = int(getattr(encoder.backbone.config, "max_position_embeddings", begin.max_length))
    encoder.model.max_seq_length = min(begin.max_length, limit)
    return encoder


def train_papers(
    material: Material,
    stage: StageOptions,
    folder: Path,
    *,
    begin: ModelOptions | Path,
    name: str,
    seed: int = 0,
    work: Path | None = None,
    overwrite: bool = False,
    resume: bool = False,
    observer: Observer = SILENT,
) -> Trained:
    """Train an encoder called ``name`` from ``begin`` on the tasks of ``stage``; write it to ``folder``.

    ``work`` keeps checkpoint, best state and history while it runs (default: ``FOLDER.training``) and is removed at the
    end; after an interruption ``resume`` goes on from it, exactly. Raises InputError where the papers hold nothing for
    a task or the checkpoint has other settings, UsageError for options that don't go together, ModelError for an
    encoder that can't be had, OutputError for a folder that is taken.
    """
    work = work or folder.with_name(f"{folder.name}.training")
    check_output(folder, overwrite=overwrite or resume)
    encoder = load_begin(begin)
    began = fingerprint(encoder)
    encoder = _conditioned(encoder, stage, seed)
    lessons = [lesson_of(material, task, seed) for task in stage.tasks]
    course = _course(encoder, material, stage, lessons, seed)
    signature = {
        **stage.model_dump(mode="json"),
        "papers": material.papers.info.fingerprint,
        "texts": material.options.model_dump(mode="json", exclude={"path", "build", "source"}),
        "seed": seed,
        "start": began,
    }
    desk = Desk(work, signature, resume=resume, overwrite=overwrite)
    state = start(encoder, course.tasks, course.settings)
    desk.restore(state)
    if state.step == 0:
        _remarks(state, encoder, stage, material, desk, observer)
    _train(state, course, desk, observer)
    dev = desk.take_best(state) if stage.choose else dict(state.extra["dev"])
    facts = _facts(encoder, material, course, begin, name, seed, dev, desk)
    history = desk.history()
    if desk.first:
        save_encoder(encoder, folder, facts=facts, history=history, overwrite=folder.exists())
        desk.clear()
    return Trained(folder, dev, tuple(desk.notes), tuple(history), facts)


@dataclass(frozen=True, slots=True)
class _Course:
    """What one stage is made of, and stays the same while it runs."""

    stage: StageOptions
    lessons: Sequence[Lesson]
    tasks: Sequence[Task]
    scorer: DevScorer
    settings: Settings
    total: int

    @property
    def heads(self) -> dict[str, TaskHead]:
        """The heads that are learnt and dropped afterwards."""
        return {task.name: task.objective for task in self.tasks if isinstance(task.objective, TaskHead)}


def _conditioned(encoder: Encoder, stage: StageOptions, seed: int) -> Encoder:
    """Give the encoder as the stage wants it: its conditioning, and which weights learn."""
    own = encoder.conditioning.name if encoder.conditioning is not None else "none"
    if stage.conditioning not in (None, own):
        encoder = condition(encoder, stage.conditioning, seed=seed, trains=stage.trains, **stage.options)
    elif stage.options:
        raise UsageError(f"options of a conditioning, but the encoder has it already ({own})", todo="leave options out")
    if stage.tune != "all":
        if encoder.conditioning is not None:
            raise UsageError(f"tune = {stage.tune} is for encoders without conditioning", todo="leave it out")
        tune_only(encoder, stage.tune)
    return encoder


def _course(encoder: Encoder, material: Material, stage: StageOptions, lessons: Sequence[Lesson], seed: int) -> _Course:
    """Give everything that the loop needs."""
    tasks = [
        task_of(lesson, encoder, options, stage, seed) for lesson, options in zip(lessons, stage.tasks, strict=True)
    ]
    questions = [dev_question(material, task, seed, stage.dev_queries) for task in stage.tasks]
    euclidean = [task.name for task in stage.tasks if (task.objective or stage.objective) == "margin"]
    scorer = DevScorer(encoder, [question for question in questions if question is not None], euclidean=euclidean)
    mixing = Mixing(stage.sharing, stage.power)
    total = (
        steps_within(tasks, mixing, stage.budget)
        if stage.budget is not None
        else max(1, round(stage.epochs * steps_per_epoch(tasks, mixing)))
    )
    names = ("learning_rate", "schedule", "warmup", "weight_decay", "clip", "layer_decay", "precision", "chunk")
    settings = Settings(**{name: getattr(stage, name) for name in names}, seed=seed, steps=total, mixing=mixing)
    if stage.choose and not scorer.questions:
        raise InputError("has no dev papers for any task", material.papers.path, "leave choose out")
    return _Course(stage, lessons, tasks, scorer, settings, total)


def _remarks(
    state: State, encoder: Encoder, stage: StageOptions, material: Material, desk: Desk, observer: Observer
) -> None:
    """Note what a reader of the scores must know before anything is learnt."""
    if material.wordless:
        desk.note(
            state, f"{material.wordless} training papers have neither title nor abstract and are left out", observer
        )
    margins = [
        next(m for m in (task.margin, stage.margin, default_margin(encoder)) if m is not None)
        for task in stage.tasks
        if (task.objective or stage.objective) == "margin"
    ]
    note = margin_note(max(margins, default=0.0), bounded=encoder.normalises)
    if note:
        desk.note(state, note, observer)


def _train(state: State, course: _Course, desk: Desk, observer: Observer) -> None:
    """Run the loop; score dev ``checks`` times, keep the best state where one is chosen."""
    checks, total = course.stage.checks, course.total
    if state.step == 0:
        _dev(state, 0.0, course, desk, observer)
    with observer.stage("training", total, "steps") as advance, held_interrupt() as interrupted:
        advance(state.step)
        for step in fit(state, course.tasks, course.settings):
            desk.step(step, "rows")
            advance(1)
            if step.number * checks // total > (step.number - 1) * checks // total:
                _check(state, step, course, desk, observer)
            if interrupted():
                save_checkpoint(state, desk.checkpoint)
                observer.note(f"interrupted at step {state.step}; --resume goes on from there")
                raise KeyboardInterrupt


def _check(state: State, step: Step, course: _Course, desk: Desk, observer: Observer) -> None:
    _dev(state, step.epoch, course, desk, observer)
    if course.stage.choose:
        desk.keep(state, CHOICE)
    save_checkpoint(state, desk.checkpoint)


def _dev(state: State, epoch: float, course: _Course, desk: Desk, observer: Observer) -> None:
    scores = course.scorer(state.encoder, course.heads)
    desk.dev(state, epoch, scores, observer, shown=tuple(scores))


def _facts(
    encoder: Encoder,
    material: Material,
    course: _Course,
    begin: ModelOptions | Path,
    name: str,
    seed: int,
    dev: Mapping[str, float],
    desk: Desk,
) -> dict[str, Any]:
    """Give what ``sectioncls.json`` says of the encoder; ``earlier`` are the stages before this one."""
    before = read_facts(begin) if isinstance(begin, Path) else {}
    base = before or model_facts(begin.name if isinstance(begin, ModelOptions) else str(begin))
    info, options = material.papers.info, material.options
    history = desk.history()
    return {
        "format": 1,
        "kind": "papers",
        "name": name,
        "backbone": base["backbone"],
        "state": "tuned",
        "base_model": base.get("base_model") or base["model"],
        "conditioning": encoder.conditioning.name if encoder.conditioning is not None else "none",
        "routes": list(encoder.routes),
        "corpus": {
            "name": info.name,
            "train": len(material.rows),
            "fingerprint": info.fingerprint,
            "licence": info.licence,
        },
        "texts": options.model_dump(mode="json", exclude={"path", "build", "source"}),
        "training": {**course.stage.model_dump(mode="json"), "seed": seed, "steps": course.total},
        "lessons": {lesson.name: dict(lesson.facts) for lesson in course.lessons},
        "earlier": [*before.get("earlier", []), {"name": before["name"], **before["training"]}] if before else [],
        "parameters": _parameters(encoder),
        "papers": round(cost_of_steps(course.tasks, course.settings.mixing, course.total)),
        "seconds": round(sum(float(row["seconds"]) for row in history if "rows" in row), 2),
        "dev": dict(dev),
        "notes": list(dict.fromkeys([*before.get("notes", []), *desk.notes])),
        "versions": versions(),
    }


def join_variants(members: Sequence[Path], folder: Path, *, how: str, name: str, seed: int) -> None:
    """Write the ensemble of several encoder folders: the mean of their vectors, or all end to end (``concat``)."""
    encoders = [load_encoder(member) for member in members]
    known = [read_facts(member) for member in members]
    joined = ensemble(encoders, how)
    kept = ("format", "kind", "backbone", "state", "base_model", "corpus", "texts", "versions")
    facts = {
        **{key: known[0][key] for key in kept},
        "name": name,
        "training": {"ensemble": how, "of": [facts["name"] for facts in known], "seed": seed},
        "earlier": [stage for facts in known for stage in (*facts.get("earlier", []), facts["training"])],
        "parameters": {**_parameters(joined), "learn": 0},
        "papers": sum(facts["papers"] for facts in known),
        "seconds": round(sum(facts["seconds"] for facts in known), 2),
        "notes": list(dict.fromkeys(note for facts in known for note in facts.get("notes", []))),
    }
    save_encoder(joined, folder, facts=facts, overwrite=folder.exists())


def _parameters(encoder: Encoder) -> dict[str, int]:
    """Give how many weights there are, and how many learn."""
    weights = list(encoder.parameters())
    return {"all": sum(w.numel() for w in weights), "learn": sum(w.numel() for w in weights if w.requires_grad)}
