"""Distilling an encoder into a static one: several tables of token vectors, and dev's choice among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus, require_trainable
from sectioncls.encoders import (
    Encoder,
    Tokens,
    bag_means,
    fit_table,
    load_encoder,
    main_axes,
    save_static,
    sif_weights,
    static_tokens,
    token_table,
    whole_tokenizer,
    word_counts,
)
from sectioncls.errors import ModelError, UsageError
from sectioncls.recipes.evaluate import embed, read_rows
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.probe import Probe, draw_rows, shown_scores
from sectioncls.recipes.versions import versions
from sectioncls.staging import check_output

__all__ = ["Distilled", "distill_encoder"]

Floats = npt.NDArray[np.float32]

# How much a table that is fitted to sentences is held back; dev chooses.
STRENGTHS = (0.001, 0.01, 0.1)
# Training sentences that the teacher reads, at most: it takes minutes for some ten thousand.
_SENTENCES = 20_000


@dataclass(frozen=True, slots=True)
class Distilled:
    """The static encoder's folder and name, how its table came about, and dev's scores of the teacher and of it."""

    folder: Path
    name: str
    way: str
    teacher: dict[str, float]
    dev: dict[str, float]


def distill_encoder(
    model: str,
    folder: Path,
    *,
    corpus: Corpus | None = None,
    dims: int = 256,
    seed: int = 0,
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> Distilled:
    """Distil ``model``, what load_encoder takes, into a static encoder with vectors of ``dims`` numbers.

    With a corpus, the table is also fitted to the teacher's vectors of training sentences, more or less firmly, and the
    one with the best sum of dev's F1-micro by nearest neighbours and by logistic regression is kept. Without, it is
    model2vec's: principal components of the words' vectors, weighted by Zipf's law.

    Raises ModelError for a teacher that is static itself or has several tasks, UsageError for more dimensions than it
    has, OutputError for a folder that is taken.
    """
    check_output(folder, overwrite=overwrite)
    encoder = load_encoder(model)
    if not 1 <= dims <= encoder.dimension:
        raise UsageError(
            f"{model} has {encoder.dimension} dimensions, {dims} can't be had", todo="choose fewer: --dims"
        )
    tokenizer = encoder.model.tokenizer
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise ModelError("is static already", model, "distil the encoder that it was made from")
    fast = whole_tokenizer(tokenizer.backend_tokenizer)
    with observer.stage("encoding words", fast.get_vocab_size(), "words") as advance:
        words = token_table(encoder, advance)
    if corpus is None:
        way, table = "zipf", _plain(words, dims)
        teacher: dict[str, float] = {}
        dev: dict[str, float] = {}
    else:
        require_trainable(corpus, ("train", "dev"))
        way, table, teacher, dev = _choose(encoder, words, fast, corpus, dims, seed, observer)
    facts = _facts(model, corpus, way, dims, seed, teacher, dev)
    save_static(table, fast, folder, facts=facts, overwrite=overwrite)
    return Distilled(folder, str(facts["name"]), way, teacher, dev)


def _plain(words: Floats, dims: int, counts: npt.NDArray[np.int64] | None = None) -> Floats:
    """Give model2vec's table: principal components of the words, each weighted by its frequency."""
    known = words.any(1)
    mean, axes = main_axes(words[known], dims)
    # By Zipf's law no word makes up more than a thousandth; counted shares are larger, and words of role among them.
    weights = sif_weights(counts, len(words), 1e-4 if counts is None else 1e-2)
    table: Floats = (((words - mean) @ axes) * weights[:, None]).astype(np.float32)
    table[~known] = 0
    return table


def _choose(
    encoder: Encoder, words: Floats, tokenizer: Any, corpus: Corpus, dims: int, seed: int, observer: Observer
) -> tuple[str, Floats, dict[str, float], dict[str, float]]:
    """Give the way, table, teacher's scores and own scores of the candidate that dev likes best."""
    train = corpus.split("train")
    rows = draw_rows(train, _SENTENCES, seed, whole_articles=encoder.context is not None)
    probe = Probe(train, rows, corpus.split("dev"))
    targets = embed(encoder, read_rows(encoder, train, rows), "teacher: encoding train", observer)
    teacher_dev = embed(encoder, read_rows(encoder, probe.dev), "teacher: encoding dev", observer)
    teacher = probe.scores(targets, teacher_dev)
    tokens = static_tokens(tokenizer, [train.texts[row] for row in rows])
    dev_tokens = static_tokens(tokenizer, probe.dev.texts)
    found: list[tuple[str, Floats, dict[str, float]]] = []
    with observer.stage("choosing on dev", 2 + len(STRENGTHS), "tables") as advance:
        for way, table in _candidates(words, dims, tokens, targets):
            scores = probe.scores(_unit(bag_means(tokens, table)), _unit(bag_means(dev_tokens, table)))
            observer.note(f"{way}: dev {shown_scores(teacher, scores)}")
            found.append((way, table, scores))
            found = [max(found, key=lambda known: sum(known[2].values()))]  # the first of equals; one table in memory
            advance(1)
    way, table, scores = found[0]
    return way, table, teacher, scores


def _candidates(words: Floats, dims: int, tokens: Tokens, targets: Floats) -> Iterator[tuple[str, Floats]]:
    """Yield tables with their names: weighted by Zipf's law, by counted frequency, and fitted to ``targets``."""
    plain = _plain(words, dims)
    yield "zipf", plain
    yield "counted", _plain(words, dims, word_counts(tokens, len(words)))
    mean, axes = main_axes(targets, dims)
    shortened: Floats = ((targets - mean) @ axes).astype(np.float32)
    for strength in STRENGTHS:
        fitted = fit_table(plain, tokens, shortened, strength)
        fitted[~words.any(1)] = 0  # unknown words say nothing
        yield f"fitted-{strength:g}", fitted


def _unit(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    return unit


def _facts(
    model: str,
    corpus: Corpus | None,
    way: str,
    dims: int,
    seed: int,
    teacher: dict[str, float],
    dev: dict[str, float],
) -> dict[str, Any]:
    known = model_facts(model)
    distilled: dict[str, Any] = {"from": known["name"], "way": way, "dims": dims, "seed": seed}
    notes = list(known.get("notes", []))
    if corpus is not None:
        distilled |= {"corpus": {"name": corpus.name, "fingerprint": corpus.info.fingerprint}, "teacher": teacher}
        notes.append(f"distilled from {known['name']} with {corpus.name} ({way}): dev {shown_scores(teacher, dev)}")
    return {
        "format": 1,
        "name": f"{known['name']}-static",
        "backbone": known.get("backbone", "other"),
        "state": known.get("state", "base"),
        "base_model": known.get("base_model", known["model"]),
        "teacher": known["name"],
        "distilled": distilled,
        "dev": dev,
        "notes": notes,
        "versions": versions(),
    }
