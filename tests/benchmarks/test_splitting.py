"""``scisplit`` beside spaCy's sentencizer on paragraphs of articles, in turns, by CPU time; and on 1 MB of mischief."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data" / "jats" / "pmc_xml.tar.xz"
DEMO = ROOT / "corpora" / "demo" / "jats"


@pytest.fixture(scope="module")
def paragraphs() -> list[str]:
    """Paragraphs of real articles; of our own demo articles, repeated, where those are not there."""
    from sectioncls.documents import labelled_paragraphs, read_documents
    from sectioncls.records import Article

    articles = (item for item in read_documents([SHARED if SHARED.exists() else DEMO]) if isinstance(item, Article))
    texts = [paragraph.text for item in islice(articles, 150) for paragraph, _, _ in labelled_paragraphs(item)]
    return texts * (1 if SHARED.exists() else 50)


def megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def cpu_seconds(function: Callable[[], object]) -> float:
    began = time.process_time()
    function()
    return time.process_time() - began


def in_turns(work: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """CPU seconds of functions that take turns; the first turn warms up and doesn't count."""
    turns = [{name: cpu_seconds(function) for name, function in work.items()} for _ in range(repeats + 1)]
    return {name: [turn[name] for turn in turns[1:]] for name in work}


def test_the_function(paragraphs: list[str]) -> None:
    from sectioncls.sentences import SPLITTERS

    few = paragraphs[:600]

    def split(name: str, texts: list[str]) -> Callable[[], object]:
        return lambda: [SPLITTERS[name](text) for text in texts]

    seconds = in_turns({"scisplit": split("scisplit", few), "plain": split("sentencizer-plain", few)}, repeats=5)
    ratio = statistics.median(a / b for a, b in zip(seconds["plain"], seconds["scisplit"], strict=True))
    whole = in_turns({"scisplit": split("scisplit", paragraphs)}, repeats=5)
    speed = megabytes(paragraphs) / statistics.median(whole["scisplit"])
    print(
        f"\nscisplit: {speed:.0f} MB of text a CPU second on {megabytes(paragraphs):.1f} MB in {len(paragraphs)} "
        f"paragraphs; {ratio:.0f} x spaCy's sentencizer ({megabytes(few) / statistics.median(seconds['plain']):.1f} MB)"
    )
    assert speed >= 10
    assert ratio >= 5


def test_the_component(paragraphs: list[str]) -> None:
    import spacy

    few = paragraphs[:2000]

    def pipe(name: str) -> Callable[[], object]:
        nlp = spacy.blank("en")
        nlp.add_pipe(name)
        return lambda: sum(len(doc) for doc in nlp.pipe(few))

    seconds = in_turns({name: pipe(name) for name in ("scisplit", "sentencizer")}, repeats=9)
    ratio = statistics.median(a / b for a, b in zip(seconds["sentencizer"], seconds["scisplit"], strict=True))
    speed = megabytes(few) / statistics.median(seconds["scisplit"])
    print(f"\nnlp.pipe with scisplit: {speed:.1f} MB a CPU second, {ratio:.2f} x nlp.pipe with the sentencizer")
    assert ratio >= 0.9


@pytest.mark.parametrize(
    "piece", [".", "a.", "(", "A. ", '"', " ", "x", "\n", "。", ". [1,2", "1. ", ".1,", "\n- ", "“a"]
)
def test_a_million_characters(piece: str) -> None:
    from sectioncls.sentences import scisplit

    short, long = (piece * (size // len(piece)) for size in (250_000, 1_000_000))
    seconds = in_turns({"short": lambda: scisplit(short), "long": lambda: scisplit(long)}, repeats=2)
    once, fourfold = min(seconds["short"]), min(seconds["long"])
    print(f"\n1 MB of {piece!r}: {fourfold:.2f} s, {fourfold / max(once, 1e-6):.1f} x a quarter of it")
    assert fourfold < 8 * once + 0.1
