"""SPECTER's triples: a paper is drawn to what it cites and pushed from others, some of them two citations away.

Paper: arXiv 2004.07180, section 3.1 (five triples a query, two of them with a hard negative). Easy negatives by field
of study are those of SPECTER2's base model, arXiv 2211.13308.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.mining.draws import fill_in, pool_source
from sectioncls.mining.fields import field_source, fields_of
from sectioncls.mining.graph import Graph, rows_of
from sectioncls.mining.hops import draw_neighbours, two_steps
from sectioncls.mining.pairset import PairSet
from sectioncls.mining.triples import MiningReport, Triples, collisions, linked

__all__ = ["RANDOM", "SPECTER2_EASY", "Easy", "mine_citations"]

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Easy = Literal["random", "same-field", "overlapping-field", "other-field"]

KINDS = ("random", "same-field", "overlapping-field", "other-field")
RANDOM: tuple[Easy, ...] = ("random", "random", "random")
SPECTER2_EASY: tuple[Easy, ...] = (
    *("other-field", "other-field"),
    *("overlapping-field", "overlapping-field"),
    *("same-field", "same-field"),
)


def mine_citations(
    graph: Graph,
    seed: int,
    *,
    queries: npt.ArrayLike | None = None,
    pool: npt.ArrayLike | None = None,
    easy: Sequence[Easy] = RANDOM,
    hard: int = 2,
    bidirectional: bool = False,
    exclude_citing: bool = False,
    fields: Sequence[Sequence[str]] | None = None,
) -> tuple[Triples, MiningReport]:
    """Give ``len(easy) + hard`` triples of each query with one negative each, easy ones first, and their report.

    ``queries`` are the rows to ask for (default: all), ``pool`` those that easy negatives come from (default: all).
    Positives are drawn among what the query cites, without repetition as far as they reach, then again in the same
    order. A hard negative is cited by a cited paper and not by the query, uniformly over such papers; where there are
    too few a random one takes its place. The negatives of a query differ from each other.

    As published, a paper that cites the query may be its negative: ``exclude_citing`` forbids that, ``bidirectional``
    takes the ends of a citation as citing each other, in everything. ``easy`` names the kind of each easy negative;
    all but ``random`` need ``fields``, the fields of study of every paper, and fall back to random ones. Every fallback
    is counted. Raises InputError for a graph without edges, UsageError for options that contradict each other.
    """
    _check(graph, easy, hard, fields)
    graph = graph.undirected() if bidirectional else graph
    random = np.random.default_rng(seed)
    asked = rows_of(queries, graph.nodes, "queries")
    cited = graph.cited
    rows = asked[cited[asked] > 0]
    known, count = graph.pairs(), len(easy) + hard

    def accept(positions: Rows, candidates: Rows) -> Mask:
        query = rows[positions]
        good = known.lacks(query, candidates)
        good &= candidates != query
        if exclude_citing:
            good &= known.lacks(candidates, query)
        return good

    positive = draw_neighbours(graph.cites, rows, count, random)
    again = int((positive < 0).sum())
    positive = np.take_along_axis(positive, np.arange(count) % np.minimum(cited[rows], count)[:, None], axis=1)

    negatives = np.full((len(rows), count), -1, dtype=np.int64)
    source = two_steps(graph.cites, graph.cites, rows, accept, random, inside=known)
    fallbacks = {
        "positives drawn again": again,
        "hard negatives that are random": fill_in(negatives, range(len(easy), count), source, random),
    }
    candidates = rows_of(pool, graph.nodes, "pool")
    groups = None if fields is None else fields_of(fields, candidates)
    for kind in dict.fromkeys(easy):
        if kind != "random" and groups is not None:
            columns = [column for column, name in enumerate(easy) if name == kind]
            source = field_source(groups, kind, rows, accept, random)
            fallbacks[f"{kind} negatives that are random"] = fill_in(negatives, columns, source, random)
    fallbacks["triples without negative"] = fill_in(
        negatives, range(count), pool_source(candidates, accept, random), random
    )
    skipped = {"cites nothing": len(asked) - len(rows)}
    return _account(known, rows, positive, negatives, skipped, fallbacks)


def _account(
    known: PairSet, rows: Rows, positive: Rows, negatives: Rows, skipped: dict[str, int], fallbacks: dict[str, int]
) -> tuple[Triples, MiningReport]:
    triples = Triples(np.repeat(rows, positive.shape[1]), positive.ravel(), negatives.reshape(-1, 1))
    whole = negatives >= 0
    triples = triples if whole.all() else triples.take(whole.ravel())
    report = MiningReport(
        "citations",
        triples=len(triples),
        queries=int(whole.any(axis=1).sum()),
        collisions=collisions(triples, known.width),
        linked=linked(triples, known),
        skipped=skipped,
        fallbacks=fallbacks,
    )
    return triples, report


def _check(graph: Graph, easy: Sequence[Easy], hard: int, fields: Sequence[Sequence[str]] | None) -> None:
    if not graph.edges:
        raise InputError("no citations to mine", "graph", "give papers of which some cite others")
    if hard < 0 or not len(easy) + hard:
        raise UsageError(f"{len(easy)} easy and {hard} hard negatives make no triple", "mining")
    unknown = [kind for kind in easy if kind not in KINDS]
    if unknown:
        raise UsageError(f"no kind of easy negative {unknown[0]!r}", "mining", ", ".join(KINDS))
    if any(kind != "random" for kind in easy) and fields is None:
        raise UsageError("negatives by field need the fields of all papers", "mining", "give fields")
    if fields is not None and len(fields) != graph.nodes:
        raise InputError(f"fields of {len(fields)} papers, but the graph has {graph.nodes}", "mining")
