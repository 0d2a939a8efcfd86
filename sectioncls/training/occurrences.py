"""Triples as training rows: every row is an *occurrence* of a text, tokenised once however often it occurs.

A contrastive objective over triples is ``objective(vectors, text, group, role)`` (see ``losses/infonce.py``): which
text a row is, the number of its triple, and what it is there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sectioncls.encoders import Batch, Tokens
from sectioncls.losses import NEGATIVE, POSITIVE, QUERY

__all__ = ["Occurrences", "occurrences_of"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Rows of ``tokens`` as they occur in triples, triple by triple: query, positive, negatives.

    ``places`` (n,) is the row of ``tokens`` that an occurrence is, ``text`` (n,) the identity of its text, ``group``
    (n,) its triple, ``role`` (n,) QUERY, POSITIVE or NEGATIVE. Triple t is the occurrences ``firsts[t]`` to
    ``firsts[t + 1]``.
    """

    tokens: Tokens
    places: Rows
    text: Rows
    group: Rows
    role: Rows
    firsts: Rows

    def __len__(self) -> int:
        return len(self.places)

    @property
    def lengths(self) -> Rows:
        """Tokens per occurrence, (n,)."""
        return self.tokens.lengths[self.places]

    @property
    def items(self) -> int:
        """The number of occurrences: each gives one vector."""
        return len(self.places)

    @property
    def targets(self) -> tuple[Tensor, Tensor, Tensor]:
        """The columns text, group and role, (n,) each, as a task's targets."""
        return torch.from_numpy(self.text), torch.from_numpy(self.group), torch.from_numpy(self.role)

    def members(self, rows: Rows) -> Rows:
        """Give the occurrences whose vectors the rows give: the rows themselves."""
        return rows

    def batch(self, rows: Rows) -> Batch:
        """Give the occurrences at ``rows`` as one batch."""
        return self.tokens.batch(self.places[rows])


def occurrences_of(
    tokens: Tokens, query: npt.ArrayLike, positive: npt.ArrayLike, negatives: npt.ArrayLike, text: npt.ArrayLike
) -> Occurrences:
    """Give the occurrences of n triples in order.

    ``query`` (n,), ``positive`` (n,) and ``negatives`` (n, k) are rows of ``tokens``, -1 an absent negative. ``text``
    (rows of tokens,) is the identity of each row's text: a paper that is tokenised once as a query and once as a
    document has the same in both, and so have two papers with the same words.
    """
    columns = [np.asarray(column, dtype=np.int64) for column in (query, positive)]
    matrix = np.column_stack([*columns, np.asarray(negatives, dtype=np.int64)])
    roles = np.full(matrix.shape[1], NEGATIVE, dtype=np.int64)
    roles[:2] = QUERY, POSITIVE
    there = matrix >= 0
    firsts = np.zeros(len(matrix) + 1, dtype=np.int64)
    np.cumsum(there.sum(1), out=firsts[1:])
    places = matrix[there]
    return Occurrences(
        tokens=tokens,
        places=places,
        text=np.asarray(text, dtype=np.int64)[places],
        group=np.repeat(np.arange(len(matrix), dtype=np.int64), np.diff(firsts)),
        role=np.broadcast_to(roles, matrix.shape)[there],
        firsts=firsts,
    )
