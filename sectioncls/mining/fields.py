"""Negatives by field of study: papers of the same fields, of some of them, of none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sectioncls.mining.draws import Accept, Source, pool_source, ranges
from sectioncls.mining.hops import grouped, two_steps
from sectioncls.mining.pairset import PairSet, pair_set

__all__ = ["FieldKind", "Fields", "field_source", "fields_of"]

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
FieldKind = Literal["same-field", "overlapping-field", "other-field"]


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """Fields of papers: ``bears`` (papers, fields) and ``borne`` (fields, pool papers) as CSR arrays, their pairs as
    sets; ``whole`` is the number of a paper's set of fields, (papers,), -1 for none; ``pool`` are the candidates."""

    bears: Any
    borne: Any
    bears_pairs: PairSet
    borne_pairs: PairSet
    whole: Rows
    pool: Rows


def fields_of(fields: Sequence[Sequence[str]], pool: Rows) -> Fields:
    """Make the relations of ``fields``, the names of each paper's fields of study, for candidates in ``pool``."""
    names = {name: i for i, name in enumerate(sorted({name for some in fields for name in some}))}
    sets = [frozenset(some) for some in fields]
    numbering: dict[frozenset[str], int] = {}
    whole = np.array([numbering.setdefault(some, len(numbering)) if some else -1 for some in sets], dtype=np.int64)
    papers = np.repeat(np.arange(len(sets)), [len(some) for some in sets])
    numbers = np.array([number for some in sets for number in sorted(names[name] for name in some)], dtype=np.int64)
    inside = np.isin(papers, pool)
    shape = (len(sets), max(1, len(names)))
    return Fields(
        grouped(papers, numbers, shape),
        grouped(numbers[inside], papers[inside], shape[::-1]),
        pair_set(papers, numbers, shape[1]),
        pair_set(numbers[inside], papers[inside], shape[0]),
        whole,
        pool,
    )


def field_source(fields: Fields, kind: FieldKind, queries: Rows, accept: Accept, random: np.random.Generator) -> Source:
    """Give the source of the papers whose fields are the query's, share some but not all with it, or share none.

    A paper without fields is no candidate, and a query without fields has none.
    """
    whole = fields.whole

    def shares(rows: Rows, candidates: Rows) -> Mask:
        starts = fields.bears.indptr.astype(np.int64)
        owner, place = ranges(starts[rows], starts[rows + 1] - starts[rows])
        hit = fields.bears_pairs.has(candidates[owner], fields.bears.indices[place])
        return np.asarray(np.bincount(owner[hit], minlength=len(rows)) > 0)

    def same(positions: Rows, candidates: Rows) -> Mask:
        good = accept(positions, candidates)
        good &= whole[queries[positions]] == whole[candidates]
        return good

    def overlapping(positions: Rows, candidates: Rows) -> Mask:
        good = accept(positions, candidates)
        good &= whole[queries[positions]] != whole[candidates]
        return good

    def other(positions: Rows, candidates: Rows) -> Mask:
        rows = queries[positions]
        good = accept(positions, candidates)
        good &= (whole[rows] >= 0) & (whole[candidates] >= 0) & ~shares(rows, candidates)
        return good

    if kind == "other-field":
        return pool_source(fields.pool, other, random)
    if kind == "overlapping-field":
        return two_steps(fields.bears, fields.borne, queries, overlapping, random, inside=fields.borne_pairs)
    return _same_source(fields, queries, same, random)


def _same_source(fields: Fields, queries: Rows, accept: Accept, random: np.random.Generator) -> Source:
    """Give the source of pool papers with the query's set of fields: they lie side by side when sorted by set."""
    bearing = fields.pool[fields.whole[fields.pool] >= 0]
    order = bearing[np.argsort(fields.whole[bearing], kind="stable")]
    sizes = np.bincount(fields.whole[bearing], minlength=int(fields.whole.max(initial=-1)) + 1)
    starts = np.cumsum(sizes) - sizes
    number = fields.whole[queries]
    start = np.where(number >= 0, starts[number] if len(starts) else 0, 0)
    size = np.where(number >= 0, sizes[number] if len(sizes) else 0, 0)

    def propose(positions: Rows) -> Rows:
        place = start[positions] + (random.random(len(positions)) * size[positions]).astype(np.int64)
        found = np.full(len(positions), -1, dtype=np.int64)
        some = size[positions] > 0
        found[some] = order[place[some]]
        return found

    def listed(positions: Rows) -> tuple[Rows, Rows]:
        owner, place = ranges(start[positions], size[positions])
        return owner, order[place]

    return Source(propose, listed, accept, block=1024)
