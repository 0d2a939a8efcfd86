"""Score rows of predictions and of clusters, with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from sectioncls.downstream.arrays import Ids, as_ids, as_matrix
from sectioncls.downstream.cluster import NOISE
from sectioncls.downstream.confusion import (
    adjusted_mutual_information,
    adjusted_rand,
    completeness,
    f1_by_label,
    f1_macro,
    f1_micro,
    f1_weighted,
    homogeneity,
    matthews,
    purity,
    table,
    v_measure,
)
from sectioncls.downstream.significance import RESAMPLES, interval, resampled_tables
from sectioncls.downstream.silhouette import silhouette
from sectioncls.errors import InputError
from sectioncls.records import Score
from sectioncls.vectors import effective_rank

__all__ = ["CLASSIFICATION", "CLUSTERING", "agreement_scores", "classification_scores", "clustering_scores"]

Statistic = Callable[[Any], npt.NDArray[np.float64]]

_PAPER_CLASSIFICATION: dict[str, Statistic] = {"f1-micro": f1_micro, "f1-macro": f1_macro}
_PAPER_CLUSTERING: dict[str, Statistic] = {"ari": adjusted_rand, "ami": adjusted_mutual_information}

CLASSIFICATION: dict[str, Statistic] = {**_PAPER_CLASSIFICATION, "f1-weighted": f1_weighted, "mcc": matthews}
"""What is read from tables of truth x prediction."""

CLUSTERING: dict[str, Statistic] = {
    **_PAPER_CLUSTERING,
    "nmi": v_measure,
    "v-measure": v_measure,
    "homogeneity": homogeneity,
    "completeness": completeness,
    "purity": purity,
}
"""What is read from tables of truth x cluster; ``nmi`` (arithmetic) and ``v-measure`` are one number by two names."""

# Rows whose directions are counted for the effective rank; more change it in its third digit.
_RANK_ROWS = 20_000


def classification_scores(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    labels: Sequence[str],
    *,
    like: Score,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    more: bool = True,
) -> list[Score]:
    """Rows ``f1-micro f1-macro f1-weighted mcc`` and one ``f1`` for each label, with 95 % intervals.

    ``y_true`` and ``y_pred`` hold class ids, positions in ``labels``. ``like`` is a Score that already says
    corpus, encoder, method, protocol, split and seed; its other fields are filled here. ``groups`` is the
    article of each sentence: with it the interval resamples articles, without it sentences. ``n`` is the
    number of sentences, for a label those that truly bear it. A label that occurs in neither truth nor
    prediction has no F1, gets no row, and does not count in the macro mean (as in scikit-learn). ``seed`` is
    that of the resampling; without ``more`` F1 weighted and MCC are left out. Raises InputError for no
    sentences, unequal lengths, or an id without label.
    """
    truth = _class_ids(y_true, len(np.asarray(y_true)), len(labels), "true labels")
    predicted = _class_ids(y_pred, len(truth), len(labels), "predicted labels")
    shape = (len(labels), len(labels))
    counts = table(truth, predicted, shape)
    unit, drawn = _drawn(truth, predicted, shape, groups, resamples, seed)
    row = replace(like, unit=unit, n=len(truth), label=None)
    rows = _table_scores(CLASSIFICATION if more else _PAPER_CLASSIFICATION, counts, drawn, row)
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
    silhouette_rows: int | None = None,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    more: bool = True,
) -> list[Score]:
    """How well clusters agree with labels, with 95 % intervals, and how tight they are, without.

    ``x`` is the matrix that was clustered (rows x dimensions, also scipy sparse), ``clusters`` any integer
    ids; rows that hdbscan left out (-1) count as a cluster of their own, so that every sentence is judged.
    ``like``, ``groups`` and ``seed`` as in classification_scores; the interval keeps the clusters as they are
    and resamples the articles that they are judged on. ``silhouette_of`` may name ``clusters`` (metric
    ``silhouette``) and ``labels`` (``silhouette-labels``: how well the true labels are separate); over
    ``silhouette_rows`` rows it is sampled, and ``n`` says on how many. It is undefined, and has no row, for one
    cluster or one row each.

    Without ``more`` only ``ari``, ``ami``, silhouettes and ``effective-rank`` (a silhouette beside a low one is
    that of a collapse); with it the rest of CLUSTERING, ``davies-bouldin`` (small is good), ``clusters`` (how many)
    and, where hdbscan left rows out, ``noise`` (their share) and ``ari-clustered``, ``ami-clustered`` on the others
    alone. Raises InputError for no sentences, unequal lengths or non-finite embeddings.
    """
    truth, found = _clustered(y_true, clusters)
    space = x if issparse(x) else as_matrix(x)
    if space.shape[0] != len(truth):
        raise InputError(f"{space.shape[0]} rows but {len(truth)} labels", "embeddings")
    row = replace(like, n=len(truth), label=None, unit="sentence" if groups is None else "article")
    statistics = CLUSTERING if more else _PAPER_CLUSTERING
    rows = _agreement(statistics, truth, found, row, groups, resamples, seed)
    for what in silhouette_of:
        measured = silhouette(space, {"clusters": found, "labels": truth}[what], exact_rows=silhouette_rows, seed=seed)
        if measured is not None:
            metric = "silhouette" if what == "clusters" else "silhouette-labels"
            rows.append(replace(_score(row, metric, measured[0], None), n=measured[1]))
    rows += _shape(space, found, row, more=more)
    kept = found != NOISE
    if more and not kept.all():
        rows.append(_score(row, "noise", 1 - kept.mean(), None))
        if kept.any():
            inside = None if groups is None else [group for group, keep in zip(groups, kept, strict=True) if keep]
            row = replace(row, n=int(kept.sum()))
            clustered = _agreement(_PAPER_CLUSTERING, truth[kept], found[kept], row, inside, resamples, seed)
            rows += [replace(score, metric=f"{score.metric}-clustered") for score in clustered]
    return rows


def agreement_scores(
    y_true: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    like: Score,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """``ari`` and ``ami`` alone, as clustering_scores has them: nothing is asked of the space that was clustered."""
    truth, found = _clustered(y_true, clusters)
    row = replace(like, n=len(truth), label=None, unit="sentence" if groups is None else "article")
    return _agreement(_PAPER_CLUSTERING, truth, found, row, groups, resamples, seed)


def _clustered(y_true: npt.ArrayLike, clusters: npt.ArrayLike) -> tuple[Ids, Ids]:
    truth = as_ids(y_true, len(np.asarray(y_true)), "true labels")
    found = as_ids(clusters, len(truth), "clusters")
    if not len(truth):
        raise InputError("no sentences to score", "true labels")
    return truth, found


def _agreement(
    statistics: Mapping[str, Statistic],
    truth: Ids,
    found: Ids,
    row: Score,
    groups: Sequence[str] | None,
    resamples: int,
    seed: int,
) -> list[Score]:
    """Rows of what is read from the table of truth x cluster."""
    names, true_place = np.unique(truth, return_inverse=True)
    places, place = np.unique(found, return_inverse=True)
    shape = (len(names), len(places))
    _, drawn = _drawn(true_place, place, shape, groups, resamples, seed)
    return _table_scores(statistics, table(true_place, place, shape), drawn, row)


def _table_scores(
    statistics: Mapping[str, Statistic], counts: npt.NDArray[np.float64], drawn: Any, row: Score
) -> list[Score]:
    return [
        _score(row, metric, statistic(counts), None if drawn is None else interval(drawn, statistic))
        for metric, statistic in statistics.items()
    ]


def _shape(x: Any, found: Ids, row: Score, *, more: bool) -> list[Score]:
    """Rows on how the embeddings lie; a sparse matrix, which is no embedding, has only the number of clusters."""
    rows = []
    if more:
        rows.append(_score(row, "clusters", len(np.unique(found[found != NOISE])), None))
    if issparse(x):
        return rows
    if more and 2 <= len(np.unique(found)) < len(found):
        from sklearn.metrics import davies_bouldin_score

        rows.append(_score(row, "davies-bouldin", davies_bouldin_score(x, found), None))
    sample = np.linspace(0, len(x) - 1, min(len(x), _RANK_ROWS)).astype(np.int64)
    return [*rows, replace(_score(row, "effective-rank", effective_rank(x[sample]), None), n=len(sample))]


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


def _class_ids(y: npt.ArrayLike, rows: int, labels: int, name: str) -> Ids:
    ids = as_ids(y, rows, name)
    if not rows:
        raise InputError("no sentences to score", name)
    if ids.min() < 0 or ids.max() >= labels:
        raise InputError(f"class id {ids.min() if ids.min() < 0 else ids.max()} of {labels} labels", name)
    return ids
