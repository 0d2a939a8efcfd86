"""Seeded draws for many queries at once, without repetition and uniform over what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Accept", "Source", "draw_one_each", "draw_places", "fill_in", "pool_source", "ranges"]

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
# accept(queries, candidates): which candidates may stay.
Accept = Callable[[Rows, Rows], Mask]

# Rounds of drawing again before the candidates of the queries that are left are listed.
ROUNDS = 6
# Queries that draw together, and candidates that are listed at a time, about.
TOGETHER, LISTED = 262_144, 2_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """Where the candidates of queries come from; queries are numbers 0 … n - 1.

    ``propose(queries)`` draws one candidate for each, all equally likely, or -1: none this time. ``listed(queries)``
    gives all of them, each once, as two columns: place in ``queries``, ascending, and candidate. ``block`` queries are
    listed at a time.
    """

    propose: Callable[[Rows], Rows]
    listed: Callable[[Rows], tuple[Rows, Rows]]
    accept: Accept
    block: int


def ranges(starts: npt.ArrayLike, sizes: npt.ArrayLike) -> tuple[Rows, Rows]:
    """Give the places start … start + size - 1 of all ranges end to end, as two columns: number of the range, place."""
    start, size = np.asarray(starts, dtype=np.int64), np.asarray(sizes, dtype=np.int64)
    owner = np.repeat(np.arange(len(size), dtype=np.int64), size)
    return owner, np.arange(len(owner), dtype=np.int64) + (start - (np.cumsum(size) - size))[owner]


def draw_places(sizes: npt.ArrayLike, count: int, random: np.random.Generator) -> Rows:
    """Draw ``count`` of the places 0 … size - 1 without repetition for each size: (n, count), in random order.

    Every ordered choice is equally likely. Where there are fewer than ``count`` places the rest of the row is -1.
    """
    size = np.asarray(sizes, dtype=np.int64)
    places = np.full((len(size), count), -1, dtype=np.int64)
    taken: list[Rows] = []  # ascending, so that a place drawn among the free ones steps over the taken ones in turn
    for column in range(count):
        place = (random.random(len(size)) * np.maximum(size - column, 0)).astype(np.int64)
        for before in taken:
            place += place >= before
        places[:, column] = np.where(size > column, place, -1)
        for i, before in enumerate(taken):
            taken[i], place = np.minimum(before, place), np.maximum(before, place)
        taken.append(place)
    return places


def draw_one_each(owner: Rows, n: int, random: np.random.Generator) -> Rows:
    """Draw the place of one entry of each owner 0 … n - 1, uniformly, -1 for those without; ``owner`` ascends."""
    sizes = np.bincount(owner, minlength=n)
    place = draw_places(sizes, 1, random)[:, 0]
    return np.where(place >= 0, np.cumsum(sizes) - sizes + place, -1)


def pool_source(pool: Rows, accept: Accept, random: np.random.Generator) -> Source:
    """Give the source of any row of ``pool``, the same for all queries."""

    def propose(queries: Rows) -> Rows:
        if not len(pool):
            return np.full(len(queries), -1, dtype=np.int64)
        return pool[(random.random(len(queries)) * len(pool)).astype(np.int64)]

    def listed(queries: Rows) -> tuple[Rows, Rows]:
        return np.repeat(np.arange(len(queries), dtype=np.int64), len(pool)), np.tile(pool, len(queries))

    return Source(propose, listed, accept, block=max(1, LISTED // max(1, len(pool))))


def fill_in(drawn: Rows, columns: Sequence[int], source: Source, random: np.random.Generator) -> int:
    """Fill the -1 in ``columns`` of ``drawn``, (n, k), row i for query i; give the number that could not be filled.

    What is drawn differs from all else in its row, and each draw is uniform over what is accepted and not in the row
    yet: unlucky queries are drawn again, and after some rounds from the list of their candidates.
    """
    missing = 0

    def free(queries: Rows, candidates: Rows) -> Mask:
        good = source.accept(queries, candidates)
        for entries in drawn.T:
            good &= candidates != entries[queries]
        return good

    for column, first in ((column, first) for column in columns for first in range(0, len(drawn), TOGETHER)):
        waiting = first + np.flatnonzero(drawn[first : first + TOGETHER, column] < 0)
        for _ in range(ROUNDS):
            if not len(waiting):
                break
            found = source.propose(waiting)
            good = (found >= 0) & free(waiting, found)
            drawn[waiting[good], column] = found[good]
            waiting = waiting[~good]
        for start in range(0, len(waiting), source.block):
            part = waiting[start : start + source.block]
            owner, candidates = source.listed(part)
            good = free(part[owner], candidates)
            place = draw_one_each(owner[good], len(part), random)
            drawn[part[place >= 0], column] = candidates[good][place[place >= 0]]
            missing += int((place < 0).sum())
    return missing
