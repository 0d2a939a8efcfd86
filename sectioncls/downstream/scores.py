"""Score rows of predictions and of clusters, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_ids
from sectioncls.downstream.confusion import (
    adjusted_mutual_information,
    adjusted_rand,
    f1_by_label,
    f1_macro,
    f1_micro,
    table,
)
from sectioncls.downstream.significance import RESAMPLES, interval, resampled_tables
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = ["classification_scores", "clustering_scores"]


def classification_scores(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    labels: Sequence[str],
    *,
    like: Score,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """Rows ``f1-micro``, ``f1-macro`` and one ``f1`` for each label, with 95 % intervals.

    ``y_true`` and ``y_pred`` hold class ids, positions in ``labels``. ``like`` is a Score that already says
    corpus, encoder, method, protocol, split and seed; its other fields are filled here. ``groups`` is the
    article of each sentence: with it the interval resamples articles, without it sentences. ``n`` is the
    number of sentences, for a label those that truly bear it. A label that occurs in neither truth nor
    prediction has no F1, gets no row, and does not count in the macro mean (as in scikit-learn). ``seed`` is
    that of the resampling. Raises InputError for no sentences, unequal lengths, or an id without label.
    """
    truth = _class_ids(y_true, len(np.asarray(y_true)), len(labels), "true labels")
    predicted = _class_ids(y_pred, len(truth), len(labels), "predicted labels")
    shape = (len(labels), len(labels))
    counts = table(truth, predicted, shape)
    unit, drawn = _drawn(truth, predicted, shape, groups, resamples, seed)
    row = replace(like, unit=unit, n=len(truth), label=None)
    rows = [
        _score(row, "f1-micro", f1_micro(counts), None if drawn is None else interval(drawn, f1_micro)),
        _score(row, "f1-macro", f1_macro(counts), None if drawn is None else interval(drawn, f1_macro)),
    ]
    values = f1_by_label(counts)
    present = np.flatnonzero(~np.isnan(values))
    ends = None if drawn is None else interval(drawn, lambda tables: f1_by_label(tables)[:, present])
    for place, label in enumerate(present):
        one = replace(row, label=labels[int(label)], n=int(counts[label].sum()))
        rows.append(_score(one, "f1", values[label], None if ends is None else ends[:, place]))
    return rows


def clustering_scores(
    x: Any,
    y_true: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    like: Score,
    silhouette_of: Sequence[str] = ("clusters",),
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """Rows ``ari``, ``ami`` with 95 % intervals, and ``silhouette`` (Euclidean, without interval).

    ``x`` is the matrix that was clustered (rows x dimensions, also scipy sparse), ``clusters`` any integer
    ids; rows that hdbscan left out (-1) count as a cluster of their own, so that every sentence is judged.
    ``like``, ``groups`` and ``seed`` as in classification_scores; the interval keeps the clusters as they are
    and resamples the articles that they are judged on. ``silhouette_of`` may name ``clusters`` (metric
    ``silhouette``) and ``labels`` (``silhouette-labels``: how well the true labels are separate). A
    silhouette is undefined, and has no row, for one cluster or one row each.
    """
    truth = as_ids(y_true, len(np.asarray(y_true)), "true labels")
    found = as_ids(clusters, len(truth), "clusters")
    if not len(truth):
        raise InputError("no sentences to score", "true labels")
    if x.shape[0] != len(truth):
        raise InputError(f"{x.shape[0]} rows but {len(truth)} labels", "embeddings")
    names, true_place = np.unique(truth, return_inverse=True)
    places, place = np.unique(found, return_inverse=True)
    shape = (len(names), len(places))
    counts = table(true_place, place, shape)
    unit, drawn = _drawn(true_place, place, shape, groups, resamples, seed)
    row = replace(like, unit=unit, n=len(truth), label=None)
    rows = [
        _score(row, metric, statistic(counts), None if drawn is None else interval(drawn, statistic))
        for metric, statistic in (("ari", adjusted_rand), ("ami", adjusted_mutual_information))
    ]
    for what in silhouette_of:
        ids = {"clusters": found, "labels": truth}[what]
        value = _silhouette(x, ids)
        if value is not None:
            metric = "silhouette" if what == "clusters" else "silhouette-labels"
            rows.append(_score(row, metric, value, None))
    return rows


def _drawn(
    rows: npt.ArrayLike,
    columns: npt.ArrayLike,
    shape: tuple[int, int],
    groups: Sequence[str] | None,
    resamples: int,
    seed: int,
) -> tuple[str, npt.NDArray[np.float64] | None]:
    """The unit of the interval, and resampled tables: None where one article alone gives no interval."""
    unit = "sentence" if groups is None else "article"
    if groups is not None and len(set(groups)) < 2:
        return unit, None
    return unit, resampled_tables(rows, columns, shape, groups=groups, resamples=resamples, seed=seed)


def _score(row: Score, metric: str, value: Any, ends: npt.NDArray[np.float64] | None) -> Score:
    low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
    return replace(row, metric=metric, value=float(value), low=low, high=high)


def _silhouette(x: Any, ids: Ids) -> float | None:
    from sklearn.metrics import silhouette_score

    if not 2 <= len(np.unique(ids)) < len(ids):
        return None
    return float(silhouette_score(x, ids))


def _class_ids(y: npt.ArrayLike, rows: int, labels: int, name: str) -> Ids:
    ids = as_ids(y, rows, name)
    if not rows:
        raise InputError("no sentences to score", name)
    if ids.min() < 0 or ids.max() >= labels:
        raise InputError(f"class id {ids.min() if ids.min() < 0 else ids.max()} of {labels} labels", name)
    return ids
