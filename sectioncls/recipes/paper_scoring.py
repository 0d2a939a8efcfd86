"""What encoders and words share on each kind of task: from scores or features to Score rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.label_ranking import name_matches, topic_judgements, topic_recall
from sectioncls.downstream.probe import class_scores, probe, probe_topics, topic_scores
from sectioncls.downstream.protocols import PAPER_PROTOCOLS, PaperProtocol
from sectioncls.downstream.rank import QueryValues, measured_lists, measured_scores, retrieval_depth
from sectioncls.downstream.regress import regress, regression_scores
from sectioncls.downstream.retrieve import Scorer, hash_order, id_order, top_documents
from sectioncls.downstream.reviewers import affinities, expertise_order, reviewers
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets import Papers, PaperSet, paper_texts
from sectioncls.recipes.paper_plan import (
    ClassData,
    NumberData,
    Planned,
    RankingData,
    ReviewerData,
    TopicData,
    plan_tasks,
    ranking_data,
)
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.records import Score

__all__ = [
    "FEWEST",
    "LEAST",
    "Setting",
    "score_classes",
    "score_judged",
    "score_numbers",
    "score_reviewers",
    "score_topics",
    "score_whole",
    "setting",
]

LEAST = 10
"""Papers that must bear a topic for it to be ranked."""

FEWEST = 3
"""Papers that a reviewer's profile must have."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What every task of an evaluation shares; ``name`` is the encoder's, '' for words."""

    papers: PaperSet
    table: Papers
    tasks: tuple[Planned, ...]
    protocol: PaperProtocol
    split: str
    separator: str
    least: int
    name: str = ""

    def like(self, planned: Planned, method: str) -> Score:
        """A Score that says all but the number."""
        return Score(
            metric="",
            value=float("nan"),
            corpus=self.papers.name,
            fingerprint=self.papers.info.fingerprint,
            split=self.split,
            protocol=self.protocol.name,
            task=planned.name,
            encoder=self.name,
            method=method,
            seed=self.protocol.seed,
        )

    def order(self, ids: Sequence[str]) -> Ids:
        """The order of equal scores."""
        return hash_order(ids) if self.protocol.ties == "hash" else id_order(ids)

    def ranking(self, planned: Planned) -> RankingData:
        """The judgements of a ranking task as the protocol has them."""
        own = self.protocol.own_paper == "kept"
        return ranking_data(self.papers, self.table, planned, self.split, self.protocol.relevant_from, own=own)

    def texts(self, rows: Ids | None = None) -> list[str]:
        """Papers as text, all of them or those of some rows."""
        return paper_texts(self.table, None if rows is None else rows.tolist(), self.separator)

    def ids(self, rows: Ids) -> list[str]:
        """Ids of papers by row."""
        return [self.table.ids[row] for row in rows]


def setting(
    papers: PaperSet,
    *,
    name: str = "",
    protocol: str | PaperProtocol = "default",
    split: str = "test",
    tasks: Collection[str] = (),
    whole: Collection[str] = (),
    separator: str = ". ",
    least: int = LEAST,
) -> Setting:
    """What is evaluated and how; ``tasks`` names some of plan_tasks, all of them where it is empty.

    Raises UsageError for an unknown protocol or task, InputError for a set with nothing to judge in ``split``.
    """
    if isinstance(protocol, str):
        if protocol not in PAPER_PROTOCOLS:
            raise UsageError(f"no protocol {protocol!r} of papers: {', '.join(PAPER_PROTOCOLS)}")
        protocol = PAPER_PROTOCOLS[protocol]
    table = papers.papers()
    planned = plan_tasks(papers, table, split=split, whole=whole)
    if not planned:
        raise InputError(f"has nothing to judge in {split}: no rankings, topics or numbers", papers.path)
    there = [one.name for one in planned]
    for task in tasks:
        if task not in there:
            raise UsageError(f"{papers.name} has no task {task!r} in {split}", todo=f"it has {', '.join(there)}")
    chosen = tuple(one for one in planned if not tasks or one.name in tasks)
    return Setting(papers, table, chosen, protocol, split, separator, least, name)


def score_whole(
    given: Setting, planned: Planned, data: RankingData, scorer: Scorer, method: str, result: PaperEvaluation
) -> None:
    """Add a ranking of all papers by ``scorer``, which scores them for places in the queries."""
    measures = given.protocol.searched if planned.kind == "search" else given.protocol.retrieved
    own = data.query_rows if given.protocol.own_paper == "removed" else None
    queries = np.arange(len(data.judged.query_ids))
    depth = retrieval_depth(measures, len(given.table))
    lists = top_documents(scorer, queries, given.order(given.table.ids), depth, own=own)
    values = measured_lists(data.judged, lists, measures, relevant_from=data.relevant_from)
    _add_queries(given, planned, data, values, method, result)


def score_judged(
    given: Setting,
    planned: Planned,
    data: RankingData,
    scores: npt.NDArray[np.float64],
    method: str,
    result: PaperEvaluation,
) -> None:
    """Add a ranking of the judged papers by ``scores``, one a judgement."""
    if given.protocol.decimals is not None:
        scores = np.round(scores, given.protocol.decimals)
    values = measured_scores(
        data.judged,
        scores,
        given.protocol.searched if planned.kind == "search" else given.protocol.ranked,
        relevant_from=data.relevant_from,
        order=given.order(given.table.ids),
    )
    _add_queries(given, planned, data, values, method, result)


def score_topics(
    given: Setting, planned: Planned, data: TopicData, scorers: dict[str, Scorer], result: PaperEvaluation
) -> None:
    """Add Recall@k of topics by each scorer, as it ranks and with topics named in the paper first (``+match``)."""
    judged = topic_judgements(given.ids(data.papers), data.pairs, data.names)
    matches = name_matches(given.texts(data.papers), data.names)
    order = given.order(data.names)
    for method, scorer in scorers.items():
        for name, named in ((method, None), (f"{method}+match", matches)):
            values = topic_recall(scorer, judged, matches=named, order=order)
            result.add_queries(values, given.like(planned, name), unit="paper")


def score_classes(
    given: Setting, planned: Planned, data: ClassData, train: Any, test: Any, method: str, result: PaperEvaluation
) -> None:
    """Add the F1 of a linear SVM on features of the train and test papers."""
    protocol, like = given.protocol, given.like(planned, method)
    options: dict[str, Any] = {"grid": protocol.svm_grid, "folds": protocol.folds, "seed": protocol.seed}
    if data.multi:
        flags = probe_topics(train, data.train_y, test, **options)
        result.scores += topic_scores(data.test_y, flags, like=like, absent=protocol.absent)
        return
    found = probe(train, data.train_y, test, **options)
    classes = len(data.topics.names)
    result.scores += class_scores(data.test_y, found, classes, like=like, positive=data.positive)
    result.add_predictions(given.ids(data.test), data.test_y, found, like)


def score_numbers(
    given: Setting, planned: Planned, data: NumberData, train: Any, test: Any, method: str, result: PaperEvaluation
) -> None:
    """Add Kendall's tau of a linear SVR on features of the train and test papers."""
    protocol, like = given.protocol, given.like(planned, method)
    found = regress(
        train,
        data.train_y,
        test,
        grid=protocol.svr_grid,
        folds=protocol.folds,
        seed=protocol.seed,
        max_iter=protocol.svr_rounds,
    )
    rows = regression_scores(data.test_y, found, like=like)
    if not rows:
        result.note(f"{planned.name} has no tau: truth or prediction has one value only")
    result.scores += rows
    result.add_predictions(given.ids(data.test), data.test_y, found, like)


def score_reviewers(
    given: Setting, planned: Planned, data: ReviewerData, scorer: Scorer, method: str, result: PaperEvaluation
) -> None:
    """Add Kendall's tau within reviewers; ``scorer`` scores ``data.rows()`` for places among them."""
    place = {row: number for number, row in enumerate(data.rows().tolist())}
    profiles = {name: [place[row] for row in mine] for name, mine in data.profiles.items()}
    group, left_out = reviewers(profiles, least=FEWEST)
    number = {name: one for one, name in enumerate(group.ids)}
    kept = [at for at, name in enumerate(data.reviewers) if name in number]
    if not kept:
        raise InputError(f"no reviewer who rated a paper has {FEWEST} papers", given.papers.path)
    asked, back = np.unique([place[int(data.papers[at])] for at in kept], return_inverse=True)
    near = affinities(scorer, asked, group)
    names = [data.reviewers[at] for at in kept]
    values = expertise_order(names, data.expertise[kept], near[back, [number[name] for name in names]])
    result.add_queries(values, given.like(planned, method), unit="reviewer")
    if left_out:
        result.note(f"{planned.name}: {len(left_out)} reviewers with fewer than {FEWEST} papers are left out")


def _add_queries(
    given: Setting,
    planned: Planned,
    data: RankingData,
    values: QueryValues,
    method: str,
    result: PaperEvaluation,
) -> None:
    if data.own:
        result.note(f"{planned.name}: {data.own} papers that are judged for themselves are left out")
    result.add_queries(values, given.like(planned, method))
    for measure in values.values:
        if lost := values.undefined(measure):
            queries = f"{lost} of {len(values.query_ids)} queries"
            result.note(f"{planned.name}: {queries} have no paper that {measure} counts as an answer; they don't count")
