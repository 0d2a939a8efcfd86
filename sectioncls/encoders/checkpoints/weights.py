"""Weights of others: read from safetensors, converted to it once where they are published pickled.

Loading never opens a pickle. Old models of the hub (SciBERT, SPECTER, SPECTER2 and its adapters, SciMult) are published
as ``.bin`` or ``.ckpt`` only; ``convert_weights`` is the one place that reads these, and only when it is asked to, with
torch's restricted reader, which builds tensors, numbers and containers and calls nothing that the file names.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sectioncls.errors import ModelError
from sectioncls.staging import staged_file

__all__ = ["convert_weights", "converting", "pickled_in", "read_weights"]

# What a file's safetensors twin is called where a library looks for that name.
_TWINS = {"pytorch_model.bin": "model.safetensors", "pytorch_adapter.bin": "adapter.safetensors"}
_SUFFIXES = (".bin", ".ckpt", ".pt", ".pth")
# Under which key trainers keep the weights beside optimisers and settings; DPR's (SciMult) is the first.
_NESTS = ("model_dict", "state_dict", "model")


def read_weights(path: Path) -> dict[str, Tensor]:
    """Give the tensors of a safetensors file by name. Raises ModelError when it is missing, pickled or broken."""
    from safetensors.torch import load_file

    if path.suffix in _SUFFIXES:
        raise ModelError("holds pickled weights, which are not opened", path, converting(path))
    try:
        weights: dict[str, Tensor] = load_file(path)
    except Exception as error:  # safetensors raises errors of its own
        raise ModelError(f"can't be read: {error}", path) from error
    return weights


def convert_weights(source: Path | str, target: Path | str | None = None) -> list[Path]:
    """Write pickled weights as safetensors and give where; ``source`` is a file, or the folder of a model or adapter.

    ``target`` None puts each twin beside its source, under the name that libraries look for; of a folder all weights
    with a usual name are converted, those of the adapters in ``adapters/NAME`` too. Only tensors are kept: of a
    trainer's checkpoint the model's. Raises ModelError when a file holds anything but tensors, numbers and containers,
    or no tensors at all.
    """
    source = Path(source)
    if not source.is_dir():
        twin = source.with_name(_TWINS.get(source.name, f"{source.stem}.safetensors"))
        return [_convert(source, twin if target is None else Path(target))]
    found = [
        path for folder in (source, *sorted(source.glob("adapters/*"))) if (path := pickled_in(folder)) is not None
    ]
    if not found:
        raise ModelError("holds no pickled weights (pytorch_model.bin, pytorch_adapter.bin)", source)
    if target is not None:
        raise ModelError("the twins of a folder's weights lie beside them", source, "name no target, or one file")
    return [_convert(path, path.with_name(_TWINS[path.name])) for path in found]


def _convert(source: Path, target: Path) -> Path:
    from safetensors.torch import save_file

    try:
        held = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # the reader refuses in many ways
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"is not a plain file of weights: {reason}", source) from error
    weights = _tensors(held)
    if not weights:
        raise ModelError("holds no weights", source)
    with staged_file(target) as aside:
        # Tensors may share memory, which safetensors does not write.
        save_file({name: tensor.clone().contiguous() for name, tensor in weights.items()}, aside, {"format": "pt"})
    return target


def converting(path: Path) -> str:
    """Say how the pickled weights of ``path`` are converted."""
    return f'convert once: python -c "from sectioncls.encoders import convert_weights; convert_weights({str(path)!r})"'


def pickled_in(folder: Path) -> Path | None:
    """Give the pickled weights of a model's or adapter's folder, None where it holds none under a known name."""
    return next((folder / name for name in _TWINS if (folder / name).is_file()), None)


def _tensors(held: Any) -> dict[str, Tensor]:
    """Give the tensors of a state dict, or of the one that a trainer's checkpoint holds."""
    if not isinstance(held, Mapping):
        return {}
    for nest in _NESTS:
        if isinstance(held.get(nest), Mapping):
            held = held[nest]
            break
    return {str(name): value for name, value in held.items() if isinstance(value, Tensor)}
