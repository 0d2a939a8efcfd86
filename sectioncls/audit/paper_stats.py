"""What a paper set holds: the spread over fields, venues, years and topics, by split, and how much there is to judge.

Paper: arXiv 2211.13308 shows the spread over fields of what it trains on; a score says little without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sectioncls.corpora.corpus import read_manifest
from sectioncls.errors import InputError
from sectioncls.papersets import Papers, PaperSet
from sectioncls.papersets.paperset import KIND

__all__ = ["SPLITS", "CollectionStats", "PaperStats", "is_paperset", "paper_stats"]

SPLITS = ("train", "dev", "test")

UNKNOWN = "not known"

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """One label set: ``topics`` {topic: {split: papers}}, the commonest first.

    ``papers`` is {split: papers that bear any}; ``defined`` topics have a definition.
    """

    topics: Counts
    papers: Mapping[str, int]
    defined: int


@dataclass(frozen=True, slots=True)
class PaperStats:
    """What a paper set holds. Counts are {value: {split: papers}}, the commonest first.

    ``splits`` is {split: {papers, with abstract, with authors, citations}}. A paper of several ``fields`` counts in
    each; papers without one, without a venue or a year count as UNKNOWN, where the set says it of any. ``decades`` are
    like ``1990s``. ``words`` is {split: (median, 95 %)} of title and abstract. ``linked`` counts papers by split that
    have a citation in the set. ``tasks`` is {ranking task: {split: queries}}, ``targets`` {number: {split: papers}}.
    """

    name: str
    papers: int
    splits: Counts
    fields: Counts
    venues: Counts
    decades: Counts
    years: tuple[int, int] | None
    words: Mapping[str, tuple[int, int]]
    linked: Mapping[str, int]
    collections: Mapping[str, CollectionStats]
    tasks: Counts
    targets: Counts


def is_paperset(folder: Path) -> bool:
    """Tell whether a folder's corpus.json says that it is a paper set; whoever opens it says what is wrong."""
    try:
        content = read_manifest(folder / "corpus.json", "a paper set", "", "")
    except InputError:
        return False
    return isinstance(content, dict) and content.get("kind") == KIND


def paper_stats(papers: PaperSet) -> PaperStats:
    """Count what a paper set holds. Raises InputError for a file that can't be read."""
    table = papers.papers()
    known = table.years[table.years >= 0]
    edges = papers.citations()
    linked = np.zeros(len(table), dtype=np.bool_)
    linked[edges.ravel()] = True
    return PaperStats(
        name=papers.name,
        papers=len(table),
        splits={split: _sizes(papers, table, split) for split in SPLITS},
        fields=_spread(table, table.fields),
        venues=_spread(table, ((venue,) if venue else () for venue in table.venues)),
        decades=_spread(table, ((f"{year // 10 * 10}s",) if year >= 0 else () for year in table.years.tolist())),
        years=(int(known.min()), int(known.max())) if len(known) else None,
        words={split: _words(table, split) for split in SPLITS},
        linked={split: int(linked[table.rows(split)].sum()) for split in SPLITS},
        collections={name: _collection(papers, table, name) for name in papers.collections()},
        tasks={name: _queries(papers, name) for name in papers.ranking_tasks()},
        targets={name: _known(papers, table, name) for name in papers.target_names()},
    )


def _sizes(papers: PaperSet, table: Papers, split: str) -> dict[str, int]:
    rows = table.rows(split).tolist()
    return {
        "papers": len(rows),
        "with abstract": sum(bool(table.abstracts[row].strip()) for row in rows),
        "with authors": sum(bool(table.authors[row]) for row in rows),
        "citations": len(papers.citations(split)),
    }


def _spread(table: Papers, values: Iterable[tuple[str, ...]]) -> Counts:
    """Give {value: {split: papers}}, the commonest first; nothing where no paper has a value."""
    counts: dict[str, Counter[str]] = {}
    for split, mine in zip(table.splits, values, strict=True):
        for value in dict.fromkeys(mine) or (UNKNOWN,):
            counts.setdefault(value, Counter())[split] += 1
    return {} if set(counts) <= {UNKNOWN} else _ordered(counts)


def _ordered(counts: Mapping[str, Counter[str]]) -> Counts:
    """Give counts by split, the largest first, equal ones by name, what is not known last."""
    order = sorted(counts, key=lambda value: (value == UNKNOWN, -counts[value].total(), value))
    return {value: {split: counts[value][split] for split in SPLITS} for value in order}


def _words(table: Papers, split: str) -> tuple[int, int]:
    """Give the median and the 95 % quantile of words of title and abstract: the least that so many stay below."""
    lengths = sorted(
        len(table.titles[row].split()) + len(table.abstracts[row].split()) for row in table.rows(split).tolist()
    )
    if not lengths:
        return 0, 0
    median, p95 = (lengths[-(-len(lengths) * percent // 100) - 1] for percent in (50, 95))
    return median, p95


def _collection(papers: PaperSet, table: Papers, name: str) -> CollectionStats:
    topics = papers.topics(name)
    pairs = np.unique(topics.pairs, axis=0) if len(topics.pairs) else topics.pairs
    counts = {topic: Counter[str]() for topic in topics.names}
    for row, topic in pairs.tolist():
        counts[topics.names[topic]][table.splits[row]] += 1
    bearing = Counter(table.splits[row] for row in np.unique(pairs[:, 0]).tolist())
    return CollectionStats(
        topics=_ordered(counts),
        papers={split: bearing[split] for split in SPLITS},
        defined=sum(bool(text) for text in topics.definitions),
    )


def _queries(papers: PaperSet, name: str) -> dict[str, int]:
    return {split: len(set(papers.qrels(name, split).query_ids.tolist())) for split in SPLITS}


def _known(papers: PaperSet, table: Papers, name: str) -> dict[str, int]:
    values = papers.targets(name)
    return {split: int(np.isfinite(values[table.rows(split)]).sum()) for split in SPLITS}
