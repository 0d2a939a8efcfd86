"""Conditioning: how an encoder is told its task."""

from sectioncls.encoders.conditioning.backbone import ConditionedBert, ConditionedBertConfig
from sectioncls.encoders.conditioning.condition import condition
from sectioncls.encoders.conditioning.ensemble import EnsembleBert, EnsembleConfig, ensemble
from sectioncls.encoders.conditioning.hooks import Conditioning
from sectioncls.encoders.conditioning.kinds import CONDITIONINGS

__all__ = [
    "CONDITIONINGS",
    "ConditionedBert",
    "ConditionedBertConfig",
    "Conditioning",
    "EnsembleBert",
    "EnsembleConfig",
    "condition",
    "ensemble",
]
