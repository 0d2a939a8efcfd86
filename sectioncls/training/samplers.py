"""Which rows go into which batch: everything once per epoch, batches a label loss learns from, little padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.encoders.tokens import places_of
from sectioncls.errors import InputError

__all__ = ["LabelBatches", "LengthBatches", "TripleBatches"]

Rows = npt.NDArray[np.int64]

# Batches whose items are sorted by length together; more saves padding, fewer mixes better.
_BUCKET = 64


class LabelBatches:
    """Batches of row numbers for losses over labels.

    Every row comes once per epoch. Wherever the labels permit, a batch holds two labels with two items each, without
    which batch-all has no triplet. Rows of like length share a batch. The batches of an epoch are a function of (seed,
    epoch) alone, so a position is two integers and resuming is exact. It also serves as ``batch_sampler`` of a torch
    DataLoader or of sentence-transformers (each iteration is the next epoch; ``set_epoch`` chooses one).

    ``labels`` (n,) are integers, ``lengths`` (n,) tokens or characters. Raises InputError with fewer than two labels.
    """

    def __init__(self, labels: npt.ArrayLike, lengths: npt.ArrayLike, batch_size: int, seed: int) -> None:
        self.labels = np.unique(np.asarray(labels), return_inverse=True)[1]
        self.lengths = np.asarray(lengths)
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0
        if batch_size < 4:
            raise InputError(f"a batch of {batch_size} can't hold two labels twice", todo="use at least 4")
        if not len(self.labels) or self.labels.max() == 0:
            raise InputError("the training rows have fewer than two labels", todo="choose another corpus")

    def __len__(self) -> int:
        """Batches per epoch."""
        return -(-len(self.labels) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        epoch, self.epoch = self.epoch, self.epoch + 1
        for rows in self.batches(epoch):
            yield rows.tolist()

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration."""
        self.epoch = epoch

    def batches(self, epoch: int) -> list[Rows]:
        """Give the batches of one epoch, sizes differing by one at most."""
        random = np.random.default_rng((self.seed, epoch))
        batches = _bucketed(self.lengths, len(self), random)
        _repair(batches, self.labels, random)
        return [batches[i] for i in random.permutation(len(batches))]


class LengthBatches:
    """Batches of row numbers by length alone, for rows that bring many items each, such as windows of articles.

    Every row comes once per epoch, rows of like length share a batch, batches are a function of (seed, epoch).
    ``lengths`` (n,) are tokens. Raises InputError without rows.
    """

    def __init__(self, lengths: npt.ArrayLike, batch_size: int, seed: int) -> None:
        self.lengths = np.asarray(lengths)
        self.batch_size = batch_size
        self.seed = seed
        if not len(self.lengths):
            raise InputError("there is nothing to train on", todo="choose another corpus")

    def __len__(self) -> int:
        """Batches per epoch."""
        return -(-len(self.lengths) // self.batch_size)

    def batches(self, epoch: int) -> list[Rows]:
        """Give the batches of one epoch, sizes differing by one at most."""
        random = np.random.default_rng((self.seed, epoch))
        batches = _bucketed(self.lengths, len(self), random)
        return [batches[i] for i in random.permutation(len(batches))]


class TripleBatches:
    """Batches of whole triples: every triple once per epoch, those of like length in a batch.

    Rows are occurrences of texts, triple t those from ``firsts[t]`` to ``firsts[t + 1]`` (see occurrences.py);
    ``batch_size`` counts triples. ``lengths`` (n,) are the tokens of each occurrence; the longest of a triple decides.
    Batches are a function of (seed, epoch). Raises InputError without a triple.
    """

    def __init__(self, firsts: npt.ArrayLike, lengths: npt.ArrayLike, batch_size: int, seed: int) -> None:
        self.firsts = np.asarray(firsts, dtype=np.int64)
        self.batch_size = batch_size
        self.seed = seed
        if len(self.firsts) < 2:
            raise InputError("there is no triple to train on", todo="choose another task, or other papers")
        self.longest = np.maximum.reduceat(np.asarray(lengths), self.firsts[:-1])

    def __len__(self) -> int:
        """Batches per epoch."""
        return -(-len(self.longest) // self.batch_size)

    def batches(self, epoch: int) -> list[Rows]:
        """Give the occurrences of each batch of one epoch, triple by triple; sizes differ by one triple at most."""
        random = np.random.default_rng((self.seed, epoch))
        batches = _bucketed(self.longest, len(self), random)
        return [places_of(self.firsts, batches[i]) for i in random.permutation(len(batches))]


def _bucketed(lengths: npt.NDArray[Any], count: int, random: np.random.Generator) -> list[Rows]:
    """Shuffle, then sort by length within stretches of some batches, then cut into ``count`` batches."""
    order = random.permutation(len(lengths))
    stretches = np.array_split(order, max(1, round(count / _BUCKET)))
    rows = np.concatenate([s[np.argsort(lengths[s], kind="stable")] for s in stretches])
    return np.array_split(rows, count)


def _repair(batches: list[Rows], labels: Rows, random: np.random.Generator) -> None:
    """Exchange single items, in place, until every batch has two labels with two items each, as far as that goes."""
    counts = np.stack([np.bincount(labels[rows], minlength=labels.max() + 1) for rows in batches])
    for poor in np.flatnonzero((counts >= 2).sum(1) < 2):
        for wanted in _wishes(counts, int(poor)):
            if _fill(batches, counts, labels, int(poor), int(wanted), random):
                break


def _wishes(counts: npt.NDArray[np.int64], poor: int) -> Rows:
    """Give the labels that could become the batch's second one: fewest items missing first, then the commonest."""
    missing = np.maximum(0, 2 - counts[poor])
    missing = np.where(counts[poor] == counts[poor].max(), 0, missing)
    candidates = np.flatnonzero(missing)
    return candidates[np.lexsort((-counts[:, candidates].sum(0), missing[candidates]))]


def _fill(
    batches: list[Rows],
    counts: npt.NDArray[np.int64],
    labels: Rows,
    poor: int,
    wanted: int,
    random: np.random.Generator,
) -> bool:
    """Bring items of ``wanted`` into the poor batch until it has two; say whether that was possible."""
    while counts[poor, wanted] < 2:
        surplus = int(counts[poor].argmax())
        donor = _donor(counts, poor, wanted)
        if donor is None or counts[poor, surplus] < 3:
            return False
        take = random.choice(np.flatnonzero(labels[batches[donor]] == wanted))
        give = random.choice(np.flatnonzero(labels[batches[poor]] == surplus))
        batches[donor][take], batches[poor][give] = batches[poor][give], batches[donor][take]
        counts[donor, wanted] -= 1
        counts[poor, wanted] += 1
        counts[donor, surplus] += 1
        counts[poor, surplus] -= 1
    return True


def _donor(counts: npt.NDArray[np.int64], poor: int, wanted: int) -> int | None:
    """Give the nearest batch that can spare an item of ``wanted`` without becoming poor itself."""
    labelled = (counts >= 2).sum(1)
    loses = (counts[:, wanted] == 2) & (labelled <= 2)
    able = (counts[:, wanted] >= 1) & ~loses
    able[poor] = False
    donors = np.flatnonzero(able)
    if not len(donors):
        return None
    # Batches stand in order of length, so a near one costs little padding.
    return int(donors[np.abs(donors - poor).argmin()])
