"""What stands on top of the vectors while training, and is kept with the encoder: classifiers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.encoders.crf import LinearChain
from sectioncls.errors import ModelError
from sectioncls.staging import write_json

__all__ = ["CrfHead", "LinearHead", "load_head", "save_head"]

Vectors: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
Articles: TypeAlias = "Sequence[Ints] | None"

_FILE = "head.safetensors"
_ARTICLES = 256


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

    def probabilities(self, vectors: Vectors, articles: Articles = None) -> Vectors:
        """Give the probability of each class for each vector, (n, classes)."""
        with torch.inference_mode():
            return torch.softmax(self._logits(vectors), 1).numpy()

    def predict(self, vectors: Vectors, articles: Articles = None) -> Ints:
        """Give the likeliest class id of each vector, (n,)."""
        with torch.inference_mode():
            return self._logits(vectors).argmax(1).numpy()

    def _logits(self, vectors: Vectors) -> Tensor:
        weight, bias = self.linear.weight.float().cpu(), self.linear.bias.float().cpu()
        return torch.from_numpy(vectors) @ weight.T + bias


class CrfHead(LinearHead):
    """The linear classifier with a chain over the labels of an article's sentences.

    ``articles`` are the rows of each article in order; rows that are in none are articles of one sentence.
    """

    def __init__(self, dimension: int, labels: tuple[str, ...], dropout: float = 0.1) -> None:
        super().__init__(dimension, labels, dropout)
        self.chain = LinearChain(len(labels))

    def forward(self, vectors: Tensor, targets: Tensor, sequences: Tensor | None = None) -> Tensor:
        """Give the negative log-likelihood per sentence of (B, dimension) vectors against (B,) class ids.

        ``sequences`` (B,) names the article of each row; neighbouring rows of one article are a sequence.
        """
        logits = self.linear(self.dropout(vectors)).float()
        if sequences is None:
            sequences = torch.zeros_like(targets)
        bounds = torch.nn.functional.pad((sequences[1:] != sequences[:-1]).nonzero().squeeze(1) + 1, (1, 0))
        lengths = torch.diff(bounds, append=bounds.new_tensor([len(targets)]))
        mask = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
        padded = logits.new_zeros(*mask.shape, logits.shape[1])
        padded[mask] = logits
        wanted = targets.new_zeros(mask.shape)
        wanted[mask] = targets
        return -self.chain.log_likelihood(padded, wanted, mask).sum() / len(targets)

    def probabilities(self, vectors: Vectors, articles: Articles = None) -> Vectors:
        """Give the probability of each class for each vector, summed over all label sequences of its article."""
        result = np.zeros((len(vectors), len(self.labels)), dtype=np.float32)
        for rows, emissions, mask in self._sequences(vectors, articles):
            result[rows] = self.chain.marginals(emissions, mask)[mask].numpy()
        return result

    def predict(self, vectors: Vectors, articles: Articles = None) -> Ints:
        """Give the class ids of the likeliest label sequence of each article, (n,)."""
        result = np.zeros(len(vectors), dtype=np.int64)
        for rows, emissions, mask in self._sequences(vectors, articles):
            result[rows] = self.chain.decode(emissions, mask)[mask].numpy()
        return result

    def _sequences(self, vectors: Vectors, articles: Articles) -> Iterator[tuple[Ints, Tensor, Tensor]]:
        """Give blocks of articles of like length: their rows end to end, emissions and mask."""
        with torch.inference_mode():
            logits = self._logits(vectors)
            for block in _blocks(articles if articles is not None else [], len(vectors)):
                lengths = torch.tensor([len(rows) for rows in block])
                mask = torch.arange(int(lengths.max())) < lengths[:, None]
                padded = logits.new_zeros(*mask.shape, logits.shape[1])
                rows = np.concatenate(block)
                padded[mask] = logits[torch.from_numpy(rows)]
                yield rows, padded, mask


def _blocks(articles: Sequence[Ints], count: int) -> Iterator[list[Ints]]:
    """Give all rows as articles, sorted by length, some hundred at a time."""
    alone = np.setdiff1d(np.arange(count), np.concatenate(articles) if articles else np.zeros(0, dtype=np.int64))
    every = sorted([*(rows for rows in articles if len(rows)), *alone[:, None]], key=len)
    for first in range(0, len(every), _ARTICLES):
        yield every[first : first + _ARTICLES]


_KINDS: dict[str, type[LinearHead]] = {"linear": LinearHead, "crf": CrfHead}


def save_head(head: LinearHead, folder: Path) -> None:
    """Write the head beside the encoder, as safetensors and JSON."""
    from safetensors.torch import save_file

    save_file({name: tensor.contiguous() for name, tensor in head.state_dict().items()}, folder / _FILE)
    kind = "crf" if isinstance(head, CrfHead) else "linear"
    write_json(folder / "head.json", {"kind": kind, "labels": list(head.labels)})


def load_head(folder: Path) -> LinearHead | None:
    """Give the head that was saved in ``folder``, None where there is none."""
    from safetensors.torch import load_file

    if not (folder / _FILE).is_file():
        return None
    try:
        facts = json.loads((folder / "head.json").read_text(encoding="utf-8"))
        weights = load_file(folder / _FILE)
        head = _KINDS[facts["kind"]](weights["linear.weight"].shape[1], tuple(facts["labels"]))
        head.load_state_dict(weights)
    except Exception as error:  # safetensors raises its own type outside OSError and ValueError
        raise ModelError("the classifier's head can't be read", folder / _FILE) from error
    return head.eval()
