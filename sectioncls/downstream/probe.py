"""What a linear classifier reads from embeddings: one class a paper, several, or only a few examples of each.

The strength of the penalty, C, is chosen by cross-validation on the training rows; the test rows are seen once.
Rows may be dense or scipy sparse. Paper: arXiv 2211.13308, section 3 and its evaluation code.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_ids, as_matrix
from sectioncls.downstream.confusion import f1_by_label, f1_macro, f1_micro, table
from sectioncls.downstream.intervals import draws
from sectioncls.downstream.significance import RESAMPLES, interval, resampled_tables
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = [
    "FOLDS",
    "GRID",
    "class_scores",
    "few_shot_samples",
    "few_shot_topic_samples",
    "probe",
    "probe_topics",
    "topic_scores",
]

GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
FOLDS = 3

Flags = npt.NDArray[np.bool_]


def probe(
    train_x: Any,
    train_y: npt.ArrayLike,
    test_x: Any,
    *,
    grid: Sequence[float] = GRID,
    folds: int = FOLDS,
    seed: int = 42,
    max_iter: int = 1000,
) -> Ids:
    """Class ids (test rows,) that a linear SVM (squared hinge), trained on the train rows, gives the test rows.

    ``grid`` holds the values of C among which ``folds``-fold cross-validation on train chooses, by accuracy;
    one value is taken as it is. Where no class has ``folds`` rows there is nothing to cross-validate, and the C
    of the grid that is nearest to 1 is taken. Raises InputError for one class only or non-finite rows.
    """
    x, seen = as_features(train_x, "train rows"), as_features(test_x, "test rows")
    y = as_ids(train_y, x.shape[0], "train labels")
    if len(np.unique(y)) < 2:
        raise InputError("the training papers are of one class only; nothing to learn", "train labels")
    return np.asarray(_fitted(x, y, grid, folds, seed, max_iter).predict(seen), dtype=np.int64)


def probe_topics(
    train_x: Any,
    train_y: npt.ArrayLike,
    test_x: Any,
    *,
    grid: Sequence[float] = GRID,
    folds: int = FOLDS,
    seed: int = 42,
    max_iter: int = 10_000,
) -> Flags:
    """Which topics (test rows, topics) a linear SVM for each topic, one against the rest, gives the test rows.

    ``train_y`` (train rows, topics) says which topics a row bears. C is chosen for each topic by itself. A topic
    that no row or every row bears is answered so without learning. Raises InputError as probe does.
    """
    x, seen = as_features(train_x, "train rows"), as_features(test_x, "test rows")
    flags = _flags(train_y, x.shape[0], "train topics")
    found = np.zeros((seen.shape[0], flags.shape[1]), dtype=np.bool_)
    for topic in range(flags.shape[1]):
        y = flags[:, topic].astype(np.int64)
        if y.min() == y.max():
            found[:, topic] = bool(len(y) and y[0])
        else:
            found[:, topic] = _fitted(x, y, grid, folds, seed, max_iter).predict(seen) == 1
    return found


def few_shot_samples(y: npt.ArrayLike, size: int, runs: int) -> Iterator[Ids]:
    """Yield up to ``runs`` samples of about ``size`` rows, each with every class in its share.

    They are the test folds of a stratified split into ceil(rows / size) folds, in order, so that no row is in
    two of them. Train on each with one C and average: that is few-shot as SciRepEval has it.
    """
    from sklearn.model_selection import StratifiedKFold

    labels = np.asarray(y)
    folds = math.ceil(len(labels) / size)
    if folds < 2:
        raise InputError(f"{len(labels)} training papers make no two samples of {size}", "train labels")
    with warnings.catch_warnings():
        # Classes with fewer rows than folds are missing from some samples, as published.
        warnings.simplefilter("ignore", UserWarning)
        for run, (_, rows) in enumerate(StratifiedKFold(folds).split(np.zeros(len(labels)), labels)):
            if run == runs:
                return
            yield np.asarray(rows, dtype=np.int64)


def few_shot_topic_samples(y: npt.ArrayLike, size: int, runs: int, *, seed: int = 42) -> Iterator[Ids]:
    """Yield ``runs`` samples that hold ``size`` rows of each topic (all where there are fewer), sorted."""
    flags = np.asarray(y, dtype=np.bool_)
    for run in range(runs):
        rng = np.random.default_rng(seed + run)
        parts = [np.flatnonzero(column) for column in flags.T]
        drawn = [rng.choice(rows, size, replace=False) if len(rows) > size else rows for rows in parts]
        yield np.unique(np.concatenate(drawn)).astype(np.int64)


def class_scores(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    classes: int,
    *,
    like: Score,
    positive: int | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """Rows ``f1-macro`` and ``f1-micro`` with 95 % intervals over papers, and ``f1-binary`` of ``positive``.

    Macro counts classes that occur in truth or prediction, each the same.
    """
    truth = as_ids(y_true, len(np.asarray(y_true)), "true classes")
    found = as_ids(y_pred, len(truth), "predicted classes")
    if not len(truth):
        raise InputError("no papers to score", "true classes")
    if min(truth.min(), found.min()) < 0 or max(truth.max(), found.max()) >= classes:
        raise InputError(f"a class beyond {classes} classes", "classes")
    shape = (classes, classes)
    counts = table(truth, found, shape)
    drawn = resampled_tables(truth, found, shape, resamples=resamples, seed=seed)
    statistics = {"f1-macro": f1_macro, "f1-micro": f1_micro}
    if positive is not None:
        statistics["f1-binary"] = lambda tables: np.nan_to_num(f1_by_label(tables)[..., positive])
    rows = []
    for metric, statistic in statistics.items():
        low, high = interval(drawn, statistic)
        value = float(statistic(counts))
        rows.append(
            replace(like, metric=metric, value=value, low=float(low), high=float(high), n=len(truth), unit="paper")
        )
    return rows


def topic_scores(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    *,
    like: Score,
    absent: float | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """Rows ``f1-macro`` and ``f1-micro`` of several topics a paper, with 95 % intervals over papers.

    Macro leaves out topics that occur neither in truth nor in prediction; with ``absent`` they count as that
    value (scikit-learn has 0).
    """
    found = np.asarray(y_pred, dtype=np.bool_)
    truth = _flags(y_true, len(found), "true topics")
    if not len(truth):
        raise InputError("no papers to score", "true topics")
    if truth.shape != found.shape:
        raise InputError(f"true topics {truth.shape} but predicted {found.shape}", "topics")
    hits = (truth & found).astype(np.float64)
    marks = truth.astype(np.float64) + found
    once = np.ones((1, len(truth)))
    value = _topic_f1(once @ hits, once @ marks, absent)
    parts = [_topic_f1(w @ hits, w @ marks, absent) for w in draws(len(truth), resamples, seed)]
    rows = []
    for place, metric in enumerate(("f1-macro", "f1-micro")):
        low, high = np.nanpercentile(np.concatenate([part[place] for part in parts]), [2.5, 97.5])
        rows.append(
            replace(
                like,
                metric=metric,
                value=float(value[place][0]),
                low=float(low),
                high=float(high),
                n=len(truth),
                unit="paper",
            )
        )
    return rows


def as_features(x: Any, name: str) -> Any:
    """``x`` as rows that scikit-learn learns from: scipy sparse as it is, else a finite float matrix."""
    from scipy.sparse import issparse

    return x.tocsr() if issparse(x) else as_matrix(x, name)


def _topic_f1(hits: Any, marks: Any, absent: float | None) -> tuple[Any, Any]:
    """Macro and micro F1 (samples,) from counts (samples, topics) of hits and of true plus predicted."""
    one = np.divide(2 * hits, marks, out=np.full(hits.shape, np.nan if absent is None else absent), where=marks > 0)
    whole = marks.sum(axis=1)
    micro = np.divide(2 * hits.sum(axis=1), whole, out=np.zeros(len(hits)), where=whole > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(one, axis=1), micro


def _fitted(x: Any, y: Ids, grid: Sequence[float], folds: int, seed: int, max_iter: int) -> Any:
    """A linear SVM with its C chosen on these rows."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import LinearSVC

    counts = np.unique(y, return_counts=True)[1]
    # Of two classes both must be in each part that is learnt from.
    enough = counts.min() >= 2 and counts.max() >= folds if len(counts) == 2 else counts.max() >= folds
    usual = min(grid, key=lambda c: abs(math.log(c)))
    model = LinearSVC(C=usual, random_state=seed, max_iter=max_iter)
    if len(grid) > 1 and enough:
        model = GridSearchCV(model, {"C": list(grid)}, cv=folds)
    with threads(1), warnings.catch_warnings():
        # It stops at max_iter, and warns of classes with fewer rows than folds: both are so by the protocol.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(x, y)


def _flags(y: npt.ArrayLike, rows: int, name: str) -> Flags:
    flags = np.asarray(y)
    if flags.ndim != 2 or len(flags) != rows:
        raise InputError(f"expected {rows} rows of flags, one a topic, got shape {flags.shape}", name)
    return flags.astype(np.bool_)
