"""Links for a contrastive loss: every citation with one hard negative, the batch gives the easy ones.

Paper: arXiv 2305.14232, section 3.3 (SciMult): a hard negative is cited by a cited paper and not by the query.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.draws import fill_in
from sectioncls.mining.graph import Graph, rows_of
from sectioncls.mining.hops import draw_neighbours, two_steps
from sectioncls.mining.triples import MiningReport, Triples, collisions, linked

__all__ = ["mine_links"]

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def mine_links(
    graph: Graph,
    seed: int,
    *,
    queries: npt.ArrayLike | None = None,
    per_query: int | None = None,
    bidirectional: bool = False,
    exclude_citing: bool = False,
) -> tuple[Triples, MiningReport]:
    """Give the citations of each query as (query, cited, one hard negative), and their report.

    ``queries`` are the rows to ask for (default: all), ``per_query`` bounds their citations, drawn without repetition
    (default: all of them, in order). Hard negatives are drawn uniformly over the papers that a cited paper cites and
    the query does not; where there is none it is -1, counted, and only the batch speaks against the query. A negative
    may come again with another citation of the query. ``bidirectional`` and ``exclude_citing`` are those of
    ``mine_citations``. Raises InputError for a graph without edges.
    """
    if not graph.edges:
        raise InputError("no citations to mine", "graph", "give papers of which some cite others")
    graph = graph.undirected() if bidirectional else graph
    random = np.random.default_rng(seed)
    asked = rows_of(queries, graph.nodes, "queries")
    cited = graph.cited
    rows = asked[cited[asked] > 0]
    if per_query is None:
        query = np.repeat(rows, cited[rows])
        positive = graph.cites[rows].indices.astype(np.int64)
    else:
        drawn = draw_neighbours(graph.cites, rows, per_query, random)
        query, positive = np.repeat(rows, per_query)[drawn.ravel() >= 0], drawn[drawn >= 0]
    known = graph.pairs()

    def accept(positions: Rows, candidates: Rows) -> Mask:
        papers = query[positions]
        good = known.lacks(papers, candidates)
        good &= candidates != papers
        if exclude_citing:
            good &= known.lacks(candidates, papers)
        return good

    negatives = np.full((len(query), 1), -1, dtype=np.int64)
    source = two_steps(graph.cites, graph.cites, query, accept, random, inside=known)
    absent = fill_in(negatives, [0], source, random)
    triples = Triples(query, positive, negatives)
    report = MiningReport(
        "links",
        triples=len(triples),
        queries=len(rows),
        collisions=collisions(triples, graph.nodes),
        linked=linked(triples, known),
        skipped={"cites nothing": len(asked) - len(rows)},
        fallbacks={"pairs without hard negative": absent},
    )
    return triples, report
