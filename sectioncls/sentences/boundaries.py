"""How well predicted sentence boundaries agree with annotated ones: precision, recall, F1 and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from sectioncls.errors import UsageError

__all__ = ["BoundaryScores", "Difference", "Passage", "boundary_counts", "boundary_difference", "boundary_scores"]

Counts = np.ndarray[tuple[int, int], np.dtype[np.int64]]

_RESAMPLES = 2000


class Passage(NamedTuple):
    """A text with the offset behind each of its sentences; passages of one document are resampled together."""

    text: str
    ends: Sequence[int]
    document: str | None = None


@dataclass(frozen=True, slots=True)
class BoundaryScores:
    """Fractions, the counts behind them, and the 95 % interval of F1 over documents."""

    precision: float
    recall: float
    f1: float
    low: float
    high: float
    right: int
    predicted: int
    gold: int
    documents: int


@dataclass(frozen=True, slots=True)
class Difference:
    """F1 of one splitter minus F1 of another on the same documents, with its 95 % interval."""

    f1: float
    low: float
    high: float


def boundary_counts(text: str, gold: Sequence[int], predicted: Sequence[int]) -> tuple[int, int, int]:
    """Give how many inner boundaries are right, predicted and annotated.

    A boundary is the number of characters before it that are no white space, so trimming does not matter. The end of
    the text is no inner boundary: every splitter finds it.
    """
    before = list(accumulate((not character.isspace() for character in text), initial=0))
    wanted, found = ({before[end] for end in ends} - {0, before[-1]} for ends in (gold, predicted))
    return len(wanted & found), len(found), len(wanted)


def boundary_scores(
    gold: Sequence[Passage], predicted: Sequence[Sequence[int]], *, resamples: int = _RESAMPLES, seed: int = 0
) -> BoundaryScores:
    """Give the scores of the predicted ends, pooled over all passages.

    F1 is 1 where there was nothing to find and nothing was found; a fraction of nothing is 0 otherwise. The interval
    is the percentile bootstrap over documents. Raises UsageError unless there is one prediction for each passage.
    """
    counts = _by_document(gold, predicted)
    right, found, wanted = (int(value) for value in counts.sum(axis=0))
    low, high = _interval(_f1(_resampled(counts, resamples, seed)))
    perfect = float(found == wanted == 0)
    return BoundaryScores(
        precision=right / found if found else perfect,
        recall=right / wanted if wanted else perfect,
        f1=float(_f1(counts.sum(axis=0))),
        low=low,
        high=high,
        right=right,
        predicted=found,
        gold=wanted,
        documents=len(counts),
    )


def boundary_difference(
    gold: Sequence[Passage],
    first: Sequence[Sequence[int]],
    second: Sequence[Sequence[int]],
    *,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> Difference:
    """Give F1 of the first minus F1 of the second, both on the same resampled documents. Raises UsageError."""
    both = [_by_document(gold, predicted) for predicted in (first, second)]
    low, high = _interval(np.subtract(*(_f1(_resampled(counts, resamples, seed)) for counts in both)))
    return Difference(float(np.subtract(*(_f1(counts.sum(axis=0)) for counts in both))), low, high)


def _by_document(gold: Sequence[Passage], predicted: Sequence[Sequence[int]]) -> Counts:
    """Give one row of counts a document, in order of appearance."""
    if not gold or len(gold) != len(predicted):
        raise UsageError(f"{len(gold)} passages and {len(predicted)} predictions can't be compared")
    rows: dict[object, list[int]] = {}
    for number, (passage, ends) in enumerate(zip(gold, predicted, strict=True)):
        row = rows.setdefault(number if passage.document is None else passage.document, [0, 0, 0])
        for column, count in enumerate(boundary_counts(passage.text, passage.ends, ends)):
            row[column] += count
    return np.array(list(rows.values()), dtype=np.int64)


def _resampled(counts: Counts, resamples: int, seed: int) -> Counts:
    """Give the sums over documents drawn with replacement; the draws depend on seed and number of documents only."""
    generator = np.random.default_rng(seed)
    size = len(counts)
    sums = [np.bincount(generator.integers(size, size=size), minlength=size) @ counts for _ in range(resamples)]
    return np.array(sums, dtype=np.int64)


def _f1(counts: Counts) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Give F1 along the last axis of (right, predicted, annotated)."""
    right, both = counts[..., 0], counts[..., 1] + counts[..., 2]
    return np.where(both == 0, 1.0, 2 * right / np.maximum(both, 1))


def _interval(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
