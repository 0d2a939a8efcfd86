"""Scores as curves: by the number of training sentences, with a handful per label, and precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_ids, as_matrix
from sectioncls.downstream.classify import fit_classifier
from sectioncls.downstream.confusion import f1_macro, f1_micro, table
from sectioncls.downstream.protocols import Protocol
from sectioncls.downstream.sampling import rows_per_label, stratified_rows
from sectioncls.errors import InputError

__all__ = [
    "PER_LABEL",
    "REPEATS",
    "LearningPoint",
    "PrecisionRecall",
    "few_shot",
    "learning_curve",
    "learning_sizes",
    "precision_recall",
]

PER_LABEL = (8, 16, 64)
"""Training sentences per label of the few-shot scores."""

REPEATS = 5
"""Draws of training sentences for each point."""


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """F1 on test after learning from ``rows`` sentences, the ``repeat``-th draw; ``asked`` is the size asked for.

    ``asked`` counts sentences in a learning curve, and sentences of each label in few-shot scores; ``rows`` is less
    than asked for where a label has fewer.
    """

    asked: int
    rows: int
    repeat: int
    f1_micro: float
    f1_macro: float


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecall:
    """One label against all others: precision, recall and threshold of each point, and the average precision.

    Thresholds rise; a point counts rows whose probability is its threshold or more.
    """

    label: int
    n: int
    average_precision: float
    precision: npt.NDArray[np.float64]
    recall: npt.NDArray[np.float64]
    threshold: npt.NDArray[np.float64]


def learning_sizes(rows: int, labels: int) -> tuple[int, ...]:
    """Sizes of a learning curve: from ten sentences a label in doublings, and all ``rows``, which no other is near."""
    sizes = []
    size = 10 * labels
    while size < 0.8 * rows:
        sizes.append(size)
        size *= 2
    return (*sizes, rows)


def learning_curve(
    train: tuple[npt.ArrayLike, npt.ArrayLike],
    test: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    protocol: Protocol,
    method: str = "logistic-regression",
    sizes: Sequence[int] | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> list[LearningPoint]:
    """F1 on ``test`` (embeddings, class ids) of a classifier that learns from more and more of ``train``.

    Each size is drawn ``repeats`` times, stratified by label; all rows at once are drawn once. Default sizes are
    those of learning_sizes. Settings are the protocol's plain ones: nothing is chosen on dev.
    """
    x, y = _labelled(train, "train")
    wanted = learning_sizes(len(x), len(np.unique(y))) if sizes is None else tuple(sizes)
    jobs = [
        (size, repeat, stratified_rows(y, size, seed=seed + repeat))
        for size in wanted
        for repeat in range(repeats if size < len(x) else 1)
    ]
    return _points(jobs, x, y, test, protocol, method)


def few_shot(
    train: tuple[npt.ArrayLike, npt.ArrayLike],
    test: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    protocol: Protocol,
    method: str = "logistic-regression",
    per_label: Sequence[int] = PER_LABEL,
    repeats: int = REPEATS,
    seed: int = 0,
) -> list[LearningPoint]:
    """F1 on ``test`` of a classifier that learns from a few sentences of each label, drawn ``repeats`` times."""
    x, y = _labelled(train, "train")
    jobs = [
        (number, repeat, rows_per_label(y, number, seed=seed + repeat))
        for number in per_label
        for repeat in range(repeats)
    ]
    return _points(jobs, x, y, test, protocol, method)


def precision_recall(
    probabilities: npt.ArrayLike, y_true: npt.ArrayLike, classes: Sequence[int], *, points: int = 200
) -> list[PrecisionRecall]:
    """Precision against recall of each class that occurs in ``y_true``, (n,) ids, from (n, classes) probabilities.

    ``classes`` are the ids of the columns. The average precision is over all points, of which ``points`` are
    kept, evenly by recall. Agrees with scikit-learn. Raises InputError for unequal lengths.
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    chances = as_matrix(probabilities, "probabilities")
    truth = as_ids(y_true, len(chances), "true labels")
    found = []
    for column, label in enumerate(classes):
        right = truth == label
        if not right.any():
            continue
        precision, recall, threshold = precision_recall_curve(right, chances[:, column])
        # The last point, precision 1 at recall 0, has no threshold.
        keep = np.unique(np.searchsorted(-recall[:-1], -np.linspace(1, 0, points)).clip(max=len(threshold) - 1))
        average = float(average_precision_score(right, chances[:, column]))
        found.append(
            PrecisionRecall(int(label), int(right.sum()), average, precision[keep], recall[keep], threshold[keep])
        )
    return found


def _labelled(split: tuple[npt.ArrayLike, npt.ArrayLike], name: str) -> tuple[Matrix, Ids]:
    x = as_matrix(split[0], f"{name} embeddings")
    return x, as_ids(split[1], len(x), f"{name} labels")


def _points(
    jobs: Sequence[tuple[int, int, Ids]],
    x: Matrix,
    y: Ids,
    test: tuple[npt.ArrayLike, npt.ArrayLike],
    protocol: Protocol,
    method: str,
) -> list[LearningPoint]:
    seen, truth = _labelled(test, "test")
    if method in protocol.grids:
        protocol = replace(protocol, grids={})
    ids = np.unique(np.concatenate([y, truth]))
    shape = (len(ids), len(ids))
    found = []
    for asked, repeat, rows in jobs:
        if len(np.unique(y[rows])) < 2:
            raise InputError("the training sentences bear one label only; nothing to learn", "train labels")
        predicted = fit_classifier(x[rows], y[rows], method=method, protocol=protocol).predict(seen)
        counts = table(np.searchsorted(ids, truth), np.searchsorted(ids, predicted), shape)
        found.append(LearningPoint(asked, len(rows), repeat, float(f1_micro(counts)), float(f1_macro(counts))))
    return found
