"""Fine-tuning a sequence head alone (``--objective hsln``): the encoder stays, and reads every sentence once."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from sectioncls.corpora import Corpus, require_trainable
from sectioncls.downstream import fit_temperature
from sectioncls.encoders import Encoder, save_encoder
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.evaluate import embed, read_rows
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.finetune import Finetuned, load_start
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.presets import plan
from sectioncls.recipes.schema import FinetuneOptions
from sectioncls.recipes.sequence import Lesson, SequenceOptions, TrainedHeads, sequences_of, train_sequence_heads
from sectioncls.recipes.versions import versions
from sectioncls.staging import check_output

__all__ = ["finetune_sequence"]

# What only a training of the encoder, or another loss, has a use for.
_UNUSED = (
    *("preset", "tune", "rank", "freeze", "delta", "chunk", "warmup", "precision"),
    *("margin", "distance", "temperature", "smoothing", "dropout", "class_weights", "weigh_rows"),
)


def finetune_sequence(
    corpus: Corpus,
    options: FinetuneOptions,
    folder: Path,
    *,
    seed: int = 0,
    encoder: Encoder | None = None,
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> Finetuned:
    """Train a SequenceHead on what ``options.model`` gives for ``corpus``; write both as an encoder folder.

    Of the options count model, pooling, context, epochs, learning rate, patience and batch size (articles). The head is
    chosen by F1-micro on dev. Raises UsageError for an option that would do nothing, InputError for a corpus that has
    no articles or nothing to learn, OutputError for a folder that is taken, ModelError for a model that can't be had.
    """
    check_output(folder, overwrite=overwrite)
    _refuse_unused(options)
    if not corpus.info.has_articles:
        raise InputError("the corpus has no articles, so there is no sequence", corpus.path, "take --objective ce")
    if corpus.info.label_sets:
        raise InputError("is joined of several label sets, and a chain needs one", corpus.path, "take --objective ce")
    for remark in require_trainable(corpus, ("train", "dev")):
        observer.note(f"note: {remark}")
    encoder = encoder or load_start(options, corpus.info.scheme)
    settings = sequence_options(options)
    parts = {}
    for name in ("train", "dev"):
        split = corpus.split(name)
        tokens = read_rows(encoder, split)
        parts[name] = sequences_of(split, embed(encoder, tokens, f"encoding {name}", observer))
    done = train_sequence_heads(
        [Lesson(corpus.name, corpus.labels, parts["train"], parts["dev"])], settings, seed=seed, observer=observer
    )
    head, dev = done.heads[corpus.name], {"f1-micro-head": done.dev[corpus.name]}
    chances = head.probabilities(parts["dev"].vectors, parts["dev"].articles)
    base = model_facts(options.model)
    name = f"{Path(options.model).name}-hsln"
    facts: dict[str, Any] = {
        "format": 1,
        "name": name,
        "backbone": base["backbone"],
        "state": "cls",
        "base_model": base["model"],
        "corpus": {
            "name": corpus.name,
            "labels": list(corpus.labels),
            "train": len(parts["train"].labels),
            "fingerprint": corpus.info.fingerprint,
            "licence": corpus.info.licence,
        },
        "training": {"objective": "hsln", "model": base["model"], **dataclasses.asdict(settings), "seed": seed},
        "dev": dev,
        "notes": ["only the head was trained: the vectors are those of the base model"],
        "versions": versions(),
        "temperature": fit_temperature(chances, parts["dev"].labels),
    }
    if encoder.context is not None:
        facts["context"] = dataclasses.asdict(encoder.context)
    history = _history(done, corpus.name)
    save_encoder(encoder, folder, facts=facts, head=head, history=history, overwrite=folder.exists())
    return Finetuned(folder, name, plan(options, corpus.info.scheme), dev, tuple(facts["notes"]), tuple(history))


def sequence_options(options: FinetuneOptions) -> SequenceOptions:
    """Give the settings of a head that ``options`` mean; what is left open is SequenceOptions' own."""
    given = {
        "epochs": None if options.epochs is None else math.ceil(options.epochs),
        "learning_rate": options.learning_rate,
        "patience": options.patience,
        "articles": options.batch_size,
    }
    return SequenceOptions(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]


def _refuse_unused(options: FinetuneOptions) -> None:
    plain = FinetuneOptions()
    for name in _UNUSED:
        if getattr(options, name) != getattr(plain, name):
            what = f"{name.replace('_', '-')} does nothing with the objective hsln, which leaves the encoder as it is"
            raise UsageError(what, todo=f"leave --{name.replace('_', '-')} out")


def _history(done: TrainedHeads, name: str) -> list[dict[str, Any]]:
    """Give the epochs as lines of history.jsonl; a step of the head is an epoch."""
    rows: list[dict[str, Any]] = []
    for row in done.history:
        place = {"step": int(row["epoch"]), "epoch": row["epoch"]}
        rows.append({"kind": "step", **place, "task": "role", "loss": row["loss"]})
        rows.append({"kind": "dev", **place, "f1-micro-head": row[f"dev {name}"]})
    return rows
