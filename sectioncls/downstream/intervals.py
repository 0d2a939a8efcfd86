"""95 % intervals of means and of rank correlations, by drawing queries or papers anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.significance import RESAMPLES

__all__ = ["draws", "kendall_tau", "mean_interval", "tau_interval"]

# Entries of the weight matrix (resamples x rows) that are held at once.
BLOCK = 4_000_000

# Up to here tau of all resamples is one product with the matrix of agreeing pairs, beyond they are counted one by one.
PAIRS = 4096

Floats = npt.NDArray[np.float64]


def draws(rows: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks (b, rows) of how often each row is drawn, with replacement, in ``resamples`` samples of ``rows``."""
    rng = np.random.default_rng(seed)
    even = np.full(rows, 1 / rows)
    block = max(1, BLOCK // rows)
    for start in range(0, resamples, block):
        yield rng.multinomial(rows, even, size=min(block, resamples - start)).astype(np.float64)


def mean_interval(
    values: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Low and high end of the middle 95 % of the (weighted) mean of ``values`` (n,), NaN left aside.

    None for fewer than two values. The order of values has no effect but through the draws of ``seed``.
    """
    given = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(given)
    if known.sum() < 2:
        return None
    weighed = np.ones(len(given)) if weights is None else np.asarray(weights, dtype=np.float64)
    w, wv = weighed[known], weighed[known] * given[known]
    means = np.concatenate([counts @ wv / (counts @ w) for counts in draws(len(w), resamples, seed)])
    return _middle(means)


def kendall_tau(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Kendall's tau-b of two orders (scipy's); NaN where one of them has one value only."""
    from scipy.stats import kendalltau

    return float(kendalltau(truth, predicted)[0])


def tau_interval(
    truth: npt.ArrayLike, predicted: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float] | None:
    """Low and high end of the middle 95 % of Kendall's tau-b over papers drawn anew; None for fewer than two."""
    x, y = np.asarray(truth, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if len(x) < 2:
        return None
    if len(x) > PAIRS:
        rows = (np.repeat(np.arange(len(x)), one.astype(np.int64)) for b in draws(len(x), resamples, seed) for one in b)
        return _middle(np.array([kendall_tau(x[drawn], y[drawn]) for drawn in rows]))
    a, b = _signs(x), _signs(y)
    both, left, right = a * b, np.abs(a), np.abs(b)
    with np.errstate(invalid="ignore"):  # a resample with one value only has no tau
        taus = [
            _form(counts, both) / np.sqrt(_form(counts, left) * _form(counts, right))
            for counts in draws(len(x), resamples, seed)
        ]
    return _middle(np.concatenate(taus))


def _signs(values: Floats) -> npt.NDArray[np.float32]:
    """Sign (n, n) of the difference of each pair; a paper that is drawn twice is tied with itself."""
    return np.sign(values[:, None] - values[None, :]).astype(np.float32)


def _form(counts: Floats, matrix: npt.NDArray[np.float32]) -> Floats:
    """The quadratic form of each row of ``counts``: the sum over ordered pairs of drawn papers."""
    weights: Any = counts.astype(np.float32)
    # Products of whole numbers below 2^24 are exact in float32, their sum is taken in float64.
    return np.asarray(((weights @ matrix).astype(np.float64) * counts).sum(axis=1))


def _middle(values: Floats) -> tuple[float, float] | None:
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)
