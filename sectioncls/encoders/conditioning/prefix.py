"""Prefix: as instruction, but a network of its own encodes the wording, and it alone is trained.

Paper: arXiv 2305.14232, section 3.3 (SciMult-Prefix, after prefix tuning, arXiv 2101.00190). The backbone stays as
it is.
"""

from __future__ import annotations

import copy
from typing import Any

from sectioncls.encoders.conditioning.instruction import Instruction

__all__ = ["Prefix"]


class Prefix(Instruction):
    """The wording of the task, encoded by a copy of the network that learns while the network itself does not.

    Options as for instruction. The copy lacks the last layer, whose states no layer would read.
    """

    name = "prefix"
    default_trains = "own"

    def __init__(self, bert: Any, routes: tuple[str, ...], wordings: dict[str, str], ids: dict[str, list[int]]) -> None:
        super().__init__(bert, routes, wordings, ids)
        self.embeddings = copy.deepcopy(bert.embeddings)
        self.encoder = copy.deepcopy(bert.encoder)
        self.encoder.layer = self.encoder.layer[:-1]

    def network(self, bert: Any) -> Any:
        """Give what encodes the wording: the copy."""
        return self
