"""Whether two systems differ on the same test rows: paired bootstrap by article or query, McNemar, Holm.

The same articles are drawn for both systems, so what is hard for both leaves the difference alone. Papers: Efron and
Tibshirani 1993, chapter 16; Berg-Kirkpatrick et al. 2012, "An empirical investigation of statistical significance in
NLP"; McNemar 1947; Holm 1979.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import as_ids
from sectioncls.downstream.confusion import table
from sectioncls.downstream.intervals import draws
from sectioncls.downstream.scores import CLASSIFICATION, CLUSTERING
from sectioncls.downstream.significance import paired_tables
from sectioncls.errors import InputError

__all__ = [
    "DRAWS",
    "FEW",
    "Difference",
    "compare_clusters",
    "compare_predictions",
    "compare_query_values",
    "holm",
    "mcnemar",
    "power_note",
]

DRAWS = 5000
"""Resamples of a comparison; the smallest p that they can show is 0.0004."""

FEW = 30
"""Articles or queries below which an interval by resampling is too narrow to be taken at its word."""

# Deviations of its estimate that a true difference must have to be seen 4 times in 5 at the 5 % level: 1.96 + 0.84.
_SEEN = 2.8

Assignments = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two systems in one metric: ``difference`` is second minus first, with its 95 % interval and two-sided p.

    ``units`` is how many articles, sentences or queries (``unit``) were resampled, ``n`` how many rows were
    judged; ``deviation`` is that of the difference over resamples. ``mcnemar`` is the exact p of McNemar's test, which
    takes sentences as independent; None where it makes no sense. Without interval for a single unit.
    """

    metric: str
    first: float
    second: float
    low: float | None
    high: float | None
    p: float | None
    deviation: float | None
    n: int
    unit: str
    units: int
    mcnemar: float | None = None

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second - self.first

    @property
    def detectable(self) -> float | None:
        """The true difference that would be seen (5 % level) four times in five on such a test set."""
        return None if self.deviation is None else _SEEN * self.deviation


def compare_predictions(
    truth: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: Sequence[str] | None = None,
    metrics: Sequence[str] = ("f1-micro", "f1-macro"),
    resamples: int = DRAWS,
    seed: int = 0,
) -> list[Difference]:
    """How the predictions of two systems differ, one Difference for each of ``metrics`` (names of CLASSIFICATION).

    ``truth`` (n,) holds class ids; ``first`` and ``second`` are (n,), or (seeds, n) where a system was trained
    several times: then the mean of the seeds is compared. ``groups`` names the article of each sentence and makes it
    the unit; with one article alone sentences are drawn, which is too narrow, and ``unit`` says so. McNemar's p stands
    beside ``f1-micro`` of single seeds. The order of rows has no effect. Raises InputError for unequal lengths or
    no rows.
    """
    y, runs = _aligned(truth, first, second)
    count = int(max(y.max(), *(run.max() for run in runs))) + 1
    found = _differences(
        {name: CLASSIFICATION[name] for name in metrics}, y, runs, [(count, count)] * 2, groups, resamples, seed
    )
    if any(len(run) > 1 for run in runs):
        return found
    p = mcnemar(runs[0][0] == y, runs[1][0] == y)
    return [replace(one, mcnemar=p) if one.metric == "f1-micro" else one for one in found]


def compare_clusters(
    truth: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: Sequence[str] | None = None,
    metrics: Sequence[str] = ("ari", "ami"),
    resamples: int = DRAWS,
    seed: int = 0,
) -> list[Difference]:
    """How well two clusterings agree with the labels, as compare_predictions; noise (-1) is a cluster of its own."""
    y, runs = _aligned(truth, first, second)
    y = np.unique(y, return_inverse=True)[1].reshape(y.shape)
    runs = [np.unique(run, return_inverse=True)[1].reshape(run.shape) for run in runs]
    shapes = [(int(y.max()) + 1, int(run.max()) + 1) for run in runs]
    return _differences({name: CLUSTERING[name] for name in metrics}, y, runs, shapes, groups, resamples, seed)


def compare_query_values(
    metric: str, first: npt.ArrayLike, second: npt.ArrayLike, *, resamples: int = DRAWS, seed: int = 0
) -> Difference:
    """How the means of one ranking metric differ, from its values (queries,) of the same queries in the same order.

    A query that either system has no value for (NaN) is left aside; ``n`` is the number of those that count. Raises
    InputError for unequal lengths or no query.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"values of {one.shape} and {other.shape} queries can't be paired", metric)
    known = ~(np.isnan(one) | np.isnan(other))
    one, other = one[known], other[known]
    if not len(one):
        raise InputError("no query has a value from both systems", metric)
    gaps = np.sort(other - one)  # sorted, so that the order of queries has no effect
    means = None
    if len(gaps) > 1:
        means = np.concatenate([counts @ gaps for counts in draws(len(gaps), resamples, seed)]) / len(gaps)
    return _difference(metric, float(one.mean()), float(other.mean()), means, len(gaps), "query", len(gaps))


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Exact two-sided p of McNemar's test, from which rows each of two systems got right; 1 where they never differ.

    It takes rows as independent, which the sentences of one article are not: read it beside the interval by article.
    """
    from scipy.stats import binomtest

    one, other = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    only_first, only_second = int((one & ~other).sum()), int((other & ~one).sum())
    if not only_first + only_second:
        return 1.0
    return float(binomtest(min(only_first, only_second), only_first + only_second).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values as they stand when all of these tests are made at once, in the order given; Holm 1979."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def power_note(found: Difference) -> str | None:
    """One sentence on what a small test set can't show; None where it is neither small nor undecided."""
    units = f"{found.units:,} {found.unit if found.units == 1 else _PLURAL[found.unit]}"
    if found.detectable is None:
        return f"{units}: nothing to resample, so nothing is known of the chance in this difference"
    if not found.detectable:
        return f"only {units}: intervals are rough" if found.units < FEW else None
    points = f"a true difference below {100 * found.detectable:.1f} points would be missed more than once in five times"
    if found.units < FEW:
        return f"only {units}: intervals are rough, and {points}"
    undecided = found.low is not None and found.high is not None and found.low <= 0 <= found.high
    return f"with {units} {points}" if undecided else None


_PLURAL = {
    "article": "articles",
    "sentence": "sentences",
    "query": "queries",
    "paper": "papers",
    "reviewer": "reviewers",
}


def _aligned(truth: npt.ArrayLike, *systems: npt.ArrayLike) -> tuple[Assignments, list[Assignments]]:
    y = as_ids(truth, len(np.asarray(truth)), "true labels")
    if not len(y):
        raise InputError("no rows to compare on", "true labels")
    runs = []
    for name, given in zip(("first system", "second system"), systems, strict=True):
        ids = np.atleast_2d(np.asarray(given))
        runs.append(np.stack([as_ids(one, len(y), name) for one in ids]))
    return y, runs


def _differences(
    statistics: Mapping[str, Callable[[Any], npt.NDArray[np.float64]]],
    y: Assignments,
    runs: Sequence[Assignments],
    shapes: Sequence[tuple[int, int]],
    groups: Sequence[str] | None,
    resamples: int,
    seed: int,
) -> list[Difference]:
    """Differences of the mean over each system's seeds, in the point and in every resample."""
    if groups is not None and len(set(groups)) < 2:
        groups = None
    unit, units = ("sentence", len(y)) if groups is None else ("article", len(set(groups)))
    stacks = None
    if units > 1:
        every = [(one, shape) for run, shape in zip(runs, shapes, strict=True) for one in run]
        stacks = paired_tables(y, every, groups=groups, resamples=resamples, seed=seed)
    found = []
    for metric, statistic in statistics.items():
        ends = [
            float(np.mean([statistic(table(y, one, shape)) for one in run]))
            for run, shape in zip(runs, shapes, strict=True)
        ]
        moved = None
        if stacks is not None:
            values = np.stack([statistic(stack) for stack in stacks])
            moved = values[len(runs[0]) :].mean(axis=0) - values[: len(runs[0])].mean(axis=0)
        found.append(_difference(metric, ends[0], ends[1], moved, len(y), unit, units))
    return found


def _difference(
    metric: str,
    first: float,
    second: float,
    moved: npt.NDArray[np.float64] | None,
    n: int,
    unit: str,
    units: int,
) -> Difference:
    """The Difference of two values and of what became of their difference in each resample."""
    if moved is None:
        return Difference(metric, first, second, None, None, None, None, n, unit, units)
    low, high = (float(end) for end in np.percentile(moved, [2.5, 97.5]))
    side = min(int((moved <= 0).sum()), int((moved >= 0).sum()))
    p = min(1.0, 2 * (side + 1) / (len(moved) + 1))
    return Difference(metric, first, second, low, high, p, float(moved.std()), n, unit, units)
