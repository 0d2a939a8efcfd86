"""From an encoder to a table of token vectors: model2vec's way, then fitted to what the encoder says of sentences.

Every word of the tokenizer goes through the encoder alone; principal components shorten its vector; a weight makes
frequent words small (smooth inverse frequency: Arora et al., ICLR 2017; model2vec takes the frequency from the rank by
Zipf's law). With sentences, the table is then moved, as little as needed, to where its means are the encoder's vectors
of these sentences: a ridge regression from bags of words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.encoders.encode import encode_batches
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.tokens import Tokens
from sectioncls.errors import ModelError, UsageError

__all__ = ["Axes", "bag_means", "fit_table", "main_axes", "sif_weights", "token_table", "word_counts"]

Floats = npt.NDArray[np.float32]
Axes = tuple[Floats, Floats]
"""A mean, (dimension,), and orthonormal directions, (dimension, dims): ``(vectors - mean) @ directions``."""

# Steps of the conjugate gradients: enough that two more change no digit that a score shows.
_STEPS = 20


def token_table(encoder: Encoder, advance: Callable[[int], None] = lambda count: None) -> Floats:
    """Give the encoder's vector of every word of its tokenizer, (words, dimension); special words get zeros.

    Raises ModelError for an encoder of several tasks, or a tokenizer without a fast form.
    """
    tokenizer = encoder.model.tokenizer
    if encoder.conditioning is not None or not getattr(tokenizer, "is_fast", False):
        raise ModelError("only a plain encoder with a fast tokenizer can be distilled")
    size = tokenizer.backend_tokenizer.get_vocab_size()
    words = np.setdiff1d(np.arange(size), np.asarray(tokenizer.all_special_ids, dtype=np.int64))
    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    around = [[] if mark is None else [mark] for mark in (first, last)]
    ids = np.concatenate([np.asarray([*around[0], word, *around[1]], dtype=np.int32) for word in words])
    width = len(ids) // len(words)
    rows = Tokens(ids, np.arange(len(words) + 1, dtype=np.int64) * width)
    table = np.zeros((size, encoder.dimension), dtype=np.float32)
    for part, vectors in encode_batches(encoder, rows):
        table[words[part]] = vectors
        advance(len(part))
    return table


def main_axes(vectors: Floats, dims: int) -> Axes:
    """Give the mean and the first ``dims`` principal axes of ``vectors`` (n, dimension).

    The sign of an axis is the one that makes its largest part positive, so that the same vectors give the same axes.
    Raises UsageError for more axes than the vectors have.
    """
    if not 1 <= dims <= min(vectors.shape):
        raise UsageError(f"{dims} dimensions can't be had of {vectors.shape[1]}", todo="choose fewer: --dims")
    mean = vectors.mean(0, dtype=np.float64)
    centred = vectors.astype(np.float64) - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :dims]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(dims)])
    return mean.astype(np.float32), axes.astype(np.float32)


def sif_weights(counts: npt.NDArray[np.int64] | None, size: int, smoothing: float = 1e-4) -> Floats:
    """Give the weight a / (a + p) of each of ``size`` words, p its share of all tokens.

    ``counts`` (size,) are the words of some sentences, each taken once more; without, p falls with the word's number as
    Zipf's law has it, as tokenizers number words by frequency.
    """
    known = 1 / np.arange(2, size + 2) if counts is None else counts + 1.0
    share = known / known.sum()
    weights: Floats = (smoothing / (smoothing + share)).astype(np.float32)
    return weights


def word_counts(tokens: Tokens, size: int) -> npt.NDArray[np.int64]:
    """Give how often each of ``size`` words occurs, (size,)."""
    return np.bincount(tokens.ids, minlength=size).astype(np.int64)


def bag_means(tokens: Tokens, table: Floats) -> Floats:
    """Give the mean of each text's token vectors, (n, dims); zeros for a text without tokens."""
    means: Floats = _bags(tokens, len(table)) @ table
    return means


def fit_table(table: Floats, tokens: Tokens, targets: Floats, strength: float) -> Floats:
    """Give the table, moved so that the means of ``tokens`` come near ``targets`` (n, dims).

    First all of it is turned and stretched by the linear map that serves best, then each word by a vector of its own:
    the change D minimises |X (T + D) - Y|² + strength · |D|², X the bags. Words that no text has keep their place.
    """
    bags = _bags(tokens, len(table))
    means = bags @ table
    gram = means.T.astype(np.float64) @ means
    gram += np.eye(len(gram)) * (1e-6 * np.trace(gram) / len(gram) + 1e-12)
    turned = (table @ np.linalg.solve(gram, means.T.astype(np.float64) @ targets)).astype(np.float32)
    fitted: Floats = turned + _ridge(bags, targets - bags @ turned, strength)
    return fitted


def _bags(tokens: Tokens, size: int) -> Any:
    """Give the sparse (n, size) matrix whose rows, times a table, are means."""
    from scipy.sparse import csr_array

    shares = np.repeat(1 / np.maximum(tokens.lengths, 1), tokens.lengths).astype(np.float32)
    return csr_array((shares, tokens.ids, tokens.offsets), shape=(len(tokens), size))


def _ridge(bags: Any, wanted: Floats, strength: float) -> Floats:
    """Give D (words, dims) with the least |X D - wanted|² + strength · |D|², by conjugate gradients."""
    back = bags.T.tocsr()
    found = np.zeros((bags.shape[1], wanted.shape[1]), dtype=np.float32)
    rest = back @ wanted
    way = rest.copy()
    size = (rest * rest).sum(0)
    for _ in range(_STEPS):
        turned = back @ (bags @ way) + np.float32(strength) * way
        step = size / np.maximum((way * turned).sum(0), 1e-30)
        found += step * way
        rest -= step * turned
        before, size = size, (rest * rest).sum(0)
        way = rest + size / np.maximum(before, 1e-30) * way
    return found
