"""What context tells of a sentence's role: one table from no text at all to the sequence head, ablations between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.corpora import Corpus, Split, require_trainable
from sectioncls.downstream import (
    POSITION,
    PROTOCOLS,
    TITLE,
    classification_scores,
    classify,
    classify_positions,
    classify_texts,
    classify_titles,
    neighbour_vectors,
    shuffled_articles,
)
from sectioncls.encoders import load_encoder
from sectioncls.errors import InputError, ModelError
from sectioncls.recipes.evaluate import embed
from sectioncls.recipes.facts import model_facts
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.sequence import Lesson, SequenceOptions, Sequences, sequences_of, train_sequence_heads
from sectioncls.records import Score

__all__ = ["compare_contexts", "context_scores"]

_LEARNER = "logistic-regression"
_ALONE = 256  # sentences of a batch that has no articles

Vectors = npt.NDArray[np.float32]


def compare_contexts(
    corpus: Corpus, model: str, *, precision: str = "float32", seed: int = 0, observer: Observer = SILENT
) -> list[Score]:
    """Give context_scores with the embeddings of ``model``, as load_encoder takes it; ``bf16`` encodes half as exact.

    Raises InputError for a corpus without articles or without a split, ModelError for a model that reads windows.
    """
    if not corpus.info.has_articles:
        raise InputError("the corpus has no articles, so there is no context", corpus.path)
    require_trainable(corpus)
    encoder = load_encoder(model)
    if encoder.context is not None:
        raise ModelError("reads sentences in their context already", model, "give an encoder of single sentences")
    vectors = {}
    for name in ("train", "dev", "test"):
        tokens = encoder.tokenise(corpus.split(name).texts)
        with torch.autocast(encoder.device.type, torch.bfloat16, enabled=precision == "bf16"):
            vectors[name] = embed(encoder, tokens, f"encoding {name}", observer)
    shown = str(model_facts(model)["name"])
    return context_scores(corpus, vectors, encoder=shown, seed=seed, observer=observer)


def context_scores(
    corpus: Corpus,
    vectors: Mapping[str, Vectors],
    *,
    encoder: str,
    options: SequenceOptions | None = None,
    seed: int = 0,
    observer: Observer = SILENT,
) -> list[Score]:
    """Give the scores on test of whatever knows less than the sequence head, and of the head.

    ``vectors`` are embeddings of train, dev and test, rows in corpus order, by an encoder called ``encoder`` that read
    each sentence alone. The methods, by ``Score.method`` and ``Score.context``:

    - ``majority`` and POSITION, and TITLE where the corpus has section titles: no word of a sentence is read;
    - ``logistic-regression`` on the sentence (``none``), on the two beside it (``neighbours``), on all three
      (``own+neighbours``);
    - ``hsln``, the head: on single sentences as articles of their own (``none``), on articles whose order is lost
      (``shuffled``: drawn anew for train, dev and test), on articles (``article``).

    Heads are chosen on dev. Intervals resample articles. Raises InputError for a corpus without articles.
    """
    if not corpus.info.has_articles:
        raise InputError("the corpus has no articles, so there is no context", corpus.path)
    options = options or SequenceOptions()
    splits = {name: corpus.split(name) for name in ("train", "dev", "test")}
    parts = {name: sequences_of(split, vectors[name]) for name, split in splits.items()}
    like = Score("", 0.0, corpus=corpus.name, fingerprint=corpus.info.fingerprint, encoder=encoder, seed=seed)
    found = [*_without_text(corpus, splits, seed), *_by_rows(parts, seed)]
    with observer.stage("sequence heads", 3, "heads") as advance:
        for context, given in _readings(parts, seed):
            settings = replace(options, articles=_ALONE) if context == "none" else options
            found.append((replace(like, method="hsln", context=context), _head(corpus, given, settings, seed)))
            advance(1)
    test = splits["test"]
    rows: list[Score] = []
    for row, predicted in found:
        row = replace(row, corpus=like.corpus, fingerprint=like.fingerprint, seed=seed)
        row = replace(row, encoder=encoder if row.method in (_LEARNER, "hsln") else "")
        rows += classification_scores(test.labels, predicted, corpus.labels, like=row, groups=test.article_ids)
    return rows


def _without_text(corpus: Corpus, splits: Mapping[str, Split], seed: int) -> list[tuple[Score, npt.NDArray[np.int64]]]:
    """Give the predictions that read no word of a sentence."""
    train, test = splits["train"], splits["test"]
    places = [(split.article_ids, split.index) for split in (train, test)]
    found = {
        "majority": classify_texts(train.texts, train.labels, test.texts, method="majority"),
        POSITION: classify_positions(places[0], train.labels, places[1], seed=seed),
    }
    paths = [corpus.table(name, ["path"])["path"].to_pylist() for name in ("train", "test")]
    if any(paths[0]):
        titles = [[path or () for path in column] for column in paths]
        found[TITLE] = classify_titles(titles[0], train.labels, titles[1], seed=seed)
    return [(Score("", 0.0, method=method), predicted) for method, predicted in found.items()]


def _by_rows(parts: Mapping[str, Sequences], seed: int) -> list[tuple[Score, npt.NDArray[np.int64]]]:
    """Give what logistic regression makes of a sentence, of its neighbours, of all three."""
    train, test = parts["train"], parts["test"]
    sides = [neighbour_vectors(part.vectors, part.articles, own=False) for part in (train, test)]
    whole = [neighbour_vectors(part.vectors, part.articles) for part in (train, test)]
    seen = {"none": [train.vectors, test.vectors], "neighbours": sides, "own+neighbours": whole}
    rules = replace(PROTOCOLS["default"], seed=seed)
    return [
        (
            Score("", 0.0, method=_LEARNER, context=context),
            classify(matrices[0], train.labels, matrices[1], method=_LEARNER, protocol=rules),
        )
        for context, matrices in seen.items()
    ]


def _readings(parts: Mapping[str, Sequences], seed: int) -> list[tuple[str, dict[str, Sequences]]]:
    """Give the ways in which the head may read: each sentence alone, articles in no order, articles."""
    random = np.random.default_rng(seed)
    alone = {name: replace(part, articles=tuple(np.arange(len(part.labels))[:, None])) for name, part in parts.items()}
    mixed = {
        name: replace(part, articles=tuple(shuffled_articles(part.articles, random))) for name, part in parts.items()
    }
    return [("none", alone), ("shuffled", mixed), ("article", dict(parts))]


def _head(corpus: Corpus, parts: Mapping[str, Sequences], options: SequenceOptions, seed: int) -> npt.NDArray[np.int64]:
    """Train a head and give what it says of test."""
    lesson = Lesson(corpus.name, corpus.labels, parts["train"], parts["dev"])
    head = train_sequence_heads([lesson], options, seed=seed).heads[corpus.name]
    return head.predict(parts["test"].vectors, parts["test"].articles)
