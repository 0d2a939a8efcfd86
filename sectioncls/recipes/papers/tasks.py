"""Lessons as an encoder's training tasks: tokens with routes, batches, objectives."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.encoders import Encoder, join_tokens
from sectioncls.losses import QUERY, TaskHead, infonce_loss, known_pairs, triplet_margin_loss
from sectioncls.mining import Triples
from sectioncls.recipes.papers.lessons import Contrast, Foretold, Lesson, Masked
from sectioncls.recipes.papers.masked import masked_head, masked_words
from sectioncls.recipes.papers.schema import StageOptions, TaskOptions
from sectioncls.training import LengthBatches, Occurrences, Task, TripleBatches, occurrences_of

__all__ = ["default_margin", "default_temperature", "task_of"]

Rows = npt.NDArray[np.int64]

# Rounds of drawing random negatives again where a draw hit what belongs to the query.
_ROUNDS = 8


def default_temperature(encoder: Encoder) -> float:
    """Give the temperature of InfoNCE where none is named: 1 as published, 0.05 where dot products end at 1."""
    return 0.05 if encoder.normalises else 1.0


def default_margin(encoder: Encoder) -> float:
    """Give the margin of triplets where none is named: 1 as published, 0.35 on unit vectors.

    The vectors of all-MiniLM have the length 2.75 before they are normalised (mean of 200 papers): a margin of 1 among
    those is 0.36 among these.
    """
    return 0.35 if encoder.normalises else 1.0


def task_of(lesson: Lesson, encoder: Encoder, options: TaskOptions, stage: StageOptions, seed: int) -> Task:
    """Give the training task that ``lesson`` is for ``encoder``; ``options`` go before those of the ``stage``.

    Raises UsageError for a task that the encoder has no route for.
    """
    own = seed ^ zlib.crc32(options.name.encode())  # tasks of one size must not draw alike
    size = options.batch_size or stage.batch_size
    with _cut_at(encoder, stage.max_length):
        if isinstance(lesson, Contrast):
            return _contrast(lesson, encoder, options, stage, size, own)
        if isinstance(lesson, Foretold):
            return _foretold(lesson, encoder, options, size, own)
        return _masked(lesson, encoder, options, size, own)


@contextmanager
def _cut_at(encoder: Encoder, length: int | None) -> Iterator[None]:
    """Let the encoder read at most ``length`` tokens meanwhile."""
    own = encoder.model.max_seq_length
    encoder.model.max_seq_length = min(encoder.max_length, length or encoder.max_length)
    try:
        yield
    finally:
        encoder.model.max_seq_length = own


def _contrast(
    lesson: Contrast, encoder: Encoder, options: TaskOptions, stage: StageOptions, size: int, seed: int
) -> Task:
    margin = (options.objective or stage.objective) == "margin"
    triples = _with_negatives(lesson, seed) if margin else lesson.triples
    asking, query = _used(triples.query)
    answering, answer = _used(np.column_stack((triples.positive, triples.negatives)))
    queries = [lesson.queries[row] for row in asking]
    documents = [lesson.documents[row] for row in answering]
    tokens = join_tokens(
        [encoder.tokenise(queries, lesson.route, "query"), encoder.tokenise(documents, lesson.route, "document")]
    )
    numbers: dict[str, int] = {}
    identity = np.array([numbers.setdefault(text, len(numbers)) for text in (*queries, *documents)], dtype=np.int64)
    shift = np.where(answer >= 0, answer + len(asking), -1)
    rows = occurrences_of(tokens, query, shift[:, 0], shift[:, 1:], identity)
    papers = np.repeat(np.array(lesson.papers, dtype=np.float64), (len(asking), len(answering)))
    objective: Any
    if margin:
        value = next(m for m in (options.margin, stage.margin, default_margin(encoder)) if m is not None)
        objective = partial(triplet_margin_loss, margin=value)
    else:
        temperature = options.temperature or stage.temperature or default_temperature(encoder)
        known = known_pairs(*_identities(lesson, asking, answering, identity), texts=len(numbers))
        often = _log_frequency(rows, len(numbers)) if options.log_q else None
        objective = partial(infonce_loss, temperature=temperature, known=known, log_q=often)
    sampler = TripleBatches(rows.firsts, rows.lengths, size, seed)
    return Task(options.name, rows, rows.targets, sampler, objective, options.weight, papers[rows.places])


def _foretold(lesson: Foretold, encoder: Encoder, options: TaskOptions, size: int, seed: int) -> Task:
    tokens = encoder.tokenise(lesson.texts, lesson.route)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = TaskHead(encoder.dimension, lesson.outputs, lesson.loss)
    sampler = LengthBatches(tokens.lengths, size, seed)
    return Task(options.name, tokens, (torch.from_numpy(lesson.targets),), sampler, head, options.weight)


def _masked(lesson: Masked, encoder: Encoder, options: TaskOptions, size: int, seed: int) -> Task:
    tokens = encoder.tokenise(lesson.texts, lesson.route)
    rows, words = masked_words(tokens, encoder, seed)
    sampler = LengthBatches(rows.lengths, size, seed)
    return Task(options.name, rows, (words,), sampler, masked_head(encoder), options.weight)


def _used(rows: Rows) -> tuple[Rows, Rows]:
    """Give the rows that occur, ascending, and ``rows`` as places among them; -1 stays -1."""
    kept = np.unique(rows[rows >= 0])
    return kept, np.where(rows >= 0, np.searchsorted(kept, rows), -1)


def _identities(lesson: Contrast, asking: Rows, answering: Rows, identity: Rows) -> tuple[Rows, Rows]:
    """Give the pairs that belong together as identities of texts, of those texts that are used."""
    place = np.full(len(lesson.queries), -1, dtype=np.int64)
    place[asking] = identity[: len(asking)]
    other = np.full(len(lesson.documents), -1, dtype=np.int64)
    other[answering] = identity[len(asking) :]
    pairs = np.asarray(lesson.known, dtype=np.int64).reshape(-1, 2)
    query, document = place[pairs[:, 0]], other[pairs[:, 1]]
    used = (query >= 0) & (document >= 0)
    return query[used], document[used]


def _log_frequency(rows: Occurrences, texts: int) -> torch.Tensor:
    """Give the logarithm of each text's share of all candidates, (texts,)."""
    counts = np.bincount(rows.text[rows.role != QUERY], minlength=texts)
    return torch.from_numpy(np.log(np.maximum(counts, 1) / max(1, counts.sum())).astype(np.float32))


def _with_negatives(lesson: Contrast, seed: int) -> Triples:
    """Give the triples with a random negative each where they have none, which the margin needs."""
    triples, count = lesson.triples, len(lesson.documents)
    lacking = np.flatnonzero((triples.negatives < 0).all(1))
    if not len(lacking):
        return triples
    random = np.random.default_rng((seed, 2))
    known = {(int(q), int(d)) for q, d in lesson.known}
    same = lesson.queries is lesson.documents
    drawn = np.full(len(triples), -1, dtype=np.int64)
    for _ in range(_ROUNDS):
        drawn[lacking] = random.integers(count, size=len(lacking))
        asked = zip(lacking.tolist(), triples.query[lacking].tolist(), drawn[lacking].tolist(), strict=True)
        lacking = np.array([row for row, q, d in asked if (q, d) in known or (same and q == d)], dtype=np.int64)
        if not len(lacking):
            break
    drawn[lacking] = -1
    full = np.column_stack((triples.negatives, drawn)) if triples.negatives.size else drawn[:, None]
    return Triples(triples.query, triples.positive, full).take(np.flatnonzero((full >= 0).any(1)))
