"""SciMult's released checkpoints (``scimult_vanilla``, ``scimult_moe``): their names put into a BERT's.

Paper: arXiv 2305.14232. The files are those of a DPR trainer (convert_weights reads them): one encoder, written twice
as ``question_model.`` and ``ctx_model.``, whose every second layer holds one copy of the attention per task.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sectioncls.encoders.checkpoints.weights import read_weights
from sectioncls.encoders.conditioning.condition import condition
from sectioncls.encoders.encoder import Encoder
from sectioncls.errors import ModelError

__all__ = ["EXPERTS", "ScimultWeights", "scimult_encoder", "scimult_weights"]

# The experts' numbers in the released files, as the tasks that they were trained on.
EXPERTS = ("search", "proximity", "classification")

_SIDES = ("question_model.encoder.", "ctx_model.encoder.")
# Old names of a copied part, with the number of its copy, and what a plain BERT calls it.
_COPIES = (
    (re.compile(r"attention\.self\.moe_(query|key|value)\.(\d+)\."), r"attention.self.\1."),
    (re.compile(r"attention\.output\.moe_(dense)\.(\d+)\."), r"attention.output.\1."),
    (re.compile(r"moe_layer\.(interm)_layers\.(\d+)\."), r"intermediate."),
    (re.compile(r"moe_layer\.(output)_layers\.(\d+)\."), r"output."),
)
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)")


@dataclass(frozen=True, slots=True)
class ScimultWeights:
    """A BERT's weights by their usual names: what all tasks ``share``, and each expert's own, in the order of EXPERTS.

    ``kind`` is the conditioning that they make: ``none``, ``mha-experts`` or ``ffn-experts``.
    """

    kind: str
    shared: dict[str, Tensor]
    experts: tuple[dict[str, Tensor], ...]


def scimult_encoder(base: Encoder, weights: Path | str) -> Encoder:
    """Give ``base`` (PubMedBERT, pooled by [CLS]) with the weights of a released checkpoint, converted to safetensors.

    ``none`` or the experts, as the file has it; ``base`` stays as it is. Save the result with save_encoder to load it
    by name. Raises ModelError for a file of another kind or of another backbone.
    """
    path = Path(weights)
    read = scimult_weights(read_weights(path), path)
    model = copy.deepcopy(base.model)
    # Plain layers first: a checkpoint's experts go into the copies that the conditioning makes of them.
    _fill(model[0].auto_model, {**read.shared, **(read.experts[0] if read.experts else {})}, path)
    encoder = Encoder(model)
    if not read.experts:
        return encoder
    layers = sorted({_place(name)[0] for name in read.experts[0]})
    every, blocks = layers[0] + 1, len(encoder.backbone.encoder.layer)
    if layers != list(range(every - 1, blocks, every)):
        raise ModelError(f"has experts in the layers {layers} of {blocks}, which is not every n-th", path)
    encoder = condition(encoder, read.kind, tasks=EXPERTS, every=every)
    for task, expert in zip(EXPERTS, read.experts, strict=True):
        parts = {_place(name): tensor for name, tensor in expert.items()}
        for layer in layers:
            own = encoder.conditioning.experts[str(layer)][encoder.routes.index(task)]
            _fill(own, {part: tensor for (at, part), tensor in parts.items() if at == layer}, path)
    return encoder


def scimult_weights(weights: Mapping[str, Tensor], where: object = None) -> ScimultWeights:
    """Give the weights of a SciMult checkpoint under a BERT's names.

    The stored position ids, which newer libraries don't keep, are dropped. Raises ModelError when the two halves
    differ, experts are missing, or a name is not a BERT's.
    """
    first, second = (
        {name.removeprefix(side): tensor for name, tensor in weights.items() if name.startswith(side)}
        for side in _SIDES
    )
    if not first or len(first) + len(second) != len(weights):
        raise ModelError("is not a SciMult checkpoint (question_model.encoder.…, ctx_model.encoder.…)", where)
    if second and (first.keys() != second.keys() or any(not torch.equal(first[name], second[name]) for name in first)):
        raise ModelError("holds two different encoders; SciMult shares one between queries and candidates", where)
    first.pop("embeddings.position_ids", None)
    shared: dict[str, Tensor] = {}
    copies: dict[int, dict[str, Tensor]] = {}
    for name, tensor in first.items():
        number, plain = _plain(name)
        (shared if number is None else copies.setdefault(number, {}))[plain] = tensor
    if not copies:
        return ScimultWeights("none", shared, ())
    experts = tuple(copies.get(number, {}) for number in range(len(EXPERTS)))
    if len(copies) != len(EXPERTS) or any(expert.keys() != experts[0].keys() for expert in experts):
        raise ModelError(f"does not hold the same parts of {len(EXPERTS)} experts", where)
    kinds = {"mha-experts" if ".attention." in name else "ffn-experts" for name in experts[0]}
    if len(kinds) > 1:
        raise ModelError("holds experts of attention and FFN at once", where)
    return ScimultWeights(kinds.pop(), shared, experts)


def _plain(name: str) -> tuple[int | None, str]:
    """Give the number of the expert that a part belongs to (None where all share it), and its name in a BERT."""
    for pattern, plain in _COPIES:
        found = pattern.search(name)
        if found is not None:
            return int(found[2]), pattern.sub(plain, name)
    return None, name


def _fill(module: Any, weights: Mapping[str, Tensor], path: Path) -> None:
    """Put weights into a module whose parts bear these names; a pooler, which gives no vector of ours, may lack."""
    try:
        found = module.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise ModelError(f"belongs to another backbone: {str(error).splitlines()[-1].strip()}", path) from error
    strange = [*found.unexpected_keys, *(name for name in found.missing_keys if not name.startswith("pooler."))]
    if strange:
        raise ModelError(f"belongs to another backbone ({strange[0]})", path)


def _place(name: str) -> tuple[int, str]:
    """Give the layer of an expert's part, and what our experts call the part."""
    layer, part = _LAYER.fullmatch(name).groups()  # type: ignore[union-attr]
    if part.startswith("attention."):
        part = part.removeprefix("attention.").replace("output.dense.", "dense.", 1)
    return int(layer), part
