"""Which sentence a row of a run is about, and, where a page may hold text, what it says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sectioncls.errors import InputError
from sectioncls.report.views import RunView

__all__ = ["Key", "Told", "keys_of", "section_name", "told"]

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


@dataclass(frozen=True, slots=True)
class Told:
    """What a corpus says of its test sentences, by article and index; ``why`` nothing is told, else ''."""

    texts: Mapping[tuple[str, int], str]
    sections: Mapping[tuple[str, int], str]
    why: str = ""


def told(run: RunView) -> Told:
    """Give the test sentences and the top section of each, from the corpus that the run was made on, or why not."""
    try:
        return _told(run)
    except InputError as error:
        return Told({}, {}, str(error))


def section_name(title: str) -> str:
    """Give a heading without its number, in one case, so that articles that number theirs agree with others."""
    plain = re.sub(r"^[\s\d.:()IVX]*[\s.:)]\s*(?=\S)", "", " ".join(title.split()))
    return (plain or title).casefold().capitalize()


def _told(run: RunView) -> Told:
    from sectioncls.corpora import open_corpus

    place = run.corpus.info.get("path")
    if not place:
        raise InputError("the run does not say where its corpus is")
    corpus = open_corpus(Path(str(place)))
    if corpus.info.fingerprint != run.corpus.info.get("fingerprint"):
        raise InputError("is not the corpus of this run (other fingerprint)", place)
    table = corpus.table("test")
    keys = list(zip(table["article_id"].to_pylist(), map(int, table["index"].to_pylist()), strict=True))
    paths = table["path"].to_pylist() if "path" in table.column_names else []
    sections = {key: section_name(path[0]) for key, path in zip(keys, paths, strict=False) if path}
    return Told(dict(zip(keys, table["text"].to_pylist(), strict=True)), sections)
