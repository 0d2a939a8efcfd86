"""Masked words as a task: each is a span of one token, so that the training loop needs to know nothing of it.

Paper: arXiv 1810.04805 (BERT), section 3.1: 15 % of the tokens are told; of these 80 % read [MASK], 10 % a random
token, 10 % stay. Drawn once a training, as in its public code. The head starts as the matrix of words, free of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.encoders import Encoder, Tokens, Windows
from sectioncls.errors import UsageError
from sectioncls.losses import TaskHead

__all__ = ["masked_head", "masked_words"]

_SHARE = 0.15
_MASKED, _RANDOM = 0.8, 0.9


def masked_words(tokens: Tokens, encoder: Encoder, seed: int) -> tuple[Windows, torch.Tensor]:
    """Give the rows of ``tokens`` with words masked and these as spans, and the token ids that they were, (words,).

    Every row has at least one word to tell. Raises UsageError for an encoder that is told its task, or has no mask.
    """
    mask = encoder.model.tokenizer.mask_token_id
    if encoder.conditioning is not None:
        raise UsageError("masked words have no route", todo="train mlm on conditioning none, before the others")
    if mask is None:
        raise UsageError("the tokenizer has no mask", todo="leave out mlm")
    random = np.random.default_rng((seed, 4))
    special = np.isin(tokens.ids, encoder.model.tokenizer.all_special_ids)
    # The lowest 15 % of a row's draws are masked; special tokens draw last.
    draws = np.where(special, 2.0, random.random(len(tokens.ids)))
    chosen: list[npt.NDArray[np.int64]] = []
    for begin, end in zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True):
        own = draws[begin:end]
        count = min(max(1, round(_SHARE * int((own < 1).sum()))), end - begin)
        chosen.append(begin + np.sort(np.argpartition(own, count - 1)[:count]))
    places = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    counts = np.array([len(own) for own in chosen], dtype=np.int64)
    firsts = np.concatenate(([0], np.cumsum(counts)))
    ids = tokens.ids.copy()
    how = random.random(len(places))
    ids[places[how < _MASKED]] = mask
    swapped = places[(how >= _MASKED) & (how < _RANDOM)]
    ids[swapped] = random.integers(_vocabulary(encoder), size=len(swapped))
    starts = places - np.repeat(tokens.offsets[:-1], counts)
    spans = np.stack((starts, starts + 1), axis=1)
    rows = Windows(ids, np.asarray(tokens.offsets, dtype=np.int64), spans, np.arange(len(places)), firsts)
    return rows, torch.from_numpy(tokens.ids[places].astype(np.int64))


def masked_head(encoder: Encoder) -> TaskHead:
    """Give the layer that tells a token by its vector; it starts as the encoder's matrix of words."""
    head = TaskHead(encoder.dimension, _vocabulary(encoder), "ce", dropout=0.0)
    words = encoder.backbone.get_input_embeddings().weight
    if words.shape == head.linear.weight.shape:
        with torch.no_grad():
            head.linear.weight.copy_(words)
    return head


def _vocabulary(encoder: Encoder) -> int:
    return int(encoder.backbone.get_input_embeddings().weight.shape[0])
