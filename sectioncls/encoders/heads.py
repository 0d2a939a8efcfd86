"""What stands on top of the vectors while training, and is kept with the encoder: classifiers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.encoders.crf import LinearChain
from sectioncls.errors import ModelError
from sectioncls.staging import write_json

__all__ = ["CrfHead", "LinearHead", "balanced_weights", "load_head", "pad_sequences", "save_head"]

Vectors: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
Articles: TypeAlias = "Sequence[Ints] | None"

_FILE = "head.safetensors"
# Articles of a block, and sentences in it once all are as long as the longest: what bounds memory.
_ARTICLES = 256
_PLACES = 32_768


def balanced_weights(labels: npt.ArrayLike, classes: int) -> npt.NDArray[np.float64]:
    """Give for each class the weight that makes all classes of ``labels`` (n,) count alike, (classes,).

    The rows' weights have mean 1; a class without rows has weight 0. As scikit-learn's ``class_weight="balanced"``.
    """
    counts = np.bincount(np.asarray(labels), minlength=classes)
    there = np.count_nonzero(counts)
    weights: npt.NDArray[np.float64] = np.zeros(classes)
    np.divide(counts.sum(), there * counts, out=weights, where=counts > 0)
    return weights


class LinearHead(nn.Module):
    """Dropout and one linear layer on the vectors: the usual sentence classifier, trained by cross-entropy.

    ``forward(vectors, targets)`` gives the loss; ``predict`` gives class ids. ``labels`` names the classes in order.
    ``class_weights`` (classes,) weigh the rows of each class in the loss (see balanced_weights); None weighs all alike.
    """

    kind: ClassVar[str] = "linear"

    def __init__(
        self,
        dimension: int,
        labels: tuple[str, ...],
        dropout: float = 0.1,
        smoothing: float = 0.0,
        class_weights: npt.ArrayLike | None = None,
    ) -> None:
        super().__init__()
        self.labels = labels
        self.smoothing = smoothing
        given = None if class_weights is None else torch.as_tensor(np.asarray(class_weights, dtype=np.float32))
        self.class_weights: Tensor | None
        self.register_buffer("class_weights", given, persistent=False)  # the trained head does without
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(dimension, len(labels))
        # As BERT initialises its own classifiers; the default of torch starts several times larger.
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def forward(
        self,
        vectors: Tensor,
        targets: Tensor,
        weights: Tensor | None = None,
        allowed: Tensor | None = None,
        possible: Tensor | None = None,
    ) -> Tensor:
        """Give the mean cross-entropy of (B, dimension) vectors against (B,) class ids, weighted by (B,) weights.

        The mean is over the weights, those of the classes included.

        ``allowed`` (B, classes) are the classes that a row's label set has: the others get no probability and learn
        nothing from it. ``possible`` (B, classes) are those that may be the true one: they share the row's gain (the
        loss is -log of their summed probability, as usual for partial labels: Jin and Ghahramani, NIPS 2002).
        """
        logits = self.linear(self.dropout(vectors)).float()
        if allowed is None or possible is None:
            losses = nn.functional.cross_entropy(logits, targets, reduction="none", label_smoothing=self.smoothing)
        else:
            chances = logits.masked_fill(~allowed, -torch.inf).log_softmax(1)
            losses = -chances.masked_fill(~possible, -torch.inf).logsumexp(1)
            if self.smoothing:
                even = chances.masked_fill(~allowed, 0).sum(1) / allowed.sum(1)
                losses = (1 - self.smoothing) * losses - self.smoothing * even
        if self.class_weights is not None:
            own = self.class_weights[targets]
            weights = own if weights is None else own * weights
        return losses.mean() if weights is None else (losses * weights).sum() / weights.sum()

    def probabilities(self, vectors: Vectors, articles: Articles = None) -> Vectors:
        """Give the probability of each class for each vector, (n, classes)."""
        with torch.inference_mode():
            return torch.softmax(self._logits(vectors), 1).numpy()

    def predict(self, vectors: Vectors, articles: Articles = None) -> Ints:
        """Give the likeliest class id of each vector, (n,)."""
        with torch.inference_mode():
            return self._logits(vectors).argmax(1).numpy()

    @classmethod
    def with_weights(cls, labels: tuple[str, ...], weights: Mapping[str, Tensor]) -> Self:
        """Give a head that has the weights of another; its sizes are theirs. Raises KeyError, RuntimeError if unfit."""
        head = cls._of_size(labels, weights)
        head.load_state_dict(dict(weights))
        return head

    @classmethod
    def _of_size(cls, labels: tuple[str, ...], weights: Mapping[str, Tensor]) -> Self:
        return cls(weights["linear.weight"].shape[1], labels)

    def _logits(self, vectors: Vectors) -> Tensor:
        weight, bias = self.linear.weight.float().cpu(), self.linear.bias.float().cpu()
        return torch.from_numpy(vectors) @ weight.T + bias


class CrfHead(LinearHead):
    """The linear classifier with a chain over the labels of an article's sentences.

    ``articles`` are the rows of each article in order; rows that are in none are articles of one sentence.
    """

    kind: ClassVar[str] = "crf"

    def __init__(self, dimension: int, labels: tuple[str, ...], dropout: float = 0.1) -> None:
        super().__init__(dimension, labels, dropout)
        self.chain = LinearChain(len(labels))

    def forward(  # type: ignore[override]
        self, vectors: Tensor, targets: Tensor, sequences: Tensor | None = None
    ) -> Tensor:
        """Give the negative log-likelihood per sentence of (B, dimension) vectors against (B,) class ids.

        ``sequences`` (B,) names the article of each row; neighbouring rows of one article are a sequence.
        """
        if sequences is None:
            sequences = torch.zeros_like(targets)
        bounds = torch.nn.functional.pad((sequences[1:] != sequences[:-1]).nonzero().squeeze(1) + 1, (1, 0))
        lengths = torch.diff(bounds, append=bounds.new_tensor([len(targets)]))
        mask = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
        wanted = targets.new_zeros(mask.shape)
        wanted[mask] = targets
        return -self.chain.log_likelihood(self._emissions(vectors, mask), wanted, mask).sum() / len(targets)

    def _emissions(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Give the scores of labels, (S, T, K), of the vectors of S sequences that lie end to end."""
        return pad_sequences(self.linear(self.dropout(vectors)).float(), mask)

    def probabilities(self, vectors: Vectors, articles: Articles = None) -> Vectors:
        """Give the probability of each class for each vector, summed over all label sequences of its article."""
        result = np.zeros((len(vectors), len(self.labels)), dtype=np.float32)
        with torch.inference_mode():
            for rows, emissions, mask in self._sequences(vectors, articles):
                result[rows] = self.chain.marginals(emissions, mask)[mask].cpu().numpy()
        return result

    def predict(self, vectors: Vectors, articles: Articles = None) -> Ints:
        """Give the class ids of the likeliest label sequence of each article, (n,)."""
        result = np.zeros(len(vectors), dtype=np.int64)
        with torch.inference_mode():
            for rows, emissions, mask in self._sequences(vectors, articles):
                result[rows] = self.chain.decode(emissions, mask)[mask].cpu().numpy()
        return result

    def _sequences(self, vectors: Vectors, articles: Articles) -> Iterator[tuple[Ints, Tensor, Tensor]]:
        """Give blocks of articles of like length: their rows end to end, emissions and mask."""
        place, was_training = self.linear.weight.device, self.training
        self.eval()
        try:
            for block in _blocks(articles if articles is not None else [], len(vectors)):
                lengths = torch.tensor([len(rows) for rows in block])
                mask = (torch.arange(int(lengths.max())) < lengths[:, None]).to(place)
                rows = np.concatenate(block)
                yield rows, self._emissions(torch.from_numpy(vectors[rows]).to(place), mask), mask
        finally:
            self.train(was_training)


def pad_sequences(rows: Tensor, mask: Tensor) -> Tensor:
    """Give rows (N, D) of sequences that lie end to end as (S, T, D), zero where ``mask`` (S, T) is false."""
    padded = rows.new_zeros(*mask.shape, rows.shape[1])
    padded[mask] = rows
    return padded


def _blocks(articles: Sequence[Ints], count: int) -> Iterator[list[Ints]]:
    """Give all rows as articles, sorted by length, some hundred at a time."""
    alone = np.setdiff1d(np.arange(count), np.concatenate(articles) if articles else np.zeros(0, dtype=np.int64))
    block: list[Ints] = []
    for rows in sorted([*(rows for rows in articles if len(rows)), *alone[:, None]], key=len):
        if block and (len(block) == _ARTICLES or (len(block) + 1) * len(rows) > _PLACES):
            yield block
            block = []
        block.append(rows)
    if block:
        yield block


def _kind(name: str) -> type[LinearHead]:
    from sectioncls.encoders.sequence import SequenceHead  # which is made of what stands above

    return {kind.kind: kind for kind in (LinearHead, CrfHead, SequenceHead)}[name]


def save_head(head: LinearHead, folder: Path) -> None:
    """Write the head beside the encoder, as safetensors and JSON."""
    from safetensors.torch import save_file

    save_file({name: tensor.contiguous() for name, tensor in head.state_dict().items()}, folder / _FILE)
    write_json(folder / "head.json", {"kind": head.kind, "labels": list(head.labels)})


def load_head(folder: Path) -> LinearHead | None:
    """Give the head that was saved in ``folder``, None where there is none."""
    from safetensors.torch import load_file

    if not (folder / _FILE).is_file():
        return None
    try:
        facts = json.loads((folder / "head.json").read_text(encoding="utf-8"))
        head = _kind(facts["kind"]).with_weights(tuple(facts["labels"]), load_file(folder / _FILE))
    except Exception as error:  # safetensors raises its own type outside OSError and ValueError
        raise ModelError("the classifier's head can't be read", folder / _FILE) from error
    return head.eval()
