"""Articles as rows of tokens: ``[CLS] s1 [SEP] s2 [SEP] …``, with every sentence the span of exactly one row.

An article that fits is one row. A longer one is cut into windows of whole sentences; sentences beside a window's own
are read for context but belong to the neighbouring window. So whatever is cut, each sentence has one vector.

A context may also read where a sentence stands: ``[CLS] 3 of 10 [SEP] Methods: Data [SEP] s1 [SEP] …`` has the place of
the window in its article, and the titles above s1; titles come again where they change. Neither is a span.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from sectioncls.encoders.tokens import Batch, places_of, tokenise

__all__ = ["Context", "Windows", "articles_of", "make_windows"]

Ints = npt.NDArray[np.int64]
_Piece: TypeAlias = npt.NDArray[np.int32]

# Parts that places are told in: a tenth of an article is some twenty sentences of a full text.
_PARTS = 10
# The most tokens of titles: enough for two headings of usual length, little beside a window.
_TITLES = 32


@dataclass(frozen=True, slots=True)
class Context:
    """How articles are cut: ``max_length`` tokens a window, up to ``overlap`` tokens of neighbours on either side.

    ``titles`` reads the titles above the sentences too, ``place`` the part of the article that a window begins in.
    """

    max_length: int = 512
    overlap: int = 64
    titles: bool = False
    place: bool = False


@dataclass(frozen=True, slots=True)
class Windows:
    """Rows of tokens with several sentences each.

    ``ids[offsets[i]:offsets[i + 1]]`` are the tokens of row i; its spans are ``firsts[i]`` to ``firsts[i + 1]``:
    ``spans`` (S, 2) counts from the row's first token, ``sentences`` (S,) says which sentence a span is.
    """

    ids: npt.NDArray[np.int32]
    offsets: Ints
    spans: Ints
    sentences: Ints
    firsts: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """Tokens per row, (rows,)."""
        return np.diff(self.offsets)

    @property
    def items(self) -> int:
        """The number of sentences."""
        return len(self.sentences)

    def members(self, rows: Ints) -> Ints:
        """Give the sentences whose vectors the rows give, in the order of batch's spans."""
        return self.sentences[places_of(self.firsts, rows)]

    def batch(self, rows: Ints) -> Batch:
        """Give the windows at ``rows`` as one batch."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        counts = np.diff(self.firsts)[rows]
        spans = self.spans[places_of(self.firsts, rows)] + np.repeat(ends - lengths, counts)[:, None]
        return Batch(
            ids=torch.from_numpy(self.ids[places_of(self.offsets, rows)].astype(np.int64)),
            lengths=torch.from_numpy(lengths),
            spans=torch.from_numpy(spans),
        )


def make_windows(
    tokenizer: Any,
    texts: Sequence[str],
    article_ids: Sequence[str],
    index: Sequence[int] | npt.NDArray[np.integer[Any]],
    context: Context,
    paths: Sequence[Sequence[str]] | None = None,
) -> Windows:
    """Give the windows of sentences that bear their article and their place (``index``) in it, in any order.

    ``paths`` are the titles above each sentence, outermost first; read where the context says so. A sentence without a
    token keeps its [SEP] as span; one longer than a window is cut to it.
    """
    signs = _Signs(tokenizer, context, paths)
    tokens = tokenise(tokenizer, texts, context.max_length - 2 - signs.room, special=False)
    first, last = _marks(tokenizer)
    ids: list[_Piece] = []
    offsets, firsts, spans, sentences = [0], [0], [], []
    for article in articles_of(article_ids, index):
        lengths = tokens.lengths[article] + 1  # with the [SEP] behind
        changes = signs.changes(article)
        for begin, end, left, right in _cut((lengths + changes).tolist(), context, signs.room):
            at = 1
            ids.append(first)
            for place in range(left, right):
                row = article[place]
                for sign in signs.before(article, place, left):
                    ids += (sign, last)
                    at += len(sign) + 1
                count = int(lengths[place]) - 1
                ids.append(tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]])
                ids.append(last)
                if begin <= place < end:
                    spans.append((at, at + count) if count else (at, at + 1))
                    sentences.append(row)
                at += count + 1
            offsets.append(offsets[-1] + at)
            firsts.append(len(spans))
    return Windows(
        ids=np.concatenate(ids) if ids else np.zeros(0, dtype=np.int32),
        offsets=np.asarray(offsets, dtype=np.int64),
        spans=np.asarray(spans, dtype=np.int64).reshape(-1, 2),
        sentences=np.asarray(sentences, dtype=np.int64),
        firsts=np.asarray(firsts, dtype=np.int64),
    )


def articles_of(article_ids: Sequence[str], index: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Iterator[Ints]:
    """Give the sentences of each article in the order of their places; articles as they first occur."""
    _, first, codes = np.unique(np.asarray(article_ids, dtype=object), return_index=True, return_inverse=True)
    order = np.lexsort((np.asarray(index), first[codes]))
    bounds = np.flatnonzero(np.diff(first[codes][order], prepend=-1, append=-1))
    for begin, end in pairwise(bounds):
        yield order[begin:end]


class _Signs:
    """What windows read beside sentences: the part of the article where they begin, and titles where these change."""

    def __init__(self, tokenizer: Any, context: Context, paths: Sequence[Sequence[str]] | None) -> None:
        self._parts = _pieces(tokenizer, [f"{n} of {_PARTS}" for n in range(1, _PARTS + 1)] if context.place else [])
        most = min(_TITLES, context.max_length // 4)
        texts = [": ".join(path) for path in paths] if context.titles and paths is not None else []
        names, self._titles = np.unique(np.asarray(texts, dtype=object), return_inverse=True)
        self._names = [piece[:most] for piece in _pieces(tokenizer, list(names))]
        self._costs = np.array([len(piece) + 1 if len(piece) else 0 for piece in self._names], dtype=np.int64)
        # Tokens that are kept free at the beginning of every window.
        self.room = int(self._costs.max(initial=0)) + max((len(piece) + 1 for piece in self._parts), default=0)

    def changes(self, article: Ints) -> Ints:
        """Give the tokens that titles take before each sentence of an article, if no window begins there."""
        sizes = np.zeros(len(article), dtype=np.int64)
        if self._names:
            own = self._titles[article]
            sizes[1:] = np.where(own[1:] != own[:-1], self._costs[own[1:]], 0)
        return sizes

    def before(self, article: Ints, place: int, left: int) -> Iterator[_Piece]:
        """Give what stands before the sentence at ``place`` in a window that begins at ``left``."""
        if self._parts and place == left:
            yield self._parts[place * _PARTS // len(article)]
        if self._names:
            own = self._titles[article[place]]
            if (place == left or own != self._titles[article[place - 1]]) and len(self._names[own]):
                yield self._names[own]


def _pieces(tokenizer: Any, texts: list[str]) -> list[_Piece]:
    tokens = tokenise(tokenizer, texts, 512, special=False)
    return [tokens.ids[begin:end].astype(np.int32) for begin, end in pairwise(tokens.offsets)]


def _cut(lengths: list[int], context: Context, taken: int) -> Iterator[tuple[int, int, int, int]]:
    """Give windows as (first own, past last own, first read, past last read) places of an article's sentences.

    ``taken`` tokens of each are for something else.
    """
    room = context.max_length - 1 - taken
    if sum(lengths) <= room:
        if lengths:
            yield 0, len(lengths), 0, len(lengths)
        return
    overlap = min(context.overlap, room // 4)
    begin = 0
    while begin < len(lengths):
        left, spent = begin, 0
        while left > 0 and spent + lengths[left - 1] <= overlap:
            left -= 1
            spent += lengths[left]
        end, used = begin, 0
        # What is left of the article may take the right neighbours' room.
        while end < len(lengths) and (end == begin or spent + used + lengths[end] <= room - overlap):
            used += lengths[end]
            end += 1
        if spent + used > room:  # one sentence fills the window: it is read alone
            left, spent = begin, 0
        right = end
        while right < len(lengths) and spent + used + lengths[right] <= room:
            used += lengths[right]
            right += 1
        if right == len(lengths):
            end = right
        yield begin, end, left, right
        begin = end


def _marks(tokenizer: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Give the tokens that begin a row and that end a sentence."""
    first = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    last = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    return np.asarray([first], dtype=np.int32), np.asarray([last], dtype=np.int32)
