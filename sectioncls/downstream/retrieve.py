"""Exact top lists of a similarity, ties in an order that no file gave.

A *scorer* answers for a block of queries with their score for every document. Embeddings, BM25, TF-IDF and
popularity are scorers alike, so that one function ranks them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_matrix
from sectioncls.errors import InputError, UsageError

__all__ = [
    "SIMILARITIES",
    "Scorer",
    "Similarity",
    "blocks",
    "dense_scorer",
    "hash_order",
    "id_order",
    "pair_scores",
    "pair_similarities",
    "sparse_scorer",
    "top_documents",
]

Scorer = Callable[[Ids], Matrix]
"""From query rows (q,) to scores (q, documents); higher is nearer."""

Similarity = Literal["dot", "cosine", "euclidean"]

SIMILARITIES: tuple[Similarity, ...] = ("dot", "cosine", "euclidean")

# Entries of the score matrix (queries x documents) that are held at once.
BLOCK = 16_000_000


def hash_order(ids: Sequence[str]) -> Ids:
    """Rows of ``ids`` in the order of the SHA-1 of the id: the order in which equal scores stand.

    Files are often sorted by frequency or date, and an order of ties that follows the file smuggles that in.
    """
    keys = [hashlib.sha1(name.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest() for name in ids]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def id_order(ids: Sequence[str]) -> Ids:
    """Rows of ``ids`` from the last id to the first in string order, which is how trec_eval breaks ties."""
    return np.array(sorted(range(len(ids)), key=lambda row: ids[row].encode(), reverse=True), dtype=np.int64)


def dense_scorer(queries: npt.ArrayLike, documents: npt.ArrayLike, similarity: Similarity = "dot") -> Scorer:
    """A scorer of embeddings (rows x dimensions): by ``dot``, ``cosine`` or ``euclidean``.

    Scores of ``euclidean`` are 2 q·d - |d|², which orders the documents of a query as the negative distance
    does. A zero row has cosine 0 with everything. Raises InputError for unequal dimensions and non-finite rows.
    """
    left, right = _sides(queries, documents, similarity)
    if similarity != "euclidean":
        return lambda rows: np.asarray(left[rows] @ right.T)
    lengths = np.einsum("ij,ij->i", right, right)
    return lambda rows: np.asarray(2 * (left[rows] @ right.T) - lengths)


def sparse_scorer(queries: Any, documents: Any) -> Scorer:
    """A scorer of scipy sparse rows by dot product, such as TF-IDF weights of unit length (their cosine)."""
    turned = documents.T.tocsr()
    return lambda rows: np.asarray((queries[rows] @ turned).toarray())


def pair_similarities(
    queries: npt.ArrayLike,
    documents: npt.ArrayLike,
    query_rows: Ids,
    document_rows: Ids,
    similarity: Similarity = "dot",
) -> npt.NDArray[np.float64]:
    """Similarity (m,) of the pairs (query row, document row); ``euclidean`` gives the negative distance.

    Only the pairs are computed, so that judged lists cost nothing like queries x documents.
    """
    left, right = _sides(queries, documents, similarity)
    if len(query_rows) != len(document_rows):
        raise InputError(f"{len(query_rows)} query rows but {len(document_rows)} document rows", "pairs")
    values = np.empty(len(query_rows), dtype=np.float64)
    for part in blocks(len(query_rows), max(1, BLOCK // max(1, left.shape[1]))):
        q = left[query_rows[part]].astype(np.float64)
        d = right[document_rows[part]].astype(np.float64)
        if similarity == "euclidean":
            values[part] = -np.sqrt(np.square(q - d).sum(axis=1))
        else:
            values[part] = np.einsum("ij,ij->i", q, d)
    return values


def pair_scores(scorer: Scorer, query_rows: Ids, document_rows: Ids, documents: int) -> npt.NDArray[np.float64]:
    """Scores (m,) that ``scorer`` gives to the pairs (query row, document row) among ``documents``."""
    values = np.empty(len(query_rows), dtype=np.float64)
    order = np.argsort(query_rows, kind="stable")
    distinct, first = np.unique(query_rows[order], return_index=True)
    ends = np.append(first, len(order))
    for part in blocks(len(distinct), max(1, BLOCK // max(1, documents))):
        scores = scorer(distinct[part])
        for place, query in enumerate(range(part.start, part.stop)):
            pairs = order[ends[query] : ends[query + 1]]
            values[pairs] = scores[place, document_rows[pairs]]
    return values


def top_documents(
    scorer: Scorer,
    query_rows: npt.ArrayLike,
    order: Ids,
    k: int,
    *,
    own: Ids | None = None,
) -> Ids:
    """The ``k`` best documents of each query, (queries, k) row numbers, best first; -1 where there are fewer.

    ``order`` holds every document row once (see hash_order) and says which of equal scores comes first.
    ``own`` (queries,) is the row of a query that is itself a document, -1 for none: it takes no place in its
    list. Raises UsageError for ``k`` below 1.
    """
    if k < 1:
        raise UsageError(f"the top {k} documents are none")
    queries = np.asarray(query_rows, dtype=np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    found = np.full((len(queries), k), -1, dtype=np.int64)
    for part in blocks(len(queries), max(1, BLOCK // max(1, len(order)))):
        scores = scorer(queries[part])[:, order]
        for row in range(len(scores)):
            query = part.start + row
            line = scores[row]
            mine = -1 if own is None or own[query] < 0 else int(place[own[query]])
            best = _best(line, k + (mine >= 0))
            if mine >= 0:
                best = best[best != mine][:k]
            found[query, : len(best)] = order[best]
    return found


def _best(line: Matrix, k: int) -> Ids:
    """Places of the ``k`` highest values, highest first, equal ones by place."""
    if k < len(line):
        bound = np.partition(line, len(line) - k)[len(line) - k]
        above = np.flatnonzero(line > bound)
        equal = np.flatnonzero(line == bound)[: k - len(above)]
        chosen = np.sort(np.concatenate([above, equal]))
    else:
        chosen = np.arange(len(line))
    return np.asarray(chosen[np.argsort(-line[chosen], kind="stable")], dtype=np.int64)


def blocks(rows: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` that cover ``rows``."""
    for start in range(0, rows, size):
        yield slice(start, min(rows, start + size))


def _sides(queries: npt.ArrayLike, documents: npt.ArrayLike, similarity: Similarity) -> tuple[Matrix, Matrix]:
    if similarity not in SIMILARITIES:
        raise UsageError(f"no similarity {similarity!r}: {', '.join(SIMILARITIES)}")
    left, right = as_matrix(queries, "query embeddings"), as_matrix(documents, "document embeddings")
    if left.shape[1] != right.shape[1]:
        raise InputError(f"queries have {left.shape[1]} dimensions, documents {right.shape[1]}", "embeddings")
    return (_unit(left), _unit(right)) if similarity == "cosine" else (left, right)


def _unit(rows: Matrix) -> Matrix:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1))
