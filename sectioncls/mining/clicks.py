"""Searches with hard negatives: papers that were shown or judged and found wanting.

Papers: arXiv 2305.14232, section 3.3 (SciMult: one hard negative for a relevant paper); arXiv 2211.13308 (SciRepEval:
up to five triples a query, relevant papers in turn).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.draws import draw_places
from sectioncls.mining.hops import grouped
from sectioncls.mining.triples import MiningReport, Triples

__all__ = ["mine_clicks"]

Rows = npt.NDArray[np.int64]


def mine_clicks(
    query: npt.ArrayLike, paper: npt.ArrayLike, score: npt.ArrayLike, seed: int, *, per_query: int | None = None
) -> tuple[Triples, MiningReport]:
    """Give (query, relevant paper, one that is not) from judgements, and their report.

    The judgements are aligned columns (m,): number of the query, row of the paper, score; above 0 is relevant
    (clicked), 0 and below was shown in vain. Of a pair that is judged several times the best score counts. Each
    relevant paper makes one triple with a random negative of its query, or -1 where the query has none (counted: only
    the batch speaks against it then). With ``per_query`` a query makes as many triples as it has negatives, at most
    that many, with different negatives and its relevant papers in random order, in turn. Queries without a relevant
    paper are skipped and counted, with ``per_query`` those without a negative too. Raises InputError for columns of
    unequal length.
    """
    asked, paper_row = np.asarray(query, dtype=np.int64), np.asarray(paper, dtype=np.int64)
    value = np.asarray(score, dtype=np.float64)
    if not asked.shape == paper_row.shape == value.shape or asked.ndim != 1:
        raise InputError(f"judgements of shapes {asked.shape}, {paper_row.shape} and {value.shape}", "judgements")
    order = np.lexsort((-value, paper_row, asked))
    asked, paper_row, value = asked[order], paper_row[order], value[order]
    new = np.ones(len(asked), dtype=np.bool_)
    new[1:] = (asked[1:] != asked[:-1]) | (paper_row[1:] != paper_row[:-1])
    repeated = int((~new).sum())
    asked, paper_row, good = asked[new], paper_row[new], value[new] > 0
    queries = int(asked.max(initial=-1)) + 1
    width = int(paper_row.max(initial=0)) + 1
    relevant = grouped(asked[good], paper_row[good], (queries, width))
    wanting = grouped(asked[~good], paper_row[~good], (queries, width))
    some, others = np.diff(relevant.indptr).astype(np.int64), np.diff(wanting.indptr).astype(np.int64)
    judged = np.bincount(asked, minlength=queries) > 0
    skipped = {"no relevant paper": int((judged & (some == 0)).sum())}

    random = np.random.default_rng(seed)
    if per_query is None:
        rows = np.repeat(np.arange(queries, dtype=np.int64), some)
        positive = relevant.indices.astype(np.int64)
        negative = draw_places(others[rows], 1, random)[:, 0]
    else:
        skipped["no paper judged not relevant"] = int(((some > 0) & (others == 0)).sum())
        asking = np.flatnonzero((some > 0) & (others > 0)).astype(np.int64)
        fewer = np.minimum(others[asking], per_query)
        turn = draw_places(some[asking], per_query, random)
        turn = np.take_along_axis(turn, np.arange(per_query) % np.minimum(some[asking], per_query)[:, None], axis=1)
        within = np.arange(per_query) < fewer[:, None]
        rows = np.repeat(asking, fewer)
        positive = relevant.indices[relevant.indptr[rows].astype(np.int64) + turn[within]].astype(np.int64)
        negative = draw_places(others[asking], per_query, random)[within]
    place = wanting.indptr[rows].astype(np.int64) + negative
    found = np.full(len(rows), -1, dtype=np.int64)
    found[negative >= 0] = wanting.indices[place[negative >= 0]]
    report = MiningReport(
        "clicks",
        triples=len(rows),
        queries=int((np.diff(rows, prepend=-1) > 0).sum()),
        skipped=skipped,
        fallbacks={"pairs without hard negative": int((found < 0).sum()), "repeated judgements": repeated},
    )
    return Triples(rows, positive, found[:, None]), report
