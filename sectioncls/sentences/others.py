"""Sentence splitters of other libraries, behind one function that gives offsets."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from typing import Any

from sectioncls.errors import UsageError
from sectioncls.sentences.pipelines import find_pipeline, load_pipeline
from sectioncls.sentences.scisplit import scisplit

__all__ = ["SPLITTERS", "join_wrong_ends", "split_sentences"]

Spans = list[tuple[int, int]]

_MOST = 200_000  # characters that spaCy is given at once
# spaCy's tokenizer takes quadratic time on long words of brackets and dots.
_LONG_WORD = re.compile(r"\S{200,}")
_BLANK = re.compile(r"\s")
_SURROGATE = re.compile("[\ud800-\udfff]")
# pysbd's pattern for numeric references takes exponential time on many digits (its issues 76 and 79).
_NUMERALS = re.compile(r"(?<=[.∯])\[?\d[\d\s,\-\[\]]{12,}")
# Ends that are none: abbreviations before anything, and before a number or a small letter only.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:et al|Figs?|Eqs?|Refs?|refs?|e\.g|i\.e|cf|vs|viz|approx|Approx|ca|Dr|Prof|St|pv|subsp|ssp|var)\.$"
)
_BEFORE_NUMBER = re.compile(r"(?:^|[\s(\[])(?:No|Nos|no|nos|Nr|Vol|vol|pp|p|Sect|Tab|Chap|v|ver)\.$")
_BEFORE_SMALL = re.compile(r"(?:^|[\s(\[])(?:spp?|etc|[A-Z])\.$")
_INITIALS = re.compile(r"(?:^|\s)(?:[A-Z]\.[\s-]?)*[A-Z]\.$")
_SURNAME = re.compile(r"[A-Z][a-z]+(?:,| and | et al| &|\s[A-Z]\.)")


def split_sentences(text: str, splitter: str = "scisplit") -> Spans:
    """Give the (start, end) of each sentence; ``text[start:end]`` is trimmed, all but white space is covered.

    ``scisplit`` is ours for scientific text. ``sentencizer`` is spaCy's rule for blank English, as in the paper
    (arXiv 2404.00224), with wrong ends after abbreviations joined again; ``sentencizer-plain`` is spaCy's alone.
    ``pysbd``, ``syntok`` and ``sentencex`` are these libraries (``pip install sectioncls[splitters]``). Any other
    name is that of an installed spaCy pipeline that marks sentences (``en_core_web_sm``) or of its folder. Libraries
    cut very long texts in between.
    Raises UsageError for a splitter that does not exist or is not installed, ModelError for an unfit pipeline.
    """
    if splitter in SPLITTERS:
        return SPLITTERS[splitter](text)
    folder = find_pipeline(splitter)
    if folder is None:
        choices = f"choose one of {', '.join(SPLITTERS)}, or name an installed spaCy pipeline"
        raise UsageError(f"there is no splitter {splitter!r}", todo=choices)
    return _stepwise(text, splitter, _MOST // 4, partial(_pipeline_starts, load_pipeline(folder)))


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
    text = _SURROGATE.sub("\ufffd", text)
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


def _library(name: str) -> Any:
    """Give an optional library. Raises UsageError when it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        splitter = name.partition(".")[0]
        what = f"the splitter {splitter!r} is not installed"
        raise UsageError(what, todo="pip install sectioncls[splitters]") from None


def _stepwise(text: str, name: str, most: int, starts: Callable[[str], Iterable[int]]) -> Spans:
    """Give the sentences that begin at ``starts``, which sees at most ``most`` characters at once.

    A window ends at the last start in its second half, so that no sentence is cut unless it is longer than that.
    Where the library fails, the window is cut as the sentencizer does, and a warning says so.
    """
    text = _SURROGATE.sub("\ufffd", text)
    spans: Spans = []
    begin = 0
    while begin < len(text):
        window = text[begin : begin + most]
        try:
            cuts = sorted({0, len(window), *(cut for cut in starts(window) if 0 < cut < len(window))})
        except Exception as error:  # libraries fail in many ways on odd input; a text must not be lost
            warnings.warn(f"{name} failed on {len(window)} characters, cut by the sentencizer: {error!r}")
            cuts = sorted({0, len(window), *(start for start, _ in _plain(window))})
        if begin + len(window) < len(text):
            cuts.pop()
            if cuts[-1] < most // 2:
                blanks = [found.end() for found in _BLANK.finditer(window, most - most // 10)]
                cuts.append(blanks[-1] if blanks else most)
        for start, end in pairwise(cuts):
            spans.extend(_trimmed(window, start, end, begin))
        begin += cuts[-1]
    return spans


def _pysbd(text: str) -> Spans:
    module = _library("pysbd")

    def starts(window: str) -> Iterable[int]:
        segmenter = module.Segmenter(language="en", clean=False)
        masked = _NUMERALS.sub(lambda found: re.sub(r"\d", "x", found[0]), window)
        return _starts_of_parts(masked, segmenter.processor(masked).process() or ())

    return _stepwise(text, "pysbd", 10_000, starts)


def _starts_of_parts(text: str, parts: Iterable[str]) -> list[int]:
    """Give where each part begins in a text from which it may differ in white space and a few characters.

    Both are compared without white space. A part that is not found near the end of the one before begins nothing.
    """
    positions = [position for position, character in enumerate(text) if not character.isspace()]
    squeezed = "".join(text[position] for position in positions)
    starts: list[int] = []
    at = 0
    for part in parts:
        wanted = "".join(part.split())
        found = squeezed.find(wanted, at, at + 2 * len(wanted) + 200) if wanted else -1
        if found >= 0:
            starts.append(positions[found])
            at = found + len(wanted)
    return starts


def _syntok(text: str) -> Spans:
    segmenter = _library("syntok.segmenter")

    def starts(window: str) -> Iterable[int]:
        return [sentence[0].offset for part in segmenter.analyze(window) for sentence in part if sentence]

    return _stepwise(text, "syntok", 20_000, starts)


def _sentencex(text: str) -> Spans:
    module = _library("sentencex")

    def starts(window: str) -> Iterable[int]:
        return [boundary["start_index"] for boundary in module.get_sentence_boundaries("en", window)]

    return _stepwise(text, "sentencex", 100_000, starts)


def _pipeline_starts(nlp: Any, window: str) -> list[int]:
    return [sentence.start_char for sentence in nlp(_LONG_WORD.sub(_plain_word, window)).sents]


SPLITTERS: dict[str, Callable[[str], Spans]] = {
    "scisplit": scisplit,
    "sentencizer": _repaired,
    "sentencizer-plain": _plain,
    "pysbd": _pysbd,
    "syntok": _syntok,
    "sentencex": _sentencex,
}
"""Splitters by name."""
