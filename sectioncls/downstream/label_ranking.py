"""Topics found without any training: a paper is the query, topics (name, or name and definition) are ranked for it.

Paper: arXiv 2305.14232, sections 3 and 4 (classification as retrieval of labels), with its re-ordering by names
that occur in the paper. Its matches were files made beforehand; the rule here is ours (see name_matches).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.rank import Judgements, QueryValues, measured_lists
from sectioncls.downstream.retrieve import Scorer, hash_order, top_documents
from sectioncls.errors import InputError

__all__ = [
    "CUTS",
    "Matches",
    "best_topics",
    "name_matches",
    "named_first",
    "normalised_words",
    "popularity_scorer",
    "topic_judgements",
    "topic_recall",
]

CUTS = (20, 50, 100)

Matches = tuple[Ids, Ids]
"""(paper, topic) of every topic whose name occurs in a paper: aligned row numbers, sorted by paper."""

_RUNS = re.compile(r"[^a-z0-9]+")


def normalised_words(text: str) -> list[str]:
    """The words of ``text`` in lower case; every run of other characters than a-z and 0-9 parts two words."""
    return _RUNS.sub(" ", text.lower()).split()


def name_matches(texts: Sequence[str], names: Sequence[str]) -> Matches:
    """Which names occur in which texts as whole words in a row, both normalised (see normalised_words).

    Runs of words of a text are looked up among the names, so that the cost grows with the words of the texts
    and not with texts x names. A name without a letter or digit occurs nowhere.
    """
    topics: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for topic, name in enumerate(names):
        words = normalised_words(name)
        if words:
            topics[tuple(words)].append(topic)
    lengths = sorted({len(words) for words in topics})
    papers, found = [], []
    for paper, text in enumerate(texts):
        words = normalised_words(text)
        inside = {
            topic
            for length in lengths
            for start in range(len(words) - length + 1)
            for topic in topics.get(tuple(words[start : start + length]), ())
        }
        papers += [paper] * len(inside)
        found += sorted(inside)
    return np.array(papers, dtype=np.int64), np.array(found, dtype=np.int64)


def named_first(scorer: Scorer, matches: Matches) -> Scorer:
    """A scorer that puts topics named in the paper before all others; among both ``scorer``'s order stays."""
    papers, topics = matches

    def scores(rows: Ids) -> npt.NDArray[np.float64]:
        found = np.asarray(scorer(rows), dtype=np.float64).copy()
        lift = np.ptp(found, axis=1) + 1
        firsts, lasts = np.searchsorted(papers, rows), np.searchsorted(papers, rows, side="right")
        for place, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
            found[place, topics[first:last]] += lift[place]
        return found

    return scores


def popularity_scorer(train_topics: npt.ArrayLike, topics: int) -> Scorer:
    """The floor: every paper's topics ranked by how often they occur in train (``train_topics``: one a pair)."""
    counts = np.bincount(np.asarray(train_topics, dtype=np.int64), minlength=topics).astype(np.float64)
    return lambda rows: np.broadcast_to(counts, (len(rows), topics))


def topic_judgements(paper_ids: Sequence[str], pairs: npt.ArrayLike, names: Sequence[str]) -> Judgements:
    """The true topics of papers as judgements: ``pairs`` (m, 2) of (place in ``paper_ids``, topic).

    Papers without a topic stay queries without an answer, which no mean counts.
    """
    given = np.unique(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=0)
    if not len(given):
        raise InputError("no paper has a topic", "paper topics")
    if given.min() < 0 or given[:, 0].max() >= len(paper_ids) or given[:, 1].max() >= len(names):
        raise InputError(f"a pair beyond {len(paper_ids)} papers and {len(names)} topics", "paper topics")
    ones = np.ones(len(given), dtype=np.int64)
    return Judgements(given[:, 0], given[:, 1], ones, tuple(paper_ids), tuple(names))


def topic_recall(
    scorer: Scorer,
    judged: Judgements,
    *,
    cuts: Sequence[int] = CUTS,
    matches: Matches | None = None,
    order: Ids | None = None,
) -> QueryValues:
    """Recall@k of the true topics for each paper: how many of them stand among the first k, over how many there are.

    ``scorer`` scores all topics for papers (places in ``judged.query_ids``); with ``matches`` topics named in the
    paper come first. Equal scores stand in the order of a hash of the names unless ``order`` says otherwise. A cut
    that holds all topics says nothing and is left out; InputError where none is left.
    """
    count = len(judged.document_ids)
    told = [cut for cut in cuts if cut < count]
    if not told:
        raise InputError(f"the first {min(cuts)} hold all {count} topics", "paper topics")
    named = scorer if matches is None else named_first(scorer, matches)
    order = hash_order(judged.document_ids) if order is None else order
    lists = top_documents(named, np.arange(len(judged.query_ids)), order, max(told))
    return measured_lists(judged, lists, [f"recall@{cut}" for cut in told])


def best_topics(scorer: Scorer, papers: int, names: Sequence[str]) -> Ids:
    """The topic (papers,) that ``scorer`` ranks first for each paper: single-label classes without training."""
    return top_documents(scorer, np.arange(papers), hash_order(names), 1)[:, 0]
