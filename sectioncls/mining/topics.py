"""Topics of papers with hard negatives: topics of papers close by that the paper itself lacks.

Paper: arXiv 2305.14232, section 3.3 (SciMult): for a paper and one of its labels, a label that it lacks of a paper that
it cites or that shares an author or the venue with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.draws import fill_in, ranges
from sectioncls.mining.graph import Graph
from sectioncls.mining.hops import grouped, two_steps
from sectioncls.mining.pairset import PairSet, pair_keys, set_of_keys
from sectioncls.mining.triples import MiningReport, Triples

__all__ = ["mine_topics"]

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
# From papers to keys (cited papers, authors, venues), and from those to topics: CSR arrays.
Relation = tuple[Any, Any]


def mine_topics(
    graph: Graph,
    pairs: npt.ArrayLike,
    topics: int,
    seed: int,
    *,
    authors: Sequence[Sequence[str]] | None = None,
    venues: Sequence[str] | None = None,
) -> tuple[Triples, MiningReport]:
    """Give (paper, topic, topic that the paper lacks) for each of ``pairs``, (m, 2) of (paper, topic), and the report.

    ``query`` are rows of papers, ``positive`` and ``negatives`` numbers of topics, of which there are ``topics``. A
    negative comes from a citation, a shared author or the shared venue, each as likely as the others where it has one
    to offer, and then from all its papers and their topics evenly: a topic is a negative about as often as it is a
    topic, so that being frequent tells nothing. Where nothing is offered it is -1, counted. ``authors`` and
    ``venues`` are those of every paper ('' is no venue); without them these ways are closed. Repeated pairs count once.
    Raises InputError for numbers out of range and for lists that don't fit the graph.
    """
    known, query, positive = _pairs(pairs, graph.nodes, topics)
    relations: dict[str, Relation] = {}
    if graph.edges:
        relations["cited papers"] = (graph.cites, grouped(query, positive, (graph.nodes, topics)))
    if authors is not None:
        _fit(len(authors), graph.nodes, "authors")
        relations["shared authors"] = _shared(authors, query, positive, topics)
    if venues is not None:
        _fit(len(venues), graph.nodes, "venues")
        relations["shared venue"] = _shared([[venue] if venue else [] for venue in venues], query, positive, topics)

    random = np.random.default_rng(seed)
    negatives = np.full((len(query), 1), -1, dtype=np.int64)
    figures = dict.fromkeys(relations, 0.0)
    # Each pair asks the relations in an order of its own, so the first that can answer is any of them evenly.
    turn = random.permuted(np.tile(np.arange(len(relations)), (len(query), 1)), axis=1)
    for column in turn.T:
        for number, (name, (first, second)) in enumerate(relations.items()):
            waiting = np.flatnonzero((column == number) & (negatives[:, 0] < 0))
            papers = query[waiting]

            def accept(positions: Rows, candidates: Rows, papers: Rows = papers) -> Mask:
                return known.lacks(papers[positions], candidates)

            found = np.full((len(waiting), 1), -1, dtype=np.int64)
            source = two_steps(first, second, papers, accept, random, inside=None)
            figures[name] += len(waiting) - fill_in(found, [0], source, random)
            negatives[waiting] = found
    triples = Triples(query, positive, negatives)
    report = MiningReport(
        "topics",
        triples=len(triples),
        queries=int((np.diff(query, prepend=-1) > 0).sum()),
        fallbacks={"pairs without hard negative": int((negatives < 0).sum())},
        figures=figures,
    )
    return triples, report


def _pairs(pairs: npt.ArrayLike, nodes: int, topics: int) -> tuple[PairSet, Rows, Rows]:
    """Give the pairs as a set, and as columns in ascending order."""
    given = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if len(given) and (given.min() < 0 or given[:, 0].max() >= nodes or given[:, 1].max() >= topics):
        raise InputError(f"a pair names a paper beyond {nodes} or a topic beyond {topics}", "topics of papers")
    keys = pair_keys(given[:, 0], given[:, 1], max(topics, 1))
    return set_of_keys(keys, max(topics, 1)), keys // max(topics, 1), keys % max(topics, 1)


def _shared(names: Sequence[Sequence[str]], query: Rows, positive: Rows, topics: int) -> Relation:
    """Give from papers to their names, and from names to the topics of all papers that bear them, repeats kept."""
    number: dict[str, int] = {}
    sets = [dict.fromkeys(some) for some in names]
    papers = np.repeat(np.arange(len(sets), dtype=np.int64), [len(some) for some in sets])
    bears = np.array([number.setdefault(name, len(number)) for some in sets for name in some], dtype=np.int64)
    first = grouped(papers, bears, (len(sets), max(1, len(number))))
    of_paper = grouped(query, positive, (len(sets), topics))
    starts = of_paper.indptr.astype(np.int64)
    entry, place = ranges(starts[papers], np.diff(starts)[papers])
    second = grouped(bears[entry], of_paper.indices[place].astype(np.int64), (max(1, len(number)), topics))
    return first, second


def _fit(given: int, nodes: int, what: str) -> None:
    if given != nodes:
        raise InputError(f"{what} of {given} papers, but the graph has {nodes}", "topics of papers")
