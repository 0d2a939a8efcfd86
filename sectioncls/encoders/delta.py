"""Training a few weights only, and keeping just these: BitFit and LoRA.

Papers: arXiv 2106.10199 (BitFit: biases alone); arXiv 2106.09685 (LoRA: low-rank additions to the linear layers, by
the library peft). A delta is a folder with ``delta.safetensors`` and ``delta.json``, which names the encoder below it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from sectioncls.encoders.encoder import Encoder
from sectioncls.errors import ModelError, UsageError
from sectioncls.staging import write_json

__all__ = [
    "Tune",
    "apply_delta",
    "delta_of",
    "fingerprint",
    "fold_delta",
    "read_delta_facts",
    "save_delta",
    "tune_only",
]

Tune = Literal["all", "bitfit", "lora"]

_WEIGHTS, _FACTS = "delta.safetensors", "delta.json"


def tune_only(encoder: Encoder, how: Tune, rank: int = 16) -> None:
    """Leave only the weights of ``how`` trainable: all, the biases, or new low-rank additions of ``rank``.

    LoRA starts as the encoder itself: its second factors are zero. Raises UsageError where no layer fits.
    """
    if how == "all":
        return
    backbone = encoder.backbone
    if how == "lora":
        from peft import LoraConfig, inject_adapter_in_model

        names = sorted({name.rpartition(".")[2] for name, part in backbone.named_modules() if type(part) is nn.Linear})
        if not names:
            raise UsageError("the model has no linear layer for LoRA", todo="train with --tune all")
        config = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=names)
        inject_adapter_in_model(config, backbone)
    for name, weight in backbone.named_parameters():
        weight.requires_grad_("lora_" in name if how == "lora" else name.endswith("bias"))


def delta_of(encoder: Encoder) -> dict[str, Tensor]:
    """Give the trainable weights of the backbone by name."""
    return {name: w.detach().clone() for name, w in encoder.backbone.named_parameters() if w.requires_grad}


def fold_delta(encoder: Encoder) -> None:
    """Add LoRA's products to the weights that they stand beside: a plain encoder again, with the same vectors."""
    if not any("lora_" in name for name, _ in encoder.backbone.named_parameters()):
        return
    from peft.tuners.lora import LoraLayer

    for name, part in list(encoder.backbone.named_modules()):
        if isinstance(part, LoraLayer):
            part.merge()
            parent, _, own = name.rpartition(".")
            setattr(encoder.backbone.get_submodule(parent), own, part.get_base_layer())


def fingerprint(encoder: Encoder) -> str:
    """Give a SHA-256 of all weights of the backbone, by name and value."""
    digest = hashlib.sha256()
    for name, weight in sorted(encoder.backbone.named_parameters()):
        digest.update(f"{name} {tuple(weight.shape)} ".encode())
        digest.update(weight.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_delta(weights: dict[str, Tensor], folder: Path, facts: dict[str, Any]) -> None:
    """Write a delta into an existing folder; ``facts`` hold base, sha256, tune, rank and pooling."""
    from safetensors.torch import save_file

    save_file({name: weight.contiguous().cpu() for name, weight in weights.items()}, folder / _WEIGHTS)
    write_json(folder / _FACTS, facts)


def read_delta_facts(folder: Path) -> dict[str, Any] | None:
    """Give what ``delta.json`` says, None for a folder without. Raises ModelError when it can't be read."""
    path = folder / _FACTS
    if not path.is_file():
        return None
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        return {key: facts[key] for key in ("base", "sha256", "tune", "rank", "pooling")}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError("is not the description of a delta", path) from error


def apply_delta(encoder: Encoder, folder: Path, facts: dict[str, Any]) -> None:
    """Change ``encoder``, the delta's base, into what was trained.

    Raises ModelError for another backbone than the one it was trained on, or weights that don't fit.
    """
    from safetensors.torch import load_file

    if fingerprint(encoder) != facts["sha256"]:
        raise ModelError(f"the delta belongs to other weights than those of {facts['base']}", folder)
    try:
        tune_only(encoder, facts["tune"], int(facts["rank"]))
        weights = load_file(folder / _WEIGHTS)
        own = {name: weight for name, weight in encoder.backbone.named_parameters() if weight.requires_grad}
        if own.keys() != weights.keys():
            raise ValueError("other names")
        with torch.no_grad():
            for name, weight in own.items():
                weight.copy_(weights[name])
    except Exception as error:  # safetensors and peft raise errors of their own
        raise ModelError(f"the delta can't be applied: {error}", folder) from error
    fold_delta(encoder)
    encoder.backbone.requires_grad_(True)
