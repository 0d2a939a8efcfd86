"""A head that reads the vectors of an article's sentences in order: BiLSTM, linear layer, chain over the labels.

The upper half of the hierarchical sequential labelling network (HSLN: arXiv 1808.06161, Jin and Szolovits), on vectors
that an encoder gave once and for all. It learns in seconds an epoch, since no text is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from sectioncls.encoders.heads import CrfHead, pad_sequences

__all__ = ["ArticleReader", "SequenceHead"]


class ArticleReader(nn.Module):
    """A bidirectional LSTM over sentence vectors; several heads may share one (arXiv 2102.06008, Brack et al.).

    ``forward`` takes vectors (N, dimension) of sequences that lie end to end and ``mask`` (S, T), true where a sentence
    stands, from the left of each row; gives (N, 2 x hidden). A sentence sees its own sequence only.
    """

    def __init__(self, dimension: int, hidden: int = 128, dropout: float = 0.3) -> None:
        super().__init__()
        # Unit vectors of some hundred dimensions are near zero in each of them, where an LSTM hardly moves.
        self.norm = nn.LayerNorm(dimension)
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(dimension, hidden, batch_first=True, bidirectional=True)

    @property
    def width(self) -> int:
        """The dimension of what it gives."""
        return 2 * self.lstm.hidden_size

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Give each sentence's vector in its context, (N, width), in the order of ``vectors``."""
        padded = pad_sequences(self.dropout(self.norm(vectors.float())), mask)
        lengths = mask.sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        found, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return torch.as_tensor(found[mask])


class SequenceHead(CrfHead):
    """A CRF head on what ``reader`` makes of an article's vectors; saved and loaded as kind ``hsln``.

    ``predict`` and ``probabilities`` take the encoder's vectors and the rows of each article in order, as CrfHead; rows
    that are in no article are articles of one sentence.
    """

    kind: ClassVar[str] = "hsln"

    def __init__(self, reader: ArticleReader, labels: tuple[str, ...], dropout: float = 0.3) -> None:
        super().__init__(reader.width, labels, dropout)
        self.reader = reader

    @classmethod
    def _of_size(cls, labels: tuple[str, ...], weights: Mapping[str, Tensor]) -> Self:
        dimension, hidden = weights["reader.norm.weight"].shape[0], weights["reader.lstm.weight_hh_l0"].shape[1]
        return cls(ArticleReader(dimension, hidden), labels)

    def _emissions(self, vectors: Tensor, mask: Tensor) -> Tensor:
        return super()._emissions(self.reader(vectors, mask), mask)
