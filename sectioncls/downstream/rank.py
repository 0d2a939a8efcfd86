"""How good a ranking is: MAP, nDCG, precision and recall per query, and their means with intervals.

Measures are computed by ir-measures on lists whose order is fixed here, so that equal scores never fall as the
file has them (see retrieve.hash_order).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.intervals import mean_interval
from sectioncls.downstream.retrieve import hash_order
from sectioncls.downstream.significance import RESAMPLES
from sectioncls.errors import InputError, UsageError
from sectioncls.records import Score

__all__ = [
    "DEPTH",
    "Judgements",
    "QueryValues",
    "judgements",
    "measured_lists",
    "measured_scores",
    "query_scores",
    "retrieval_depth",
]

DEPTH = 1000
"""Documents of a list that MAP and full nDCG see, as is usual for retrieval from a whole corpus."""

# Queries whose lists are handed over at once.
QUERIES = 500

_NAMED = re.compile(r"(map|ndcg|mrr)|(ndcg|p|recall|map)@([1-9][0-9]*)")

Run = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Which documents were judged for which queries, aligned (m,); a pair stands once.

    ``query`` counts into ``query_ids``, ``document`` into ``document_ids``; ``gain`` holds whole numbers, 0 for
    a document that is to be ranked and is no answer. ``repeated`` counts the pairs that were given once more.
    """

    query: Ids
    document: Ids
    gain: Ids
    query_ids: tuple[str, ...]
    document_ids: tuple[str, ...]
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.query)

    def without(self, queries: npt.ArrayLike, documents: npt.ArrayLike) -> Judgements:
        """The judgements without those of some query numbers and document rows, whose numbers stay as they are."""
        kept = ~(np.isin(self.query, queries) | np.isin(self.document, documents))
        return replace(self, query=self.query[kept], document=self.document[kept], gain=self.gain[kept])


@dataclass(frozen=True, slots=True, eq=False)
class QueryValues:
    """The value of each measure for each query: ``values`` maps a measure to (queries,), NaN where undefined.

    A query without a positive document has no value and is not counted into a mean.
    """

    query_ids: tuple[str, ...]
    values: Mapping[str, npt.NDArray[np.float64]]

    def undefined(self, measure: str) -> int:
        """How many queries have no value of ``measure``."""
        return int(np.isnan(self.values[measure]).sum())


def judgements(
    query_ids: Sequence[str], documents: npt.ArrayLike, gains: npt.ArrayLike, document_ids: Sequence[str]
) -> Judgements:
    """Judgements of aligned arrays (m,): the query's id, the document's row, its gain.

    Queries are numbered in the order in which they first occur. A pair that is judged twice has its highest gain
    and is counted. Raises InputError for unequal lengths, a gain that is no whole number from 0, or an unknown row.
    """
    rows = np.asarray(documents, dtype=np.int64)
    given = np.asarray(gains, dtype=np.float64)
    if not len(query_ids) == len(rows) == len(given):
        raise InputError(f"{len(query_ids)} queries, {len(rows)} documents, {len(given)} gains", "judgements")
    if not len(rows):
        raise InputError("no document is judged", "judgements")
    if not np.all((given >= 0) & (given == np.floor(given))):
        wrong = given[~((given >= 0) & (given == np.floor(given)))][0]
        raise InputError(f"a gain of {wrong:g}", "judgements", "give grades as whole numbers from 0")
    if rows.min() < 0 or rows.max() >= len(document_ids):
        raise InputError(f"a document row beyond {len(document_ids)} documents", "judgements")
    numbers: dict[str, int] = {}
    query = np.array([numbers.setdefault(name, len(numbers)) for name in query_ids], dtype=np.int64)
    best = np.lexsort((-given, rows, query))
    first = np.ones(len(best), dtype=np.bool_)
    first[1:] = (query[best][1:] != query[best][:-1]) | (rows[best][1:] != rows[best][:-1])
    kept = np.sort(best[first])
    return Judgements(
        query[kept],
        rows[kept],
        given[kept].astype(np.int64),
        tuple(numbers),
        tuple(document_ids),
        repeated=len(rows) - len(kept),
    )


def measured_scores(
    judged: Judgements,
    scores: npt.ArrayLike,
    measures: Sequence[str],
    *,
    relevant_from: int = 1,
    order: Ids | None = None,
) -> QueryValues:
    """Values of lists that hold the judged documents of each query, ranked by ``scores`` (m,), one a judgement.

    ``measures`` are ``map``, ``ndcg``, ``mrr``, and ``map@k``, ``ndcg@k``, ``p@k``, ``recall@k``. A document
    answers a query from the gain ``relevant_from`` on; nDCG takes the gain itself. Equal scores stand in
    ``order`` (every document row once), by default that of a hash of the document's id. Queries of which no
    pair is judged have no value. Raises InputError for scores that are not m or not numbers.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(judged),):
        raise InputError(f"{len(judged)} judgements but scores of shape {values.shape}", "scores")
    if np.isnan(values).any():
        raise InputError(f"{int(np.isnan(values).sum())} scores are not numbers", "scores")
    place = _places(hash_order(judged.document_ids) if order is None else order)
    ranked = np.lexsort((place[judged.document], -values, judged.query))
    return _measured(judged, judged.query[ranked], judged.document[ranked], measures, relevant_from)


def measured_lists(
    judged: Judgements, lists: npt.ArrayLike, measures: Sequence[str], *, relevant_from: int = 1
) -> QueryValues:
    """Values of the ``lists`` (queries, k) of document rows, best first, -1 where a list ends.

    Documents that were not judged answer nothing. Measures as in measured_scores.
    """
    found = np.asarray(lists, dtype=np.int64)
    if found.ndim != 2 or len(found) != len(judged.query_ids):
        raise InputError(f"{len(judged.query_ids)} queries but lists of shape {found.shape}", "lists")
    query, _ = np.nonzero(found >= 0)
    return _measured(judged, query.astype(np.int64), found[found >= 0], measures, relevant_from)


def query_scores(
    values: QueryValues, *, like: Score, unit: str = "query", resamples: int = RESAMPLES, seed: int = 0
) -> list[Score]:
    """One row a measure: the mean over queries with its 95 % interval; ``n`` is the number of queries counted.

    ``like`` says corpus, encoder, method, protocol, task and split. ``unit`` is what ``values`` has one of:
    ``query``, or ``paper`` or ``reviewer``. A measure that no query has gets no row.
    """
    rows = []
    for measure, found in values.values.items():
        known = found[~np.isnan(found)]
        if not len(known):
            continue
        low, high = mean_interval(known, resamples=resamples, seed=seed) or (None, None)
        rows.append(
            replace(like, metric=measure, value=float(known.mean()), low=low, high=high, n=len(known), unit=unit)
        )
    return rows


def retrieval_depth(measures: Iterable[str], documents: int) -> int:
    """How long lists must be for ``measures``: DEPTH, or the largest cut where that is more."""
    cuts = [int(name.split("@")[1]) for name in measures if "@" in name]
    return min(documents, max([DEPTH, *cuts]))


def _measured(
    judged: Judgements, query: Ids, document: Ids, measures: Sequence[str], relevant_from: int
) -> QueryValues:
    """Values of lists given end to end: ``query`` is sorted, ``document`` best first within each query."""
    import ir_measures

    names = {_measure(name, relevant_from): name for name in measures}
    count = len(judged.query_ids)
    best = np.zeros(count, dtype=np.int64)
    np.maximum.at(best, judged.query, judged.gain)
    values = {name: np.full(count, np.nan) for name in measures}
    for name in measures:
        answered = best >= (1 if name.startswith("ndcg") else relevant_from)
        values[name][answered] = 0.0
    order = np.argsort(judged.query, kind="stable")
    sides = (judged.query[order], judged.document[order], judged.gain[order])
    for start in range(0, count, QUERIES):
        qrels = _dicts(*(column[_within(sides[0], start)] for column in sides))
        part = _within(query, start)
        run = _dicts(query[part], document[part], _falling(query[part]))
        for row in ir_measures.iter_calc(list(names), qrels, run):
            place, name = int(row.query_id), names[row.measure]
            if not np.isnan(values[name][place]):
                values[name][place] = row.value
    return QueryValues(judged.query_ids, values)


def _within(query: Ids, start: int) -> slice:
    """Where the queries from ``start`` on, QUERIES of them, stand in sorted ``query``."""
    first, last = np.searchsorted(query, [start, start + QUERIES])
    return slice(int(first), int(last))


def _falling(query: Ids) -> npt.NDArray[np.float64]:
    """0, -1, -2, … within each query of sorted ``query``: scores that no reader of them can tie."""
    return (np.searchsorted(query, query) - np.arange(len(query))).astype(np.float64)


def _dicts(query: Ids, document: Ids, value: npt.NDArray[Any]) -> Run:
    """Nested dicts as trec_eval takes them."""
    found: Run = {}
    for q, d, v in zip(query.tolist(), document.tolist(), value.tolist(), strict=True):
        found.setdefault(str(q), {})[str(d)] = v
    return found


def _measure(name: str, relevant_from: int) -> Any:
    """The measure of ir-measures called ``name`` here."""
    import ir_measures

    match = _NAMED.fullmatch(name)
    if match is None:
        raise UsageError(f"no measure {name!r}: map, ndcg, mrr, map@k, ndcg@k, p@k, recall@k")
    kind = match[1] or match[2]
    base = {"map": ir_measures.AP, "ndcg": ir_measures.nDCG, "mrr": ir_measures.RR}.get(kind)
    base = base or {"p": ir_measures.P, "recall": ir_measures.R}[kind]
    measure = base if match[3] is None else base @ int(match[3])
    return measure if kind == "ndcg" else measure(rel=relevant_from)


def _places(order: Ids) -> Ids:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place
