"""95 % intervals by resampling articles, since the sentences of one article are not independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.confusion import table
from sectioncls.errors import InputError

__all__ = ["RESAMPLES", "interval", "paired_tables", "resampled_tables"]

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
    if groups is None:
        counts = table(rows, columns, shape).ravel()
        drawn = rng.multinomial(int(counts.sum()), counts / counts.sum(), size=resamples)
        return drawn.reshape(resamples, *shape).astype(np.float64)
    return _article_tables(rows, [(columns, shape)], groups, resamples, rng)[0]


def _article_tables(
    rows: npt.ArrayLike,
    columns: Sequence[tuple[npt.ArrayLike, tuple[int, int]]],
    groups: Sequence[str],
    resamples: int,
    rng: np.random.Generator,
) -> list[Stack]:
    """One stack of tables for each of ``columns``, all of the same draws of articles."""
    place = np.asarray(rows, dtype=np.int64)
    if len(groups) != len(place):
        raise InputError(f"{len(place)} sentences but {len(groups)} article ids", "article ids")
    names, article = np.unique(np.asarray(groups), return_inverse=True)
    sizes = [shape[0] * shape[1] for _, shape in columns]
    counts = np.hstack(
        [
            table(article, place * shape[1] + np.asarray(ids, dtype=np.int64), (len(names), size))
            for (ids, shape), size in zip(columns, sizes, strict=True)
        ]
    )
    even = np.full(len(names), 1 / len(names))
    block = max(1, BLOCK // len(names))
    parts = [
        rng.multinomial(len(names), even, size=min(block, resamples - start)) @ counts
        for start in range(0, resamples, block)
    ]
    whole = np.split(np.concatenate(parts), np.cumsum(sizes)[:-1], axis=1)
    return [stack.reshape(resamples, *shape) for stack, (_, shape) in zip(whole, columns, strict=True)]


def paired_tables(
    rows: npt.ArrayLike,
    columns: Sequence[tuple[npt.ArrayLike, tuple[int, int]]],
    *,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Stack]:
    """Stacks as of resampled_tables, one for each of ``columns`` (ids, shape of the table), of the same draws.

    So the k-th table of every stack is of the same articles, or without ``groups`` of the same rows.
    """
    rng = np.random.default_rng(seed)
    if groups is not None:
        return _article_tables(rows, columns, groups, resamples, rng)
    # Rows that fall into the same cell of every table are one kind; how many of a kind are drawn is all that counts.
    together = np.stack([np.asarray(rows), *(np.asarray(ids) for ids, _ in columns)])
    kinds, counts = np.unique(together, axis=1, return_counts=True)
    block = max(1, BLOCK // len(counts))
    stacks = [np.empty((resamples, *shape)) for _, shape in columns]
    for start in range(0, resamples, block):
        drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=min(block, resamples - start))
        for place, (stack, (_, shape)) in enumerate(zip(stacks, columns, strict=True)):
            cells = np.zeros((len(counts), shape[0] * shape[1]))
            cells[np.arange(len(counts)), kinds[0] * shape[1] + kinds[place + 1]] = 1
            stack[start : start + len(drawn)] = (drawn @ cells).reshape(-1, *shape)
    return stacks


def interval(tables: Stack, statistic: Callable[[Any], npt.NDArray[np.float64]]) -> Stack:
    """Low and high end (2 x ...) of the middle 95 % of ``statistic`` over the first axis of ``tables``.

    Resamples in which the statistic is undefined (NaN) are left aside.
    """
    return np.asarray(np.nanpercentile(statistic(tables), [2.5, 97.5], axis=0), dtype=np.float64)
