"""Heads of tasks with labels or numbers: one a task, dropped after training, so that only the vectors learn from them.

Paper: arXiv 2211.13308 (SciRepEval), section 4 and its public code: dropout 0.2 and one linear layer from N(0, 0.02);
cross-entropy for one label a paper, binary cross-entropy for several, mean squared error for numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

__all__ = ["HeadLoss", "TaskHead"]

HeadLoss: TypeAlias = Literal["ce", "bce", "mse", "vector"]


def _mse(outputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.mse_loss(outputs.squeeze(1), targets.to(outputs.dtype))


def _vector(outputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.mse_loss(outputs, targets.to(outputs.dtype))


def _bce(outputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(outputs, targets.to(outputs.dtype))


_LOSSES: dict[HeadLoss, Callable[[Tensor, Tensor], Tensor]] = {
    "ce": nn.functional.cross_entropy,
    "bce": _bce,
    "mse": _mse,
    "vector": _vector,
}


class TaskHead(nn.Module):
    """Dropout and one linear layer to ``outputs`` numbers, and the mean loss of these.

    ``forward(vectors, targets)``: ``ce`` takes (B,) class ids; ``bce`` (B, outputs) of 0 and 1, the mean is over labels
    as well; ``mse`` (B,) numbers with one output, which should be standardised; ``vector`` (B, outputs) numbers, the
    mean is over them as well.
    """

    def __init__(self, dimension: int, outputs: int, loss: HeadLoss, dropout: float = 0.2) -> None:
        super().__init__()
        if loss == "mse" and outputs != 1:
            raise ValueError(f"a head of numbers has one output, not {outputs}")
        self.loss: HeadLoss = loss
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(dimension, outputs)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def forward(self, vectors: Tensor, targets: Tensor) -> Tensor:
        """Give the mean loss of (B, dimension) vectors, in float32."""
        return _LOSSES[self.loss](self.linear(self.dropout(vectors)).float(), targets)

    def outputs(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Give what the layer makes of (n, dimension) vectors without dropout, (n, outputs)."""
        with torch.inference_mode():
            weight, bias = self.linear.weight.float().cpu(), self.linear.bias.float().cpu()
            return (torch.from_numpy(vectors) @ weight.T + bias).numpy()
