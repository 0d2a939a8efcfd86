"""Checkpoints that others released, read into our modules: SPECTER2's adapters, SciMult's experts."""

from sectioncls.encoders.checkpoints.adapterhub import AdapterWeights, Bottleneck, adapters_in, read_adapter
from sectioncls.encoders.checkpoints.scimult import EXPERTS, ScimultWeights, scimult_encoder, scimult_weights
from sectioncls.encoders.checkpoints.specter2 import adapter_folder, find_adapters, with_adapters
from sectioncls.encoders.checkpoints.weights import convert_weights, converting, read_weights

__all__ = [
    "EXPERTS",
    "AdapterWeights",
    "Bottleneck",
    "ScimultWeights",
    "adapter_folder",
    "adapters_in",
    "convert_weights",
    "converting",
    "find_adapters",
    "read_adapter",
    "read_weights",
    "scimult_encoder",
    "scimult_weights",
    "with_adapters",
]
