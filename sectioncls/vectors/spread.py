"""How widely embeddings spread: the names of a collapse.

A contrastive loss whose margin can't be reached pulls whole labels onto single points. Clusters then look
perfect (silhouette near 1) although little was learnt; these three numbers tell such a space from a good one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError

__all__ = ["LabelSpread", "effective_rank", "label_spread", "mean_distance", "residual_variance"]

Matrix = npt.NDArray[np.float64]

# Embeddings arrive in float32: variation below its rounding is no variation.
ROUNDING = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, slots=True)
class LabelSpread:
    """Root mean square distances between two rows of the same label and of different labels."""

    within: float
    between: float

    @property
    def ratio(self) -> float:
        """Within over between: near 1 where labels mix, near 0 where each label has its own place."""
        return self.within / self.between if self.between else 1.0


def effective_rank(x: npt.ArrayLike) -> float:
    """Effective number of directions that the rows of ``x`` (rows x dimensions) use.

    The exponential of the entropy of the singular values of the centred rows, which are normalised to sum
    to 1: 1 for points on a line, the number of dimensions for an even cloud, 0 when all rows are one point.
    Paper: Roy and Vetterli 2007, "The effective rank". Raises InputError for an empty or non-finite matrix.
    """
    rows = _matrix(x)
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    values = values[values > ROUNDING * float(np.linalg.norm(rows))]
    if not len(values):
        return 0.0
    shares = values / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def residual_variance(x: npt.ArrayLike, directions: int) -> float:
    """Share of the variance of ``x`` (rows x dimensions) outside its ``directions`` main ones, 0 to 1.

    ``k`` points span k - 1 directions, so rows that have fallen onto k points leave nothing outside. Rows that are all
    one point have no variance, and give 0. Raises InputError for an empty or non-finite matrix.
    """
    rows = _matrix(x)
    centred = rows - rows.mean(axis=0)
    variances = np.linalg.svd(centred, compute_uv=False) ** 2
    total = float(variances.sum())
    if total <= (ROUNDING * float(np.linalg.norm(rows))) ** 2:
        return 0.0
    return float(variances[directions:].sum() / total)


def mean_distance(x: npt.ArrayLike, *, seed: int = 0, pairs: int = 100_000) -> float:
    """Mean Euclidean distance between two different rows of ``x``.

    Exact where there are at most ``pairs`` pairs of rows, else the mean over ``pairs`` pairs drawn with
    ``seed``. Raises InputError for fewer than two rows or a non-finite matrix.
    """
    rows = _matrix(x)
    n = len(rows)
    if n < 2:
        raise InputError("a mean distance needs two rows or more", "embeddings")
    if n * (n - 1) // 2 <= pairs:
        first, second = np.triu_indices(n, k=1)
    else:
        rng = np.random.default_rng(seed)
        first = rng.integers(0, n, pairs)
        second = (first + rng.integers(1, n, pairs)) % n
    block = max(1, 4_000_000 // rows.shape[1])
    total = 0.0
    for start in range(0, len(first), block):
        gap = rows[first[start : start + block]] - rows[second[start : start + block]]
        total += float(np.sqrt((gap * gap).sum(axis=1)).sum())
    return total / len(first)


def label_spread(x: npt.ArrayLike, y: npt.ArrayLike) -> LabelSpread:
    """Root mean square distance within labels and between labels, over all pairs of rows, exactly.

    ``y`` holds the class id of each row. Computed from sums alone, in one pass over ``x``. Raises InputError
    unless there are two labels and one of them has two rows.
    """
    rows = _matrix(x)
    labels = np.asarray(y)
    if labels.shape != (len(rows),):
        raise InputError(f"{len(rows)} rows but labels of shape {labels.shape}", "embeddings")
    names, position, counts = np.unique(labels, return_inverse=True, return_counts=True)
    same_pairs = int((counts * (counts - 1) // 2).sum())
    if len(names) < 2 or not same_pairs:
        raise InputError("a spread by label needs two labels, one of them with two rows", "embeddings")
    # Around the common mean: sums of squares of far-away points would cancel badly.
    centred = rows - rows.mean(axis=0)
    squares = np.bincount(position, (centred * centred).sum(axis=1))
    sums = np.zeros((len(names), rows.shape[1]))
    np.add.at(sums, position, centred)
    same = float((counts * squares - (sums * sums).sum(axis=1)).sum())
    every = float(len(rows) * squares.sum() - (sums.sum(axis=0) ** 2).sum())
    other_pairs = len(rows) * (len(rows) - 1) // 2 - same_pairs
    return LabelSpread(
        within=float(np.sqrt(max(same, 0.0) / same_pairs)),
        between=float(np.sqrt(max(every - same, 0.0) / other_pairs)),
    )


def _matrix(x: npt.ArrayLike) -> Matrix:
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or not rows.size:
        raise InputError(f"expected a matrix of rows x dimensions, got shape {rows.shape}", "embeddings")
    if not np.isfinite(rows).all():
        raise InputError("the embeddings hold NaN or infinite values", "embeddings")
    return rows
