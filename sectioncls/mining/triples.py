"""Triples of row numbers, and the account of a miner: what it made, what it filled in, whom it left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.pairset import PairSet, pair_keys

__all__ = ["MiningReport", "Triples", "collisions", "join_triples", "linked", "pair_collisions"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Query and positive, (n,), and their negatives, (n, k), as row numbers; -1 in ``negatives`` means absent.

    The rows are of papers, unless the miner's docstring names another table for queries or positives.
    """

    query: Rows
    positive: Rows
    negatives: Rows

    def __post_init__(self) -> None:
        n = len(self.query)
        if self.query.shape != (n,) or self.positive.shape != (n,) or self.negatives.ndim != 2:
            raise InputError("triples are two columns and a matrix of negatives", "triples")
        if len(self.negatives) != n:
            raise InputError(f"{n} queries but {len(self.negatives)} rows of negatives", "triples")

    def __len__(self) -> int:
        return len(self.query)

    def take(self, rows: npt.ArrayLike) -> Triples:
        """Give the triples at ``rows`` (numbers or a mask), in that order."""
        picked = np.asarray(rows)
        return Triples(self.query[picked], self.positive[picked], self.negatives[picked])


@dataclass(frozen=True, slots=True)
class MiningReport:
    """What a miner made and what it could not.

    ``queries`` have at least one triple; ``skipped`` counts those without, by reason; ``fallbacks`` counts entries that
    were filled another way than asked, by kind; ``collisions`` are pairs of papers that are a positive in one triple
    and a negative in another, ``linked`` the negatives that cite or are cited by their query; ``figures`` holds a
    miner's own numbers, such as SciNCL's sampling margin.
    """

    miner: str
    triples: int
    queries: int
    collisions: int = 0
    linked: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)


def join_triples(first: Triples, *others: Triples) -> Triples:
    """Give all triples end to end, with as many columns of negatives as the widest has (-1 fills the rest)."""
    parts = (first, *others)
    negatives = np.full((sum(map(len, parts)), max(part.negatives.shape[1] for part in parts)), -1, dtype=np.int64)
    start = 0
    for part in parts:
        negatives[start : start + len(part), : part.negatives.shape[1]] = part.negatives
        start += len(part)
    query, positive = (
        np.concatenate([getattr(part, name) for part in parts]).astype(np.int64) for name in ("query", "positive")
    )
    return Triples(query, positive, negatives)


def collisions(triples: Triples, nodes: int) -> int:
    """Count the pairs of papers that are query and positive somewhere and query and negative elsewhere.

    The direction of a pair does not count: a model that is told to draw a to b and to push b from a is torn, whichever
    of them was the query. ``nodes`` is the number of papers. Paper: arXiv 2202.06671, section 3.
    """
    return pair_collisions(triples.query, triples.positive[:, None], triples.negatives, nodes)


def pair_collisions(query: Rows, positives: Rows, negatives: Rows, nodes: int) -> int:
    """Count the collisions of queries, (n,), with ``positives``, (n, p), and ``negatives``, (n, k), of their own."""
    drawn, pushed = (_pairs(query, papers, nodes) for papers in (positives, negatives))
    return len(np.intersect1d(drawn, pushed, assume_unique=True))


def linked(triples: Triples, edges: PairSet) -> int:
    """Count the negatives that cite their query or are cited by it; ``edges`` are the citations (src, dst)."""
    query = triples.query[:, None]
    return int((edges.has(query, triples.negatives) | edges.has(triples.negatives, query)).sum())


def _pairs(query: Rows, papers: Rows, nodes: int) -> Rows:
    a, b = np.repeat(query, papers.shape[1]), papers.ravel()
    there = b >= 0
    return pair_keys(np.minimum(a, b)[there], np.maximum(a, b)[there], nodes)
