"""Which tasks a paper set has, by name, and the arrays that each is scored on.

===================  ==============================================================================================
``rank:NAME``        judged lists of papers for query papers, to be put in order (a gain of 0 is a negative)
``retrieve:NAME``    papers that belong to a query paper, to be found among all papers of the set
``search``           text queries; among all papers, or in judged lists where negatives are judged (``search:NAME``
                     for a task of another name)
``class:NAME``       topics of a small collection by a linear SVM learnt on train
``label:NAME``       the same without any training: the topic whose name (and definition) lies nearest
``topics:NAME``      topics of a large collection ranked for a paper, without any training
``regress:NAME``     a number by a linear SVR learnt on train
``reviewers:NAME``   the expertise that reviewers state for papers
===================  ==============================================================================================
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.rank import Judgements, judgements
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets import Papers, PaperSet, Topics

__all__ = [
    "FEW_TOPICS",
    "ClassData",
    "NumberData",
    "Planned",
    "RankingData",
    "ReviewerData",
    "TopicData",
    "class_data",
    "number_data",
    "plan_tasks",
    "ranking_data",
    "reviewer_data",
    "topic_data",
]

FEW_TOPICS = 50
"""A collection of up to so many topics is classes, a larger one is ranked."""

Kind = Literal["rank", "retrieve", "search", "class", "label", "topics", "regress", "reviewers"]


@dataclass(frozen=True, slots=True)
class Planned:
    """One task: its name, its kind, and the ranking task, collection or number of the set that it is made of.

    ``whole`` says that a ranking is over all papers of the set, not over judged lists.
    """

    name: str
    kind: Kind
    source: str
    whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RankingData:
    """Judgements, with the row (queries,) of each query that is a paper, or the text of each that is one.

    ``own`` counts the papers that were judged for themselves and are left out.
    """

    judged: Judgements
    query_rows: Ids | None
    query_texts: tuple[str, ...]
    relevant_from: int
    own: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ClassData:
    """Papers of train and of the split with their classes: class ids (n,), or flags (n, classes) where ``multi``."""

    train: Ids
    test: Ids
    train_y: npt.NDArray[np.int64]
    test_y: npt.NDArray[np.int64]
    topics: Topics
    multi: bool
    positive: int | None


@dataclass(frozen=True, slots=True, eq=False)
class TopicData:
    """Papers (rows) of the split with their topics: ``pairs`` (m, 2) of (place in ``papers``, topic).

    ``train_topics`` holds one topic number for each pair of train.
    """

    papers: Ids
    pairs: Ids
    names: tuple[str, ...]
    definitions: tuple[str, ...]
    train_topics: Ids


@dataclass(frozen=True, slots=True, eq=False)
class NumberData:
    """Papers of train and of the split whose number is known, with the numbers."""

    train: Ids
    test: Ids
    train_y: npt.NDArray[np.float64]
    test_y: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ReviewerData:
    """Ratings (m,): the reviewer's id, the paper's row and the stated expertise; ``profiles`` are rows of papers."""

    reviewers: tuple[str, ...]
    papers: Ids
    expertise: npt.NDArray[np.float64]
    profiles: dict[str, list[int]]

    def rows(self) -> Ids:
        """Every paper that is rated or stands in a profile, each row once, in order."""
        return np.unique([*self.papers.tolist(), *(row for rows in self.profiles.values() for row in rows)])


def plan_tasks(
    papers: PaperSet, table: Papers | None = None, *, split: str = "test", whole: Collection[str] = ()
) -> tuple[Planned, ...]:
    """The tasks that ``papers`` (read: ``table``) has something to judge in ``split`` for, rankings first.

    A ranking task whose judgements hold no negative is over all papers of the set; so are those named in ``whole``,
    whose judged negatives then count as not relevant. Raises UsageError for a name in ``whole`` that the set lacks.
    """
    known = papers.ranking_tasks()
    for name in whole:
        if name not in known:
            raise UsageError(f"no ranking task {name!r} in {papers.name} ({', '.join(known) or 'it has none'})")
    found = [planned for name in known if (planned := _ranking(papers, name, split, name in whole)) is not None]
    asked = {papers.info.tasks[name].get("queries") for name in known}
    table = papers.papers() if table is None else table
    there = set(table.rows(split).tolist())
    for name in papers.collections():
        topics = papers.topics(name)
        if name in asked or not there.intersection(topics.pairs[:, 0].tolist()):
            continue
        if len(topics.names) > FEW_TOPICS:
            found.append(Planned(f"topics:{name}", "topics", name))
        else:
            found += [Planned(f"class:{name}", "class", name), Planned(f"label:{name}", "label", name)]
    for name in papers.target_names():
        values = papers.targets(name)
        if all(np.isfinite(values[table.rows(part)]).sum() > 1 for part in ("train", split)):
            found.append(Planned(f"regress:{name}", "regress", name))
    return tuple(found)


def ranking_data(
    papers: PaperSet, table: Papers, planned: Planned, split: str, relevant_from: int | None, *, own: bool = False
) -> RankingData:
    """Judgements of a ranking task in ``split``; ``relevant_from`` None is 1, or 2 where a gain above 2 occurs.

    A paper that is judged for itself is left out unless ``own``. Raises InputError where no judgement is left.
    """
    found = papers.qrels(planned.source, split)
    kept = np.ones(len(found), dtype=np.bool_)
    if found.query_rows is not None and not own:
        kept = found.query_rows != found.paper_rows
    judged = judgements(found.query_ids[kept].tolist(), found.paper_rows[kept], found.scores[kept], table.ids)
    bound = relevant_from or (2 if judged.gain.max(initial=0) > 2 else 1)
    if found.query_rows is not None:
        rows = table.row_of()
        numbers = np.array([rows[name] for name in judged.query_ids], dtype=np.int64)
        return RankingData(judged, numbers, (), bound, own=int((~kept).sum()))
    queries = papers.queries()
    texts = dict(zip(queries.ids, queries.texts, strict=True))
    missing = [name for name in judged.query_ids if name not in texts]
    if missing:
        raise InputError(f"judges query {missing[0]!r}, which queries.parquet lacks", papers.path / "qrels.parquet")
    return RankingData(judged, None, tuple(texts[name] for name in judged.query_ids), bound)


def class_data(papers: PaperSet, table: Papers, planned: Planned, split: str) -> ClassData:
    """Classes of a collection. Where the collection has two topics, the second is the positive one.

    Raises InputError where train has fewer than two classes.
    """
    topics = papers.topics(planned.source)
    pairs = np.unique(topics.pairs, axis=0)
    bearing, counts = np.unique(pairs[:, 0], return_counts=True)
    multi = bool(len(counts) and counts.max() > 1)
    flags = np.zeros((len(table), len(topics.names)), dtype=np.int64)
    flags[pairs[:, 0], pairs[:, 1]] = 1
    train, test = (np.intersect1d(table.rows(part), bearing) for part in ("train", split))
    if not len(train) or (flags[train].sum(axis=0) > 0).sum() < 2:
        raise InputError(f"train has fewer than two topics of the collection {planned.source}", papers.path)
    y = flags if multi else flags.argmax(axis=1)
    positive = 1 if not multi and len(topics.names) == 2 else None
    return ClassData(train, test, y[train], y[test], topics, multi, positive)


def topic_data(papers: PaperSet, table: Papers, planned: Planned, split: str, least: int = 1) -> TopicData:
    """Topics that ``least`` papers of the set bear, and those papers of ``split`` that bear one of them.

    Raises InputError where none is left.
    """
    topics = papers.topics(planned.source)
    pairs = np.unique(topics.pairs, axis=0)
    counts = np.bincount(pairs[:, 1], minlength=len(topics.names))
    kept = np.flatnonzero(counts >= least)
    number = np.full(len(topics.names), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    pairs = np.stack([pairs[:, 0], number[pairs[:, 1]]], axis=1)
    pairs = pairs[pairs[:, 1] >= 0]
    inside = pairs[np.isin(pairs[:, 0], table.rows(split))]
    if not len(inside):
        raise InputError(f"no paper of {split} has a topic of {planned.source} that {least} papers bear", papers.path)
    rows, places = np.unique(inside[:, 0], return_inverse=True)
    return TopicData(
        papers=rows,
        pairs=np.stack([places.astype(np.int64), inside[:, 1]], axis=1),
        names=tuple(topics.names[topic] for topic in kept),
        definitions=tuple(topics.definitions[topic] for topic in kept),
        train_topics=pairs[np.isin(pairs[:, 0], table.rows("train")), 1],
    )


def number_data(papers: PaperSet, table: Papers, planned: Planned, split: str) -> NumberData:
    """The numbers of the papers of train and of ``split`` that have one."""
    values = papers.targets(planned.source)
    train, test = (rows[np.isfinite(values[rows])] for rows in (table.rows("train"), table.rows(split)))
    return NumberData(train, test, values[train], values[test])


def reviewer_data(papers: PaperSet, table: Papers, planned: Planned, split: str) -> ReviewerData:
    """Ratings of a task whose queries are reviewers, and the papers of each reviewer's profile, newest first."""
    found = papers.qrels(planned.source, split)
    topics = papers.topics(str(papers.info.tasks[planned.source]["queries"]))
    years = table.years
    profiles: dict[str, list[int]] = {}
    for row, topic in topics.pairs.tolist():
        profiles.setdefault(topics.names[topic], []).append(row)
    ordered = {name: sorted(rows, key=lambda row: (-years[row], row)) for name, rows in profiles.items()}
    return ReviewerData(tuple(found.query_ids.tolist()), found.paper_rows, found.scores, ordered)


def _ranking(papers: PaperSet, name: str, split: str, whole: bool) -> Planned | None:
    """The task made of a ranking task of the set; None where the split has no judgement."""
    facts = papers.info.tasks[name]
    queries = facts.get("queries")
    found = papers.qrels(name, split)
    if not len(found):
        return None
    if queries in papers.collections():
        return Planned(f"reviewers:{name}", "reviewers", name)
    over_all = whole or not (found.scores == 0).any()
    if queries == "texts":
        return Planned(name if name == "search" else f"search:{name}", "search", name, over_all)
    short = name.removeprefix("retrieval_")
    return Planned(f"{'retrieve' if over_all else 'rank'}:{short}", "retrieve" if over_all else "rank", name, over_all)
