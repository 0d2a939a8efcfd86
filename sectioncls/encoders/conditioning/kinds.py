"""The table of conditionings: a new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from sectioncls.encoders.conditioning.adapters import Adapters
from sectioncls.encoders.conditioning.control_codes import ControlCodes
from sectioncls.encoders.conditioning.experts import FfnExperts, MhaExperts
from sectioncls.encoders.conditioning.fusion import Fusion
from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.conditioning.instruction import Instruction
from sectioncls.encoders.conditioning.pals import Pals
from sectioncls.encoders.conditioning.prefix import Prefix

__all__ = ["CONDITIONINGS"]

CONDITIONINGS: Mapping[str, type[Conditioning]] = {
    "control-codes": ControlCodes,
    "adapters": Adapters,
    "fusion": Fusion,
    "pals": Pals,
    "mha-experts": MhaExperts,
    "ffn-experts": FfnExperts,
    "instruction": Instruction,
    "prefix": Prefix,
}
