"""What stands on top of the vectors while training, and is kept with the encoder: a linear classifier."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.errors import ModelError
from sectioncls.staging import write_json

__all__ = ["LinearHead", "load_head", "save_head"]

_FILE = "head.safetensors"


class LinearHead(nn.Module):
    """Dropout and one linear layer on the vectors: the usual sentence classifier, trained by cross-entropy.

    ``forward(vectors, targets)`` gives the loss; ``predict`` gives class ids. ``labels`` names the classes in order.
    """

    def __init__(self, dimension: int, labels: tuple[str, ...], dropout: float = 0.1, smoothing: float = 0.0) -> None:
        super().__init__()
        self.labels = labels
        self.smoothing = smoothing
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(dimension, len(labels))
        # As BERT initialises its own classifiers; the default of torch starts several times larger.
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def forward(self, vectors: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        """Give the mean cross-entropy of (B, dimension) vectors against (B,) class ids, weighted by (B,) weights."""
        logits = self.linear(self.dropout(vectors)).float()
        losses = nn.functional.cross_entropy(logits, targets, reduction="none", label_smoothing=self.smoothing)
        return losses.mean() if weights is None else (losses * weights).sum() / weights.sum()

    def predict(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Give the likeliest class id of each vector, (n,)."""
        with torch.inference_mode():
            weight, bias = self.linear.weight.float().cpu(), self.linear.bias.float().cpu()
            return (torch.from_numpy(vectors) @ weight.T + bias).argmax(1).numpy()


def save_head(head: LinearHead, folder: Path) -> None:
    """Write the head beside the encoder, as safetensors and JSON."""
    from safetensors.torch import save_file

    save_file({name: tensor.contiguous() for name, tensor in head.state_dict().items()}, folder / _FILE)
    write_json(folder / "head.json", {"kind": "linear", "labels": list(head.labels)})


def load_head(folder: Path) -> LinearHead | None:
    """Give the head that was saved in ``folder``, None where there is none."""
    from safetensors.torch import load_file

    if not (folder / _FILE).is_file():
        return None
    try:
        labels = tuple(json.loads((folder / "head.json").read_text(encoding="utf-8"))["labels"])
        weights = load_file(folder / _FILE)
        head = LinearHead(weights["linear.weight"].shape[1], labels)
        head.load_state_dict(weights)
    except Exception as error:  # safetensors raises its own type outside OSError and ValueError
        raise ModelError("the classifier's head can't be read", folder / _FILE) from error
    return head.eval()
