"""Fine-tuning a sentence encoder on a corpus: data, loss, loop, choice on dev, the folder that comes out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sectioncls.corpora import Corpus
from sectioncls.encoders import Encoder, delta_of, fold_delta, save_encoder
from sectioncls.errors import UsageError
from sectioncls.recipes.course import Course, Watch, begin, best_dev, load_start, only_classifies, train
from sectioncls.recipes.desk import Row
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.presets import Plan, plan
from sectioncls.recipes.schema import FinetuneOptions
from sectioncls.recipes.versions import versions
from sectioncls.staging import check_output
from sectioncls.training import Tracking

__all__ = ["Finetuned", "finetune", "load_start", "try_options"]


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
    track: Tracking | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Finetuned:
    """Fine-tune ``options.model`` on ``corpus`` and write it to ``folder``, a sentence-transformers folder.

    ``encoder`` is the model when the caller has loaded it already. ``work`` keeps the checkpoint, the best state and
    the history while it runs (default: ``FOLDER.training``) and is removed at the end; after an interruption
    ``resume`` goes on from it, exactly. ``track`` tells a tracker of every step; ``facts`` are added to what the folder
    says of itself. The objective ``hsln`` trains a head alone: see finetune_sequence. Raises InputError for a corpus
    that nothing can be learnt from or a checkpoint of other settings, UsageError where the loss is no number,
    OutputError for a folder that is taken, ModelError for a model that can't be had.
    """
    if options.objective == "hsln":
        if track is not None:
            raise UsageError("the objective hsln tells no tracker of its epochs", todo="leave --track out")
        from sectioncls.recipes.finetune_sequence import finetune_sequence  # which gives what is defined here

        again = overwrite or resume  # it takes a minute: an interrupted one starts again
        return finetune_sequence(
            corpus, options, folder, seed=seed, encoder=encoder, overwrite=again, observer=observer
        )
    work = work or folder.with_name(f"{folder.name}.training")
    check_output(folder, overwrite=overwrite or resume)
    settings = plan(options, corpus.info.scheme)
    state, course = begin(
        corpus,
        settings,
        encoder or load_start(options, corpus.info.scheme),
        work,
        seed=seed,
        overwrite=overwrite,
        resume=resume,
        observer=observer,
        track=None if track is None else dataclasses.replace(track, settings=dataclasses.asdict(settings)),
    )
    train(state, course)
    dev, history = best_dev(state, course), tuple(course.desk.history())
    if course.desk.first:
        _write(folder, options, course, dev, facts or {})
    course.desk.clear()
    return Finetuned(folder, _name(options, settings), settings, dev, tuple(course.desk.notes), history)


def try_options(
    corpus: Corpus,
    options: FinetuneOptions,
    work: Path,
    *,
    seed: int = 0,
    watch: Watch | None = None,
    observer: Observer = SILENT,
) -> dict[str, float]:
    """Train as ``finetune`` would, write no encoder, and give dev's scores of the state that it would have kept.

    ``work`` holds checkpoint and history, and stays; an interrupted try goes on from it. ``watch`` may end it by
    raising.
    """
    settings = plan(options, corpus.info.scheme)
    resume = (work / "checkpoint.safetensors").is_file()
    encoder = load_start(options, corpus.info.scheme)
    state, course = begin(corpus, settings, encoder, work, seed=seed, overwrite=True, resume=resume, observer=observer)
    train(state, course, watch)
    return best_dev(state, course)


def _write(
    folder: Path,
    options: FinetuneOptions,
    course: Course,
    dev: dict[str, float],
    more: Mapping[str, Any],
) -> None:
    """Write the encoder's folder with all that is known of it."""
    settings, head, desk = course.settings, course.objective.head, course.desk
    encoder, corpus = course.encoder, course.corpus
    base = model_facts(options.model)
    facts = {
        "format": 1,
        "name": _name(options, settings),
        "backbone": base["backbone"],
        "state": _state(settings),
        "base_model": base["model"],
        "corpus": {
            "name": corpus.name,
            "labels": list(corpus.labels),
            "train": sum(corpus.info.counts["train"].values()),
            "fingerprint": corpus.info.fingerprint,
            "licence": corpus.info.licence,
        },
        "training": {**dataclasses.asdict(settings), "model": base["model"], "seed": course.seed},
        "dev": dev,
        "notes": desk.notes,
        "versions": versions(),
        **more,
    }
    if encoder.context is not None:
        facts["context"] = dataclasses.asdict(encoder.context)
    if head is not None:
        facts["temperature"] = course.scorer.temperature(encoder, head)
    delta = None
    if settings.delta:
        about = {"base": options.model, "sha256": course.base}
        about |= {key: getattr(settings, key) for key in ("tune", "rank", "pooling")}
        delta = (delta_of(encoder), about)
    fold_delta(encoder)
    history = desk.history()
    save_encoder(encoder, folder, facts=facts, head=head, history=history, delta=delta, overwrite=folder.exists())


def _name(options: FinetuneOptions, settings: Plan) -> str:
    return f"{Path(options.model).name}-{_state(settings)}"


def _state(settings: Plan) -> str:
    return "cls" if only_classifies(settings) else "tuned"
