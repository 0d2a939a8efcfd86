"""What a protocol of paper encoders fixes, and our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DEFAULT_PAPERS", "PaperProtocol"]


@dataclass(frozen=True, slots=True)
class PaperProtocol:
    """The exact settings of an evaluation of paper encoders.

    ``similarity`` ranks papers, topics and search results. ``own_paper`` says whether a query that is itself a
    paper of the set is taken out of its list (``removed``) or holds a place in it (``kept``). ``ties`` is the order
    of equal scores: of a ``hash`` of the ids, or trec_eval's (``id``, from the last to the first). ``decimals``
    rounds scores before they are ranked. ``ranked``, ``retrieved``, ``searched`` are the measures of judged lists of
    papers, of retrieval from the whole set, and of search. ``relevant_from`` is the gain from which
    on a document answers; None takes 1, or 2 where gains above 2 occur. ``svm_grid``, ``svr_grid`` and ``folds``
    are what the probes choose C from, ``svr_rounds`` the rounds of the SVR; ``absent`` is the F1 of a topic that
    occurs neither in truth nor in prediction, None leaves it out.
    """

    name: str
    seed: int = 42
    similarity: Literal["dot", "cosine", "euclidean"] = "dot"
    own_paper: Literal["removed", "kept"] = "removed"
    ties: Literal["hash", "id"] = "hash"
    decimals: int | None = None
    ranked: tuple[str, ...] = ("map", "ndcg", "ndcg@10", "p@1")
    retrieved: tuple[str, ...] = ("recall@20", "recall@50", "recall@100", "ndcg@10", "map")
    searched: tuple[str, ...] = ("ndcg@10", "map", "recall@20", "recall@50", "recall@100")
    relevant_from: int | None = None
    svm_grid: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0)
    svr_grid: tuple[float, ...] = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
    svr_rounds: int = 5000
    folds: int = 3
    absent: float | None = None


DEFAULT_PAPERS = PaperProtocol(name="default")
"""Ours: dot product, the query taken out of its own list, ties by hash, C by 3-fold cross-validation on train.

Grids, folds and seed are SciRepEval's. What differs from ``scirepeval``: dot product for distance, nDCG@10 for search,
the order of equal scores, rounds of the SVR, and that a topic which is nowhere does not count as an F1 of 0.
"""
