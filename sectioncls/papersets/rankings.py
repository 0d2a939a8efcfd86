"""Ranking tasks made of a citation graph, for sets that bring none: the way of SciDocs, deterministic by hashes.

Paper: SPECTER, arXiv 2004.07180, section 4 (five positives and 25 negatives a query). Where it draws negatives at
random, ours also are never tied to the query by a citation, a co-citation or a shared reference; ``cite_hard`` has
hard ones instead, which a cited paper cites.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sectioncls.papersets.links import cocited, coupled, matrix_of
from sectioncls.papersets.splits import SPLITS

__all__ = ["POSITIVES_WANTED", "Ranking", "rankings_of"]

POSITIVES_WANTED = (5, 3, 1)
"""A query has this many positives at least: the first number that gives _ENOUGH queries, else the last."""
_ENOUGH = 50
_MOST_QUERIES = 400  # a split
_POSITIVES = 5
_NEGATIVES = 25
_HARD = 12
_BUSIEST = 10_000
_DRAWS = 40  # rounds of drawing before a query does with fewer negatives

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query with its candidates, all row numbers; ``least`` is the number of positives that was asked for."""

    task: str
    split: str
    query: int
    positives: tuple[int, ...]
    negatives: tuple[int, ...]
    least: int


def rankings_of(
    edges: Rows,
    references: Rows,
    ids: Sequence[str],
    splits: NDArray[Any],
    with_abstract: NDArray[np.bool_],
    *,
    seed: int = 0,
) -> Iterator[Ranking]:
    """Give the rankings of the tasks cite, cite_hard, cocite and couple for the papers of dev and test.

    ``edges`` (n, 2) are the citations, ``references`` (m, 2) the references to other works as (paper, number of the
    work); ``splits`` (papers,) are places in SPLITS. Positives are cited papers, those that two papers cite together,
    and those that share four references. Queries and positives are taken by a hash, negatives drawn by one, among
    papers that have an abstract. A query without negatives is left out, and so is a task without queries.
    """
    graph = _Graph(edges, references, len(ids))
    pool = np.flatnonzero(with_abstract).astype(np.int64)
    tasks: dict[str, Callable[[], Any]] = {
        "cite": lambda: graph.cites,
        "cite_hard": lambda: graph.cites,
        "cocite": lambda: _symmetric(cocited(edges, 2, busiest=_BUSIEST)[0], len(ids)),
        "couple": lambda: _symmetric(coupled(graph.works, 4, busiest=_BUSIEST)[0], len(ids)),
    }
    for task, make in tasks.items():
        positives = make()
        chosen, least = _queries(np.diff(positives.indptr), ids, splits, f"{task}:{seed}")
        for query in chosen:
            found = positives.indices[positives.indptr[query] : positives.indptr[query + 1]]
            salt = f"{task}:{seed}:{ids[query]}"
            taken = _by_hash(found.tolist(), ids, salt)[:_POSITIVES]
            hard: list[int] = []
            if task == "cite_hard":
                hard = _by_hash([row for row in graph.second(query) if with_abstract[row]], ids, salt)[:_HARD]
            banned = graph.direct(query) if task == "cite_hard" else graph.tied(query)
            banned = np.concatenate([banned, found, np.array([query, *hard], dtype=np.int64)])
            drawn = _drawn(pool, banned, _NEGATIVES - len(hard), salt)
            if hard or drawn:
                yield Ranking(task, SPLITS[splits[query]], query, tuple(taken), (*hard, *drawn), least)


class _Graph:
    """The matrices of a citation graph, and what they say about one paper."""

    def __init__(self, edges: Rows, references: Rows, papers: int) -> None:
        others = references + np.array([0, papers], dtype=np.int64)
        self.works = np.concatenate([edges, others])
        self.cites: Any = matrix_of(edges, papers, papers)
        self.cited: Any = self.cites.T.tocsr()
        self.refers: Any = matrix_of(self.works, papers, max(papers, int(self.works[:, 1].max(initial=-1)) + 1))
        self.referred: Any = self.refers.T.tocsr()

    def direct(self, paper: int) -> Rows:
        """Give the papers that a paper cites and those that cite it."""
        return np.concatenate([_row(self.cites, paper), _row(self.cited, paper)])

    def tied(self, paper: int) -> Rows:
        """Give those and all that are ever cited with it, or share a reference with it."""
        together = [_row(self.cites, other) for other in _row(self.cited, paper)]
        sharing = [_row(self.referred, work) for work in _row(self.refers, paper)]
        return np.unique(np.concatenate([self.direct(paper), *together, *sharing]))

    def second(self, paper: int) -> list[int]:
        """Give what a paper's cited papers cite and the paper is not linked with."""
        cited = _row(self.cites, paper)
        reached = np.unique(np.concatenate([np.empty(0, np.int64), *(_row(self.cites, other) for other in cited)]))
        linked = np.append(self.direct(paper), paper)
        return [int(row) for row in reached[~np.isin(reached, linked)]]


def _row(matrix: Any, row: int) -> Rows:
    return np.asarray(matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]], dtype=np.int64)


def _symmetric(pairs: Rows, papers: int) -> Any:
    """Give the matrix of undirected pairs."""
    return matrix_of(np.concatenate([pairs, pairs[:, ::-1]]), papers, papers)


def _queries(numbers: NDArray[Any], ids: Sequence[str], splits: NDArray[Any], salt: str) -> tuple[list[int], int]:
    """Give the queries of dev and test, at most 400 a split by their hashes, and the positives that were asked for."""
    chosen: list[int] = []
    least = POSITIVES_WANTED[0]
    for least in POSITIVES_WANTED:
        chosen = []
        for split in ("dev", "test"):
            rows = np.flatnonzero((numbers >= least) & (splits == SPLITS.index(split)))
            chosen += _by_hash(rows.tolist(), ids, salt)[:_MOST_QUERIES]
        if len(chosen) >= _ENOUGH:
            break
    return chosen, least


def _by_hash(rows: list[int], ids: Sequence[str], salt: str) -> list[int]:
    """Give rows in an order that hangs on nothing but the papers' ids and the salt."""
    return sorted(rows, key=lambda row: (_hashed(f"{salt}:{ids[row]}"), ids[row]))


def _drawn(pool: Rows, banned: Rows, wanted: int, salt: str) -> list[int]:
    """Give ``wanted`` different rows of the pool, none of them banned; fewer where they are hard to find."""
    random = np.random.default_rng(_hashed(f"negatives:{salt}"))
    forbidden = set(banned.tolist())
    taken: list[int] = []
    for _ in range(_DRAWS):
        if len(taken) >= wanted or not len(pool):
            break
        for row in pool[random.integers(0, len(pool), 2 * wanted)].tolist():
            if row not in forbidden and len(taken) < wanted:
                forbidden.add(row)
                taken.append(row)
    return taken


def _hashed(text: str) -> int:
    return int.from_bytes(hashlib.sha1(text.encode(), usedforsecurity=False).digest()[:8], "big")
