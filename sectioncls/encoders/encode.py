"""Encoding many texts: sorted by length, cut by a token budget, no padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.encoders.embedding_cache import cached_vectors
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.tokens import Tokens
from sectioncls.encoders.windows import Windows
from sectioncls.errors import UsageError

__all__ = ["TOKEN_BUDGET", "encode", "encode_batches", "encode_tokens"]

# Tokens per batch: enough work for the cores, small enough that activations stay in cache.
TOKEN_BUDGET = 1024


def encode(
    encoder: Encoder,
    texts: Sequence[str],
    task: str | None = None,
    side: str = "document",
    *,
    precision: str = "float32",
    cache: Path | None = None,
) -> npt.NDArray[np.float32]:
    """Give one float32 vector per text, (n, dimension), in the order of ``texts``.

    ``task`` and ``side`` (``query`` or ``document``) choose the route through a conditioned encoder (see
    Encoder.tokenise, also for what it raises). ``precision`` ``bf16`` multiplies in 16 bit, two to three times as fast
    where the processor can, with vectors that differ in the third digit. ``cache`` is a folder that vectors are kept in
    and taken from (see embedding_cache.py).
    """
    return encode_tokens(encoder, encoder.tokenise(texts, task, side), precision, cache)


def encode_tokens(
    encoder: Encoder, tokens: Tokens | Windows, precision: str = "float32", cache: Path | None = None
) -> npt.NDArray[np.float32]:
    """Give one float32 vector per tokenised text or sentence of a window, (n, dimension)."""
    if cache is not None:
        return cached_vectors(
            cache, encoder, tokens, lambda: encode_tokens(encoder, tokens, precision), precision=precision
        )
    vectors = np.zeros((tokens.items, encoder.dimension), dtype=np.float32)
    for rows, block in encode_batches(encoder, tokens, precision=precision):
        vectors[rows] = block
    return vectors


def encode_batches(
    encoder: Encoder, tokens: Tokens | Windows, budget: int = TOKEN_BUDGET, *, precision: str = "float32"
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
    """Yield (texts, vectors) batch by batch, longest rows first, so that progress can be shown and memory is known.

    Raises UsageError for a ``precision`` other than ``float32`` and ``bf16``.
    """
    if precision not in ("float32", "bf16"):
        raise UsageError(f"unknown precision {precision!r}", todo="known: float32, bf16")
    was_training = encoder.training
    encoder.eval()
    try:
        for rows in _batches(tokens.lengths, budget):
            with torch.inference_mode(), _precision(encoder, precision):
                vectors = encoder(tokens.batch(rows).to(encoder.device))
            yield tokens.members(rows), vectors.float().cpu().numpy()
    finally:
        encoder.train(was_training)


def _precision(encoder: Encoder, precision: str) -> AbstractContextManager[Any]:
    """Multiply in 16 bit where asked; else leave it as the caller has it."""
    return nullcontext() if precision == "float32" else torch.autocast(encoder.device.type, torch.bfloat16)


def _batches(lengths: npt.NDArray[np.int64], budget: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield rows of like length, at most ``budget`` tokens (and one row at least) a batch, longest first."""
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        count = max(1, budget // max(1, int(lengths[order[first]])))
        yield order[first : first + count]
        first += count
