"""The citation graph as a sparse matrix, and the questions that miners ask of it, for many papers at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError
from sectioncls.mining.pairset import PairSet, pair_keys, set_of_keys

__all__ = ["Graph", "graph_of", "rows_of"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Papers and who cites whom: ``cites`` is a scipy CSR array of int8, (nodes, nodes), row cites column.

    Columns of a row ascend; there is no edge from a paper to itself and none twice: ``loops`` and ``doubles`` count
    what was left out.
    """

    nodes: int
    cites: Any
    loops: int = 0
    doubles: int = 0

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.cites.nnz)

    @property
    def cited(self) -> Rows:
        """How many papers each paper cites, (nodes,)."""
        return np.asarray(np.diff(self.cites.indptr), dtype=np.int64)

    @property
    def citing(self) -> Rows:
        """How many papers cite each paper, (nodes,)."""
        return np.bincount(self.cites.indices, minlength=self.nodes).astype(np.int64)

    def rows(self) -> Rows:
        """Give all edges, (m, 2), as (src, dst), in ascending order."""
        source = np.repeat(np.arange(self.nodes, dtype=np.int64), self.cited)
        return np.stack((source, self.cites.indices.astype(np.int64)), axis=1)

    def connected(self) -> Rows:
        """Give the papers that have an edge, ascending."""
        return np.flatnonzero(self.cited + self.citing).astype(np.int64)

    def reversed(self) -> Graph:
        """Give the graph with every edge turned round: row is cited by column."""
        turned = self.cites.T.tocsr()
        turned.sort_indices()
        return Graph(self.nodes, turned)

    def undirected(self) -> Graph:
        """Give the graph in which both ends of each edge cite each other."""
        edges = self.rows()
        both = graph_of(np.concatenate((edges, edges[:, ::-1])), self.nodes)
        return Graph(self.nodes, both.cites)

    def pairs(self) -> PairSet:
        """Give the edges as a set that answers for many pairs (src, dst) at once."""
        source = np.repeat(np.arange(self.nodes, dtype=np.int64), self.cited)
        return set_of_keys(source * np.int64(self.nodes) + self.cites.indices, self.nodes)


def graph_of(edges: npt.ArrayLike, nodes: int) -> Graph:
    """Make the graph of ``edges``, (m, 2) of row numbers (src, dst): src cites dst.

    Edges from a paper to itself and repeated edges are left out and counted. Raises InputError for another shape and
    for row numbers outside 0 … nodes - 1.
    """
    from scipy.sparse import csr_array

    pairs = np.asarray(edges, dtype=np.int64)
    if not pairs.size:
        pairs = np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"edges are pairs of row numbers, not an array of shape {pairs.shape}", "citations")
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < nodes):
        raise InputError(
            f"an edge names row {pairs.max() if pairs.min() >= 0 else pairs.min()} of {nodes}", "citations"
        )
    proper = pairs[pairs[:, 0] != pairs[:, 1]]
    keys = pair_keys(proper[:, 0], proper[:, 1], nodes)
    source, target = np.divmod(keys, np.int64(max(nodes, 1)))
    # Products of sparse matrices are quicker on 32-bit places.
    place = np.int32 if max(nodes, len(keys)) < np.iinfo(np.int32).max else np.int64
    starts = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=nodes)))).astype(place)
    cites = csr_array((np.ones(len(keys), dtype=np.int8), target.astype(place), starts), shape=(nodes, nodes))
    cites.has_sorted_indices = True
    cites.has_canonical_format = True
    return Graph(nodes, cites, loops=len(pairs) - len(proper), doubles=len(proper) - len(keys))


def rows_of(rows: npt.ArrayLike | None, nodes: int, where: str) -> Rows:
    """Give ``rows`` (numbers or a mask) as ascending row numbers, each once; None means all.

    Raises InputError for rows outside 0 … nodes - 1.
    """
    if rows is None:
        return np.arange(nodes, dtype=np.int64)
    given = np.asarray(rows).ravel()
    some = np.sort(np.flatnonzero(given) if given.dtype == np.bool_ else given.astype(np.int64))
    if len(some) and not (some[0] >= 0 and some[-1] < nodes):
        raise InputError(f"row {some[0] if some[0] < 0 else some[-1]} of {nodes} papers", where)
    return some[np.diff(some, prepend=-1) > 0]
