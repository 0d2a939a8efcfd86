"""Triples from what is judged itself, the same number of each task: an upper bound, for it sees the answers.

Paper: arXiv 2202.06671, section 5.2, "Oracle SciDocs": triplets of the gold labels of validation and test.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.mining.draws import draw_one_each, ranges
from sectioncls.mining.triples import MiningReport, Triples, collisions, join_triples

__all__ = ["mine_classes", "mine_judged", "mine_oracle"]

Rows = npt.NDArray[np.int64]


def mine_oracle(
    parts: Mapping[str, Triples], seed: int, nodes: int, *, each: int | None = None
) -> tuple[Triples, MiningReport]:
    """Give as many triples of each task, drawn without repetition, and their report.

    ``parts`` are all triples of each task (mine_judged, mine_classes), ``each`` how many are wanted; by default, and
    where it is more, as many as the smallest task has. ``nodes`` is the number of papers. Raises InputError where a
    task has none.
    """
    if not parts or not all(len(part) for part in parts.values()):
        empty = next((name for name, part in parts.items() if not len(part)), "any task")
        raise InputError(f"no triples of {empty}", "oracle", "leave the task out")
    if each is not None and each < 1:
        raise UsageError(f"{each} triples a task", "oracle", "take 1 or more")
    count = min(each or len(next(iter(parts.values()))), *(len(part) for part in parts.values()))
    random = np.random.default_rng(seed)
    drawn = [part.take(np.sort(random.choice(len(part), count, replace=False))) for part in parts.values()]
    triples = join_triples(drawn[0], *drawn[1:])
    report = MiningReport(
        "oracle",
        triples=len(triples),
        queries=len(np.unique(triples.query)),
        collisions=collisions(triples, nodes),
        figures={f"triples of {name}": float(count) for name in parts},
    )
    return triples, report


def mine_judged(query: npt.ArrayLike, paper: npt.ArrayLike, score: npt.ArrayLike, seed: int) -> Triples:
    """Give a triple of each judged pair of a positive ``score``, with a paper that was judged 0 for the same query.

    ``query`` and ``paper`` are rows of papers, one judgement each. Queries without such a paper, or without a positive
    one, give no triple. A paper judged for itself is left out.
    """
    asked, papers = np.asarray(query, dtype=np.int64), np.asarray(paper, dtype=np.int64)
    gains = np.asarray(score, dtype=np.float64)
    own = asked != papers
    asked, papers, gains = asked[own], papers[own], gains[own]
    good, bad = gains > 0, gains <= 0
    order = np.argsort(asked[bad], kind="stable")
    return _with_one(asked[good], papers[good], asked[bad][order], papers[bad][order], seed)


def mine_classes(paper: npt.ArrayLike, label: npt.ArrayLike, seed: int) -> Triples:
    """Give a triple of each paper with another of its label and one of another label, both drawn evenly.

    ``paper`` are rows, each once, ``label`` its class. Papers that are alone in their class give no triple, nor does
    anything where there is one class only.
    """
    papers, labels = np.asarray(paper, dtype=np.int64), np.asarray(label, dtype=np.int64)
    order = np.argsort(labels, kind="stable")
    papers, labels = papers[order], labels[order]
    _, start, size = np.unique(labels, return_index=True, return_counts=True)
    starts, sizes = np.repeat(start, size), np.repeat(size, size)
    random = np.random.default_rng(seed)
    kept = np.flatnonzero((sizes > 1) & (sizes < len(papers)))
    # One of the others of the class: a place among them, which steps over the paper itself.
    place = starts[kept] + (random.random(len(kept)) * (sizes[kept] - 1)).astype(np.int64)
    place += place >= kept
    other = (random.random(len(kept)) * (len(papers) - sizes[kept])).astype(np.int64)
    other = np.where(other >= starts[kept], other + sizes[kept], other)
    return Triples(papers[kept], papers[place], papers[other][:, None])


def _with_one(query: Rows, positive: Rows, asked: Rows, papers: Rows, seed: int) -> Triples:
    """Give each pair with one paper that ``asked``, ascending, lists for its query; pairs without one are left out."""
    first = np.searchsorted(asked, query, side="left")
    size = np.searchsorted(asked, query, side="right") - first
    owner, place = ranges(first, size)
    drawn = draw_one_each(owner, len(query), np.random.default_rng(seed))
    kept = drawn >= 0
    return Triples(query[kept], positive[kept], papers[place[drawn[kept]]][:, None])
