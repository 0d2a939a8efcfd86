"""Contingency tables of two assignments, and the scores that are read from them.

Every score takes one table or a stack of tables (... x rows x columns), so that thousands of resampled tables
are scored at once; see significance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "adjusted_mutual_information",
    "adjusted_rand",
    "completeness",
    "f1_by_label",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "homogeneity",
    "matthews",
    "purity",
    "table",
    "v_measure",
]

Table = npt.NDArray[np.floating[Any]]
Values = npt.NDArray[np.float64]


def table(rows: npt.ArrayLike, columns: npt.ArrayLike, shape: tuple[int, int]) -> Values:
    """How often each pair (row id, column id) occurs: the confusion matrix of truth and prediction."""
    cells = np.asarray(rows, dtype=np.int64) * shape[1] + np.asarray(columns, dtype=np.int64)
    counts: Values = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.float64)
    return counts.reshape(shape)


def f1_by_label(tables: Table) -> Values:
    """F1 of each label (... x labels) from square tables of truth x prediction.

    NaN for a label that occurs in neither.
    """
    hits = np.diagonal(tables, axis1=-2, axis2=-1)
    whole = tables.sum(-1) + tables.sum(-2)
    values: Values = np.divide(2 * hits, whole, out=np.full(hits.shape, np.nan), where=whole > 0)
    return values


def f1_micro(tables: Table) -> Values:
    """F1 over all rows together; with one label a row it equals accuracy."""
    hits = np.trace(tables, axis1=-2, axis2=-1)
    return np.asarray(hits / tables.sum((-2, -1)), dtype=np.float64)


def f1_macro(tables: Table) -> Values:
    """Mean F1 of the labels that occur in truth or prediction, each counting the same."""
    return np.asarray(np.nanmean(f1_by_label(tables), axis=-1), dtype=np.float64)


def f1_weighted(tables: Table) -> Values:
    """Mean F1 of the labels, each weighing as much as rows truly bear it."""
    shares = tables.sum(-1) / tables.sum((-2, -1))[..., None]
    return np.asarray((np.nan_to_num(f1_by_label(tables)) * shares).sum(-1), dtype=np.float64)


def matthews(tables: Table) -> Values:
    """Correlation of truth and prediction over all labels, -1 to 1; 0 where either is one label only.

    Paper: Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient".
    """
    n = tables.sum((-2, -1))
    hits = np.trace(tables, axis1=-2, axis2=-1)
    truth, predicted = tables.sum(-1), tables.sum(-2)
    above = hits * n - (truth * predicted).sum(-1)
    below = np.sqrt((n**2 - (truth**2).sum(-1)) * (n**2 - (predicted**2).sum(-1)))
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(n)), where=below > 0), dtype=np.float64)


def purity(tables: Table) -> Values:
    """Share of rows whose label is the commonest of their column (cluster); grows with the number of clusters."""
    return np.asarray(tables.max(-2).sum(-1) / tables.sum((-2, -1)), dtype=np.float64)


def homogeneity(tables: Table) -> Values:
    """1 where each column (cluster) holds rows of one label; Rosenberg and Hirschberg 2007."""
    return _explained(tables.sum(-1), tables.sum(-2), tables)


def completeness(tables: Table) -> Values:
    """1 where the rows of each label lie in one column (cluster)."""
    return _explained(tables.sum(-2), tables.sum(-1), tables)


def v_measure(tables: Table) -> Values:
    """Harmonic mean of homogeneity and completeness, which is the normalised mutual information as well.

    Normalised, that is, by the arithmetic mean of the entropies, as in ``sklearn.metrics``.
    """
    one, other = homogeneity(tables), completeness(tables)
    whole = one + other
    return np.asarray(np.divide(2 * one * other, whole, out=np.zeros(np.shape(whole)), where=whole > 0))


def _explained(wanted: Table, given: Table, tables: Table) -> Values:
    """Share of the entropy of ``wanted`` sums that the ``given`` sums explain; 1 where there is none."""
    flat = tables.reshape(*tables.shape[:-2], -1)
    entropy = _entropies(wanted)
    mutual = entropy + _entropies(given) - _entropies(flat)
    share = np.divide(mutual, entropy, out=np.ones(np.shape(entropy)), where=entropy > 0)
    return np.asarray(np.clip(share, 0, 1), dtype=np.float64)


def _entropies(counts: Table) -> Values:
    """Entropy of counts along the last axis, in nats; exactly 0 where they stand in one place."""
    shares = counts / counts.sum(-1, keepdims=True)
    logs = np.log(shares, out=np.zeros(np.shape(shares)), where=shares > 0)
    return np.asarray(-(shares * logs).sum(-1), dtype=np.float64)


def adjusted_rand(tables: Table) -> Values:
    """Adjusted Rand index of two assignments: 1 for equal ones, about 0 for unrelated ones.

    From pair counts, after Hubert and Arabie 1985.
    """
    n = tables.sum((-2, -1))
    cells = (tables**2).sum((-2, -1))
    rows, columns = (tables.sum(-1) ** 2).sum(-1), (tables.sum(-2) ** 2).sum(-1)
    together, row_only, column_only = cells - n, rows - cells, columns - cells
    apart = n**2 - rows - columns + cells
    below = (together + row_only) * (row_only + apart) + (together + column_only) * (column_only + apart)
    above = 2 * (together * apart - row_only * column_only)
    equal = (row_only == 0) & (column_only == 0)
    return np.where(equal, 1.0, above / np.where(below == 0, 1.0, below))


def adjusted_mutual_information(tables: Table) -> Values:
    """Adjusted mutual information, against the arithmetic mean of the entropies.

    1 for equal assignments, about 0 for unrelated ones. After Vinh, Epps and Bailey 2010; agrees with
    ``sklearn.metrics.adjusted_mutual_info_score``.
    """
    stack = tables.reshape(-1, *tables.shape[-2:])
    log_factorial = np.array([math.lgamma(k + 1) for k in range(int(stack.sum((1, 2)).max()) + 1)])
    values = np.array([_one_ami(one, log_factorial) for one in stack])
    return values.reshape(tables.shape[:-2])


def _one_ami(one: Table, log_factorial: Values) -> float:
    rows, columns = one.sum(1), one.sum(0)
    rows, columns, n = rows[rows > 0], columns[columns > 0], one.sum()
    if len(rows) == len(columns) == 1 or len(rows) == len(columns) == n:
        return 1.0
    share = one[one > 0] / n
    row_entropy, column_entropy = _entropy(rows / n), _entropy(columns / n)
    mutual = max(0.0, row_entropy + column_entropy - _entropy(share))
    expected = _expected_mutual(rows.astype(np.int64), columns.astype(np.int64), int(n), log_factorial)
    below = (row_entropy + column_entropy) / 2 - expected
    tiny = float(np.finfo(np.float64).eps)
    return (mutual - expected) / (min(below, -tiny) if below < 0 else max(below, tiny))


def _entropy(shares: Values) -> float:
    return float(-(shares * np.log(shares)).sum())


def _expected_mutual(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], n: int, log_factorial: Values
) -> float:
    """Mean mutual information of all tables with these sums: over cells, over the values a cell can take.

    A cell's value is hypergeometric; values more than 12 deviations off weigh less than a double can show.
    """
    a, b = (side.ravel() for side in np.meshgrid(rows, columns, indexing="ij"))
    mean = a * b / n
    reach = 12 + 12 * np.sqrt(mean * (n - a) / n * (n - b) / max(n - 1, 1))
    low = np.maximum(np.maximum(1, a + b - n), np.floor(mean - reach).astype(np.int64))
    high = np.minimum(np.minimum(a, b), np.ceil(mean + reach).astype(np.int64))
    count = np.maximum(high - low + 1, 0)
    cell = np.repeat(np.arange(len(a)), count)
    value = np.arange(len(cell)) - np.repeat(np.cumsum(count) - count, count) + low[cell]
    a, b = a[cell], b[cell]
    ways = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b]
    ways -= log_factorial[n] + log_factorial[value] + log_factorial[a - value] + log_factorial[b - value]
    ways -= log_factorial[n - a - b + value]
    return float((value / n * (np.log(n * value) - np.log(a * b)) * np.exp(ways)).sum())
