"""Training sequence heads on embeddings that lie ready: the encoder stays as it is, an epoch takes seconds.

Papers: arXiv 1808.06161 (Jin and Szolovits, the network), 2102.06008 (Brack et al., several corpora at once).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.corpora import Split
from sectioncls.encoders import ArticleReader, SequenceHead, articles_of
from sectioncls.errors import InputError
from sectioncls.recipes.observer import SILENT, Observer

__all__ = ["Lesson", "SequenceOptions", "Sequences", "TrainedHeads", "sequences_of", "train_sequence_heads"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SequenceOptions:
    """Settings of the heads: ``hidden`` units a direction, batches of ``articles`` and at most ``sentences``.

    With ``patience`` epochs without a better dev score training stops (0: never); the best state on dev is kept.
    """

    hidden: int = 128
    dropout: float = 0.5
    epochs: int = 60
    patience: int = 8
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    articles: int = 32
    sentences: int = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Embedded sentences (n, dimension) with class ids (n,), and the rows of each article in order."""

    vectors: npt.NDArray[np.float32]
    labels: Ints
    articles: tuple[Ints, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """One corpus to learn from, with the label set that its class ids count in."""

    name: str
    labels: tuple[str, ...]
    train: Sequences
    dev: Sequences


@dataclass(frozen=True, slots=True, eq=False)
class TrainedHeads:
    """Heads by the name of their lesson, their F1-micro on dev, and the scores of dev after every epoch."""

    heads: Mapping[str, SequenceHead]
    dev: Mapping[str, float]
    history: tuple[Mapping[str, float], ...]


def sequences_of(split: Split, vectors: npt.NDArray[np.float32]) -> Sequences:
    """Give a split with its embeddings. Articles stand by their ids, so the order of the file changes nothing.

    Raises InputError for embeddings whose number is not that of the sentences.
    """
    if len(vectors) != len(split):
        what = f"{len(vectors)} embeddings for the {len(split)} sentences of {split.name}"
        raise InputError(what, "embeddings", "they are of another corpus: encode this one")
    ids = split.article_ids
    articles = sorted(articles_of(ids, split.index), key=lambda rows: ids[rows[0]])
    return Sequences(vectors, split.labels, tuple(articles))


def train_sequence_heads(
    lessons: Sequence[Lesson],
    options: SequenceOptions | None = None,
    *,
    seed: int = 0,
    observer: Observer = SILENT,
) -> TrainedHeads:
    """Give one head for each lesson; they share the BiLSTM and each has a linear layer and a chain of its own.

    A step takes a batch of one lesson; an epoch takes every article of every lesson once. The state is kept whose mean
    F1-micro over the lessons' dev is best, the earliest of equals. Same lessons, options and seed: same weights. Raises
    InputError for no lesson, two of one name, no article to train or choose on, or vectors of several dimensions.
    """
    options = options or SequenceOptions()
    _check(lessons)
    with torch.random.fork_rng(devices=[]), observer.stage("training heads", options.epochs, "epochs") as advance:
        torch.manual_seed(seed)
        reader = ArticleReader(lessons[0].train.vectors.shape[1], options.hidden, options.dropout)
        heads = {lesson.name: SequenceHead(reader, lesson.labels, options.dropout) for lesson in lessons}
        every = nn.ModuleDict({str(place): heads[lesson.name] for place, lesson in enumerate(lessons)})
        optimiser = torch.optim.AdamW(every.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
        history: list[dict[str, float]] = []
        best: tuple[float, int, dict[str, Tensor]] | None = None
        for epoch in range(options.epochs):
            loss = _epoch(lessons, heads, optimiser, options, (seed, epoch))
            dev = {lesson.name: _right(heads[lesson.name], lesson.dev) for lesson in lessons}
            history.append({"epoch": epoch + 1, "loss": loss, **{f"dev {name}": value for name, value in dev.items()}})
            advance(1)
            mean = float(np.mean(list(dev.values())))
            if best is None or mean > best[0]:
                best = mean, epoch, {name: weight.clone() for name, weight in every.state_dict().items()}
            elif options.patience and epoch - best[1] >= options.patience:
                break
    if best is not None:
        every.load_state_dict(best[2])
    every.eval()
    return TrainedHeads(
        heads, {lesson.name: _right(heads[lesson.name], lesson.dev) for lesson in lessons}, tuple(history)
    )


def _check(lessons: Sequence[Lesson]) -> None:
    names = [lesson.name for lesson in lessons]
    if not lessons or len(set(names)) < len(names):
        raise InputError("no lesson" if not lessons else "two lessons of one name", ", ".join(names) or "lessons")
    dimension = lessons[0].train.vectors.shape[1]
    for lesson in lessons:
        for name, part in (("train", lesson.train), ("dev", lesson.dev)):
            if not part.articles:
                raise InputError(f"has no article in {name}", lesson.name)
            if part.vectors.shape[1] != dimension:
                what = f"has vectors of {part.vectors.shape[1]} dimensions, not {dimension}"
                raise InputError(what, lesson.name, "take one encoder for all corpora")


def _epoch(
    lessons: Sequence[Lesson],
    heads: Mapping[str, SequenceHead],
    optimiser: torch.optim.Optimizer,
    options: SequenceOptions,
    seed: tuple[int, int],
) -> float:
    """Move the weights through every batch of every lesson; give the mean loss per sentence."""
    total = count = 0.0
    for lesson, block in _batches(lessons, options, np.random.default_rng(seed)):
        head = heads[lesson.name].train()
        rows = np.concatenate(block)
        numbers = torch.from_numpy(np.repeat(np.arange(len(block)), [len(article) for article in block]))
        vectors = torch.from_numpy(lesson.train.vectors[rows])
        loss = head(vectors, torch.from_numpy(lesson.train.labels[rows]), numbers)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([weight for weight in head.parameters() if weight.grad is not None], 1.0)
        optimiser.step()
        total, count = total + loss.item() * len(rows), count + len(rows)
    return total / count


def _batches(
    lessons: Sequence[Lesson], options: SequenceOptions, random: np.random.Generator
) -> Iterator[tuple[Lesson, list[Ints]]]:
    """Give the articles of an epoch in batches, those of all lessons mixed; an article is never cut."""
    batches: list[tuple[Lesson, list[Ints]]] = []
    for lesson in lessons:
        block: list[Ints] = []
        for place in random.permutation(len(lesson.train.articles)):
            rows = lesson.train.articles[place]
            full = len(block) == options.articles or sum(map(len, block)) + len(rows) > options.sentences
            if block and full:
                batches.append((lesson, block))
                block = []
            block.append(rows)
        batches.append((lesson, block))
    for place in random.permutation(len(batches)):
        yield batches[place]


def _right(head: SequenceHead, part: Sequences) -> float:
    """Give the share of sentences that get their true label: F1-micro."""
    return float((head.predict(part.vectors, part.articles) == part.labels).mean())
