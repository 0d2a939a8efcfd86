"""A checkpoint: one safetensors file with weights, optimiser, random state and position; exact at any step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sectioncls.errors import InputError
from sectioncls.staging import staged_file
from sectioncls.training.fit import State

__all__ = ["load_checkpoint", "peek_checkpoint", "save_checkpoint"]

_KEY = "sectioncls"
_FORMAT = 1


_AGAIN = "start again without --resume"


def save_checkpoint(state: State, path: Path) -> None:
    """Write ``state`` whole or not at all, replacing the last checkpoint at ``path``."""
    from safetensors.torch import save_file

    tensors = dict(_weights(state))
    for index, weight in enumerate(_parameters(state)):
        for name, value in state.optimiser.state.get(weight, {}).items():
            tensors[f"optimiser.{index}.{name}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    facts = json.dumps({"format": _FORMAT, "step": state.step, "extra": state.extra})
    with staged_file(path) as aside:
        save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, aside, {_KEY: facts})


def peek_checkpoint(path: Path) -> dict[str, Any]:
    """Give the step and the caller's ``extra`` of a checkpoint without loading its weights."""
    from safetensors import safe_open

    try:
        with safe_open(path, framework="pt") as stream:
            facts: Any = json.loads((stream.metadata() or {})[_KEY])
    except Exception as error:  # safetensors raises its own type outside OSError and ValueError
        raise InputError("is not a checkpoint of ours", path, _AGAIN) from error
    if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
        raise InputError("was written by another version of sectioncls", path, _AGAIN)
    return facts


def load_checkpoint(state: State, path: Path) -> None:
    """Bring ``state`` to where it was when ``path`` was written: weights, optimiser, random state, step, extra."""
    from safetensors.torch import load_file

    facts = peek_checkpoint(path)
    tensors = load_file(path)
    own = _weights(state)
    if any(name not in tensors or tensors[name].shape != value.shape for name, value in own.items()):
        raise InputError("belongs to another model", path, _AGAIN)
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(tensors[name])
    for index, weight in enumerate(_parameters(state)):
        prefix = f"optimiser.{index}."
        kept = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
        if kept:
            # The fused AdamW keeps its step count beside the weight.
            state.optimiser.state[weight] = {name: value.to(weight.device) for name, value in kept.items()}
    torch.set_rng_state(tensors["random.cpu"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    state.step = int(facts["step"])
    state.extra = dict(facts["extra"])


def _weights(state: State) -> dict[str, Tensor]:
    """Give every weight of encoder and objectives under a name of its own."""
    named: dict[str, Tensor] = {f"encoder.{name}": weight for name, weight in state.encoder.named_parameters()}
    named.update({f"objective.{name}": weight for name, weight in state.objectives.named_parameters()})
    return named


def _parameters(state: State) -> list[Tensor]:
    return [weight for group in state.optimiser.param_groups for weight in group["params"]]
