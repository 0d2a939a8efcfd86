"""95 % intervals by resampling articles, since the sentences of one article are not independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.confusion import table
from sectioncls.errors import InputError

__all__ = ["RESAMPLES", "interval", "resampled_tables"]

RESAMPLES = 1000

# Entries of the weight matrix (resamples x articles) that are held at once.
BLOCK = 4_000_000

Stack = npt.NDArray[np.float64]


def resampled_tables(
    rows: npt.ArrayLike,
    columns: npt.ArrayLike,
    shape: tuple[int, int],
    *,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Stack:
    """Contingency tables (resamples x rows x columns) of as many articles, drawn with replacement.

    ``groups`` names the article of each sentence; without it single sentences are drawn. Only counts per
    article are kept, so the cost grows with articles, not with sentences. The order of rows has no effect.
    """
    rng = np.random.default_rng(seed)
    cells = shape[0] * shape[1]
    if groups is None:
        counts = table(rows, columns, shape).ravel()
        drawn = rng.multinomial(int(counts.sum()), counts / counts.sum(), size=resamples)
        return drawn.reshape(resamples, *shape).astype(np.float64)
    cell = np.asarray(rows) * shape[1] + np.asarray(columns)
    if len(groups) != len(cell):
        raise InputError(f"{len(cell)} sentences but {len(groups)} article ids", "article ids")
    names, article = np.unique(np.asarray(groups), return_inverse=True)
    counts = table(article, cell, (len(names), cells))
    even = np.full(len(names), 1 / len(names))
    block = max(1, BLOCK // len(names))
    parts = [
        rng.multinomial(len(names), even, size=min(block, resamples - start)) @ counts
        for start in range(0, resamples, block)
    ]
    return np.concatenate(parts).reshape(resamples, *shape)


def interval(tables: Stack, statistic: Callable[[Any], npt.NDArray[np.float64]]) -> Stack:
    """Low and high end (2 x ...) of the middle 95 % of ``statistic`` over the first axis of ``tables``.

    Resamples in which the statistic is undefined (NaN) are left aside.
    """
    return np.asarray(np.nanpercentile(statistic(tables), [2.5, 97.5], axis=0), dtype=np.float64)
