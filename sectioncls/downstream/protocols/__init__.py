"""Named settings of an evaluation: one file per protocol, one line here."""

from __future__ import annotations

from sectioncls.downstream.protocols.default import DEFAULT
from sectioncls.downstream.protocols.mdcr import MDCR
from sectioncls.downstream.protocols.paper import PAPER
from sectioncls.downstream.protocols.papers import DEFAULT_PAPERS, PaperProtocol
from sectioncls.downstream.protocols.protocol import ENGINES, Protocol, length_order, row_order
from sectioncls.downstream.protocols.scidocs import SCIDOCS
from sectioncls.downstream.protocols.scimult import SCIMULT
from sectioncls.downstream.protocols.scirepeval import SCIREPEVAL
from sectioncls.downstream.protocols.tuned import TUNED

__all__ = [
    "DEFAULT",
    "ENGINES",
    "PAPER",
    "PAPER_PROTOCOLS",
    "PROTOCOLS",
    "TUNED",
    "PaperProtocol",
    "Protocol",
    "length_order",
    "row_order",
]

PROTOCOLS: dict[str, Protocol] = {"paper": PAPER, "default": DEFAULT, "tuned": TUNED}
"""Protocols of sentence encoders."""

PAPER_PROTOCOLS: dict[str, PaperProtocol] = {
    "default": DEFAULT_PAPERS,
    "scidocs": SCIDOCS,
    "scirepeval": SCIREPEVAL,
    "scimult": SCIMULT,
    "mdcr": MDCR,
}
"""Protocols of paper encoders."""
