"""Sentence splitters of other libraries, behind one function that gives offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sectioncls.errors import UsageError

__all__ = ["SPLITTERS", "join_wrong_ends", "split_sentences"]

Spans = list[tuple[int, int]]

_MOST = 200_000  # characters that spaCy is given at once
# spaCy's tokenizer takes quadratic time on long words of brackets and dots.
_LONG_WORD = re.compile(r"\S{200,}")
_BLANK = re.compile(r"\s")
# Ends that are none: abbreviations before anything, and before a number or a small letter only.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:et al|Figs?|Eqs?|Refs?|refs?|e\.g|i\.e|cf|vs|viz|approx|Approx|ca|Dr|Prof|St|pv|subsp|ssp|var)\.$"
)
_BEFORE_NUMBER = re.compile(r"(?:^|[\s(\[])(?:No|Nos|no|nos|Nr|Vol|vol|pp|p|Sect|Tab|Chap|v|ver)\.$")
_BEFORE_SMALL = re.compile(r"(?:^|[\s(\[])(?:spp?|etc|[A-Z])\.$")
_INITIALS = re.compile(r"(?:^|\s)(?:[A-Z]\.[\s-]?)*[A-Z]\.$")
_SURNAME = re.compile(r"[A-Z][a-z]+(?:,| and | et al| &|\s[A-Z]\.)")


def split_sentences(text: str, splitter: str = "sentencizer") -> Spans:
    """Give the (start, end) of each sentence; ``text[start:end]`` is trimmed, all but white space is covered.

    ``sentencizer`` is spaCy's rule for blank English, as in the paper (arXiv 2404.00224), with wrong ends after
    abbreviations joined again; ``sentencizer-plain`` is spaCy's alone. Very long texts are cut at white space
    every 200,000 characters. Raises UsageError for a splitter that does not exist.
    """
    if splitter not in SPLITTERS:
        raise UsageError(f"there is no splitter {splitter!r}", todo=f"choose one of {', '.join(SPLITTERS)}")
    return SPLITTERS[splitter](text)


def join_wrong_ends(text: str, spans: Iterable[tuple[int, int]]) -> Spans:
    """Give the sentences with those joined that were cut after an abbreviation or an initial."""
    joined: Spans = []
    for start, end in spans:
        if joined and _wrong_end(text, *joined[-1], start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _wrong_end(text: str, start: int, end: int, following: int) -> bool:
    """Tell whether the sentence from ``start`` to ``end`` goes on at ``following``."""
    if text[end - 1] != ".":
        return text[end - 1] == ","  # "et al.," and "etc.," are ends for spaCy
    tail = text[max(start, end - 16) : end]
    after = text[following]
    if _ABBREVIATION.search(tail):
        return True
    if after.isdigit():
        return _BEFORE_NUMBER.search(tail) is not None
    if after.islower():
        return _BEFORE_SMALL.search(tail) is not None
    return after.isupper() and _INITIALS.search(tail) is not None and _SURNAME.match(text, following) is not None


@cache
def _spacy() -> Any:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 2 * _MOST
    return nlp


def _plain(text: str) -> Spans:
    spans: Spans = []
    for begin, end in _pieces(text):
        piece = text[begin:end]
        for sentence in _spacy()(_LONG_WORD.sub(_plain_word, piece)).sents:
            spans.extend(_trimmed(piece, sentence.start_char, sentence.end_char, begin))
    return spans


def _plain_word(word: re.Match[str]) -> str:
    """Give a word of the same length without punctuation, save a stop at its end."""
    last = word[0][-1]
    return "x" * (len(word[0]) - 1) + (last if last in ".?!" else "x")


def _pieces(text: str) -> Spans:
    """Give parts of a text that are short enough, cut at white space where there is some."""
    pieces: Spans = []
    begin = 0
    while len(text) - begin > _MOST:
        end = begin + _MOST
        window = text[end - 1000 : end]
        blanks = [found.end() for found in _BLANK.finditer(window)]
        end = end - 1000 + blanks[-1] if blanks else end
        pieces.append((begin, end))
        begin = end
    pieces.append((begin, len(text)))
    return pieces


def _trimmed(text: str, start: int, end: int, offset: int) -> Spans:
    """Give the span without white space at its ends, nothing when nothing is left."""
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    right = len(body.rstrip())
    return [(offset + start + left, offset + start + right)] if left < right else []


def _repaired(text: str) -> Spans:
    return join_wrong_ends(text, _plain(text))


SPLITTERS: dict[str, Callable[[str], Spans]] = {"sentencizer": _repaired, "sentencizer-plain": _plain}
"""Splitters by name."""
