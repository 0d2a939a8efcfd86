"""One and two steps along sparse relations: what a paper cites, what those cite, who shares a field with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.mining.draws import LISTED, Accept, Source, draw_places, ranges
from sectioncls.mining.pairset import PairSet, pair_keys

__all__ = ["draw_neighbours", "grouped", "two_steps"]

Rows = npt.NDArray[np.int64]


def draw_neighbours(relation: Any, queries: Rows, count: int, random: np.random.Generator) -> Rows:
    """Draw ``count`` columns of each query's row of ``relation``, a CSR array, without repetition: (n, count).

    The rest of a row is -1 where it has fewer.
    """
    starts = relation.indptr.astype(np.int64)
    places = draw_places(np.diff(starts)[queries], count, random)
    edges = starts[queries][:, None] + places
    return np.where(places >= 0, relation.indices[np.where(places >= 0, edges, 0)], -1).astype(np.int64)


def grouped(keys: Rows, values: Rows, shape: tuple[int, int]) -> Any:
    """Give the CSR array of ``shape`` whose row k holds the ``values`` of key k, in their order, repeats kept."""
    from scipy.sparse import csr_array

    order = np.argsort(keys, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=shape[0]))))
    return csr_array((np.ones(len(keys), dtype=np.int8), values[order], starts), shape=shape)


def two_steps(
    first: Any, second: Any, queries: Rows, accept: Accept, random: np.random.Generator, *, inside: PairSet | None
) -> Source:
    """Give the source of what the rows ``queries`` reach in one step of ``first`` and one of ``second``, CSR arrays.

    ``inside`` holds the pairs of ``second``: then what is reached on several paths is no likelier than what is reached
    on one, for only the first of its paths counts. Without it every path is equally likely.
    """
    starts, middle = first.indptr.astype(np.int64), first.indices.astype(np.int64)
    onward, ends = second.indptr.astype(np.int64), second.indices.astype(np.int64)
    sizes = np.diff(onward)
    # Paths are numbered: those over edge e are before[e] … before[e + 1] - 1, so those of a query are a range.
    before = np.concatenate(([0], np.cumsum(sizes[middle])))
    begin = starts[queries]
    first_path = before[begin]
    paths = before[starts[queries + 1]] - first_path

    def propose(positions: Rows) -> Rows:
        found = np.full(len(positions), -1, dtype=np.int64)
        some = np.flatnonzero(paths[positions])
        asked = positions[some]
        path = first_path[asked] + (random.random(len(asked)) * paths[asked]).astype(np.int64)
        edge = np.searchsorted(before, path, side="right") - 1
        end = ends[onward[middle[edge]] + path - before[edge]]
        if inside is not None:
            owner, earlier = ranges(begin[asked], edge - begin[asked])
            end[owner[inside.has(middle[earlier], end[owner])]] = -1
        found[some] = end
        return found

    def listed(positions: Rows) -> tuple[Rows, Rows]:
        rows = queries[positions]
        owner, edge = ranges(starts[rows], np.diff(starts)[rows])
        step, place = ranges(onward[middle[edge]], sizes[middle[edge]])
        if inside is None:
            return owner[step], ends[place]
        keys = pair_keys(owner[step], ends[place], second.shape[1])
        return keys // second.shape[1], keys % second.shape[1]

    mean = int(paths.sum()) // max(1, len(queries))
    return Source(propose, listed, accept, block=max(1, LISTED // max(1, mean)))
