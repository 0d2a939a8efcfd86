"""Papers to reviewers: a reviewer is the set of his own papers, near to a paper where the best of them are.

Paper: arXiv 2211.13308, paper-reviewer matching (its evaluation code takes the mean of the three highest cosines).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.intervals import kendall_tau
from sectioncls.downstream.rank import QueryValues, judgements, measured_scores
from sectioncls.downstream.retrieve import Scorer, blocks
from sectioncls.errors import InputError

__all__ = ["BEST", "Reviewers", "affinities", "expertise_order", "reviewer_precision", "reviewers"]

BEST = 3
"""So many of a reviewer's nearest papers count."""

PAPERS = 64

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Reviewers:
    """Reviewers and their papers, aligned (m,): ``reviewer`` counts into ``ids``, ``paper`` are rows."""

    ids: tuple[str, ...]
    reviewer: Ids
    paper: Ids


def reviewers(profiles: Mapping[str, Sequence[int]], *, least: int = 1) -> tuple[Reviewers, tuple[str, ...]]:
    """The reviewers of ``profiles`` (id to rows of papers), and those left out for fewer than ``least`` papers.

    Raises InputError where none is left.
    """
    kept = {name: rows for name, rows in profiles.items() if len(rows) >= max(1, least)}
    if not kept:
        raise InputError(f"no reviewer has {max(1, least)} papers", "profiles")
    counts = [len(rows) for rows in kept.values()]
    paper = np.concatenate([np.asarray(rows, dtype=np.int64) for rows in kept.values()])
    left_out = tuple(name for name in profiles if name not in kept)
    return Reviewers(tuple(kept), np.repeat(np.arange(len(kept)), counts), paper), left_out


def affinities(scorer: Scorer, papers: npt.ArrayLike, group: Reviewers, *, best: int = BEST) -> Floats:
    """How near each reviewer is to each paper (papers, reviewers): the mean of his ``best`` highest scores.

    ``scorer`` scores all papers for a paper row (dense_scorer by cosine for the published rule). A reviewer with
    fewer papers is the mean of all of them.
    """
    rows = np.asarray(papers, dtype=np.int64)
    values = np.empty((len(rows), len(group.ids)), dtype=np.float64)
    order = np.argsort(group.reviewer, kind="stable")
    ends = np.cumsum(np.bincount(group.reviewer, minlength=len(group.ids)))
    for part in blocks(len(rows), PAPERS):
        near = np.asarray(scorer(rows[part]), dtype=np.float64)[:, group.paper[order]]
        for reviewer, end in enumerate(ends):
            first = 0 if reviewer == 0 else int(ends[reviewer - 1])
            highest = np.sort(near[:, first:end], axis=1)[:, -best:]
            values[part, reviewer] = highest.mean(axis=1)
    return values


def reviewer_precision(
    paper_ids: Sequence[str],
    reviewer_ids: Sequence[str],
    pairs: npt.ArrayLike,
    ratings: npt.ArrayLike,
    near: Floats,
    *,
    soft: int = 2,
    hard: int = 3,
    cuts: Sequence[int] = (5, 10),
) -> dict[str, QueryValues]:
    """P@k per paper over its rated reviewers: ``soft`` and ``hard`` are the ratings that count as suited.

    ``pairs`` (m, 2) are (place in ``paper_ids``, place in ``reviewer_ids``), ``ratings`` whole numbers from 0,
    ``near`` the affinities. Gives the values under ``soft`` and ``hard``. A paper without a suited reviewer has
    no value.
    """
    given = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    judged = judgements([paper_ids[row] for row in given[:, 0]], given[:, 1], ratings, reviewer_ids)
    scores = near[given[:, 0], given[:, 1]]
    measures = [f"p@{cut}" for cut in cuts]
    return {
        name: measured_scores(judged, scores, measures, relevant_from=bound)
        for name, bound in (("soft", soft), ("hard", hard))
    }


def expertise_order(reviewer_ids: Sequence[str], expertise: npt.ArrayLike, predicted: npt.ArrayLike) -> QueryValues:
    """Kendall's tau-b within each reviewer between the expertise that he states and the predicted one.

    The three are aligned, one a rated paper. A reviewer with one paper, or with equal values only, has none.
    """
    truth, found = np.asarray(expertise, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if not len(reviewer_ids) == len(truth) == len(found):
        raise InputError(f"{len(reviewer_ids)} reviewers, {len(truth)} ratings, {len(found)} predictions", "expertise")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(reviewer_ids):
        rows.setdefault(name, []).append(row)
    taus = [kendall_tau(truth[mine], found[mine]) if len(mine) > 1 else np.nan for mine in rows.values()]
    return QueryValues(tuple(rows), {"tau": np.array(taus, dtype=np.float64)})
