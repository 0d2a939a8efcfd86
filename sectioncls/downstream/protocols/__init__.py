"""Named settings of an evaluation: one file per protocol, one line here."""

from __future__ import annotations

from sectioncls.downstream.protocols.default import DEFAULT
from sectioncls.downstream.protocols.paper import PAPER
from sectioncls.downstream.protocols.protocol import Protocol, length_order, row_order

__all__ = ["DEFAULT", "PAPER", "PROTOCOLS", "Protocol", "length_order", "row_order"]

PROTOCOLS: dict[str, Protocol] = {"paper": PAPER, "default": DEFAULT}
