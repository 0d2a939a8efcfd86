"""SciDocs: its twelve numbers, for data in its form (arXiv 2004.07180, section 4), as its evaluation code runs them.

- MAG and MeSH: linear SVM, squared hinge, C of 10^-4…10^2 (7 values) by 3 folds on train, seed 42; macro-F1. A paper
  without a vector is learnt and judged as a zero vector.
- Co-view, co-read, cite and co-cite: 1,000 query papers each, five papers that belong to it and 25 random ones, ranked
  by Euclidean distance rounded to five decimals; MAP and nDCG over the whole list. A query without a vector is not
  judged, and a candidate without one is not ranked, but counts as missed where it belongs. A random order has nDCG
  0.52 and MAP 0.25 there.
- Recommendation: a small network learns from clicks (see clicks.py); adjusted nDCG and P@1.
- The average is over the twelve.

The public code learns with sklearn-contrib-lightning; here it is scikit-learn's liblinear, and the last digit differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_matrix
from sectioncls.downstream.probe import class_scores, probe
from sectioncls.downstream.protocols.clicks import Clicks, click_scores, recommend
from sectioncls.downstream.protocols.papers import PaperProtocol
from sectioncls.downstream.rank import Judgements, QueryValues, measured_lists, query_scores
from sectioncls.downstream.retrieve import id_order, pair_similarities
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = [
    "SCIDOCS",
    "SCIDOCS_METRICS",
    "SVM_GRID",
    "ClassTask",
    "ClickTask",
    "SciDocs",
    "scidocs_average",
    "scidocs_class_scores",
    "scidocs_click_scores",
    "scidocs_ranking_scores",
]

SVM_GRID = tuple(10.0**power for power in range(-4, 3))

SCIDOCS = PaperProtocol(
    name="scidocs",
    similarity="euclidean",
    ties="id",
    decimals=5,
    ranked=("map", "ndcg"),
    relevant_from=1,
    svm_grid=SVM_GRID,
)

SCIDOCS_METRICS = (
    ("mag", "f1-macro"),
    ("mesh", "f1-macro"),
    *((task, metric) for task in ("coview", "coread", "cite", "cocite") for metric in ("map", "ndcg")),
    ("recomm", "adj-ndcg"),
    ("recomm", "adj-p@1"),
)
"""The twelve (task, metric) pairs, in the order of the published table."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassTask:
    """Papers (rows) with their class, train and test; ``classes`` names the class ids."""

    train: Ids
    train_y: Ids
    test: Ids
    test_y: Ids
    classes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClickTask:
    """Clicks for the recommender, and how likely each position is clicked whatever stands there."""

    train: Clicks
    dev: Clicks
    test: Clicks
    propensities: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SciDocs:
    """Data in SciDocs's form; all rows count into ``paper_ids``.

    ``classes`` has ``mag`` and ``mesh``, ``rankings`` has ``coview``, ``coread``, ``cite`` and ``cocite``, with
    the row of each query in ``query_rows``; ``clicks`` is None where there are none.
    """

    paper_ids: tuple[str, ...]
    classes: Mapping[str, ClassTask]
    rankings: Mapping[str, Judgements]
    query_rows: Mapping[str, Ids]
    clicks: ClickTask | None


def scidocs_class_scores(vectors: npt.ArrayLike, task: ClassTask, *, like: Score, missing: Ids) -> list[Score]:
    """The row ``f1-macro`` of one classification; ``missing`` are the rows without a vector, which count as zero."""
    rows = as_matrix(vectors).copy()
    rows[missing] = 0
    found = probe(
        rows[task.train],
        task.train_y,
        rows[task.test],
        grid=SCIDOCS.svm_grid,
        folds=SCIDOCS.folds,
        seed=SCIDOCS.seed,
    )
    scores = class_scores(task.test_y, found, len(task.classes), like=like)
    return [score for score in scores if score.metric == "f1-macro"]


def scidocs_ranking_scores(
    vectors: npt.ArrayLike, judged: Judgements, query_rows: Ids, *, like: Score, missing: Ids
) -> tuple[list[Score], QueryValues]:
    """Rows ``map`` and ``ndcg`` of one list of rankings, with the value of each query."""
    if len(query_rows) != len(judged.query_ids):
        raise InputError(f"{len(judged.query_ids)} queries but {len(query_rows)} rows of them", "judgements")
    lost = np.flatnonzero(np.isin(query_rows, missing))
    there = judged.without(lost, np.empty(0, dtype=np.int64))
    if not len(there):
        raise InputError("no query has a vector", "judgements")
    seen = there.without(lost, missing)
    near = pair_similarities(vectors, vectors, query_rows[seen.query], seen.document, "euclidean")
    values = measured_lists(there, _lists(seen, np.round(near, 5)), SCIDOCS.ranked)
    return query_scores(values, like=like), values


def scidocs_click_scores(vectors: npt.ArrayLike, task: ClickTask, *, like: Score, missing: Ids) -> list[Score]:
    """Rows ``adj-ndcg`` and ``adj-p@1`` of the recommender trained on these embeddings."""
    rows = as_matrix(vectors).copy()
    rows[missing] = 0
    scores = recommend(rows, task.train, task.dev, task.test, task.propensities)
    return click_scores(task.test, scores, task.propensities, like=like)


def scidocs_average(scores: list[Score], *, like: Score) -> list[Score]:
    """One row ``mean`` over the twelve metrics, and nothing where one of them is missing."""
    found = {(score.task.split(":")[-1], score.metric): score.value for score in scores}
    if any(pair not in found for pair in SCIDOCS_METRICS):
        return []
    mean = float(np.mean([found[pair] for pair in SCIDOCS_METRICS]))
    return [replace(like, metric="mean", value=mean, task="scidocs:average", n=len(SCIDOCS_METRICS), unit="metric")]


def _lists(judged: Judgements, scores: npt.NDArray[np.float64]) -> Ids:
    """Judged documents of each query by score, equal ones from the last id to the first as trec_eval has them."""
    place = np.empty(len(judged.document_ids), dtype=np.int64)
    place[id_order(judged.document_ids)] = np.arange(len(judged.document_ids))
    ranked = np.lexsort((place[judged.document], -scores, judged.query))
    query = judged.query[ranked]
    at = np.arange(len(query)) - np.searchsorted(query, query)
    lists = np.full((len(judged.query_ids), int(at.max(initial=0)) + 1), -1, dtype=np.int64)
    lists[query, at] = judged.document[ranked]
    return lists
