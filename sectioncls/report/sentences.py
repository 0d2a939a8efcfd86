"""Which sentence a row of a run is about, and, where a page may hold text, what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sectioncls.errors import InputError
from sectioncls.report.summary import RunView

__all__ = ["Key", "keys_of", "texts_of"]

Key = tuple[str, int, int]
"""Article, index in it, and how often the two occurred before (0 where each sentence stands once)."""


def keys_of(articles: Sequence[str], indices: Sequence[int]) -> tuple[Key, ...]:
    """Give a key for each row that no other has."""
    seen: Counter[tuple[str, int]] = Counter()
    keys = []
    for pair in zip(map(str, articles), map(int, indices), strict=True):
        keys.append((*pair, seen[pair]))
        seen[pair] += 1
    return tuple(keys)


def texts_of(run: RunView) -> tuple[dict[tuple[str, int], str], str]:
    """Give the test sentences by article and index, from the corpus that the run was made on, or {} and why not."""
    try:
        return _texts(run), ""
    except InputError as error:
        return {}, str(error)


def _texts(run: RunView) -> dict[tuple[str, int], str]:
    from sectioncls.corpora import open_corpus

    place = run.corpus.info.get("path")
    if not place:
        raise InputError("the run does not say where its corpus is")
    corpus = open_corpus(Path(str(place)))
    if corpus.info.fingerprint != run.corpus.info.get("fingerprint"):
        raise InputError("is not the corpus of this run (other fingerprint)", place)
    test = corpus.split("test")
    return {
        (article, int(index)): text
        for article, index, text in zip(test.article_ids, test.index, test.texts, strict=True)
    }
