"""What a JSON record says about a paper: its fields by the names that sets use, its topics and its numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sectioncls.errors import InputError
from sectioncls.records import Paper

__all__ = ["Described", "FieldRules", "describe", "text_of"]

IDS = ("id", "_id", "paper_id", "paperId", "corpus_id", "corpusId", "sha")
ABSTRACTS = ("abstract", "text")
YEARS = ("year",)
VENUES = ("venue", "journal", "journal_name", "booktitle")
AUTHORS = ("authors", "author_names")
FIELDS = ("fields", "fieldsOfStudy", "fields_of_study")
TOPICS = frozenset({"area", "categories", "decision", "label", "labels", "mesh", "terms", "topic", "topics", "track"})
_TOPICS = re.compile(r"labels?_\w+|\w+_categories|\w+_top")
_NAMES = ("name", "h", "heading", "descriptor", "label", "topic", "category")
_COUNTS = re.compile(r"n_\w+|num_\w+|\w*citations?|\w*citation_count|\w*downloads")
_NUMBER_IDS = re.compile(r"\w*_id|\w*Id|id")
_KNOWN = frozenset({"title", "keywords", "split", *ABSTRACTS, *YEARS, *VENUES, *AUTHORS, *FIELDS})
_SURROGATE = re.compile("[\ud800-\udfff]")
_YEARS = (1000, 3000)


@dataclass(frozen=True, slots=True)
class FieldRules:
    """Which fields beyond the known names hold topics, and which hold numbers to be predicted."""

    topics: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Described:
    """A paper with the split that its record names, its (collection, topic) pairs and its (name, number) pairs."""

    paper: Paper
    split: str | None
    keywords: tuple[str, ...]
    topics: tuple[tuple[str, str], ...]
    targets: tuple[tuple[str, float], ...]


def describe(record: Mapping[str, Any], where: str, rules: FieldRules, unread: Counter[str]) -> Described:
    """Give what a record says; ``unread`` counts what it holds beside that.

    Counts of citations and the like become ``log_NAME`` by log1p; a year is also a number. A value that is no year or
    no number is left out and counted. Raises InputError for a record without id, or whose texts are none.
    """
    id_field = next((name for name in IDS if record.get(name) not in (None, "")), None)
    if id_field is None:
        raise InputError(f"has no id (one of {', '.join(IDS)})", where)
    year = _year(_first(record, YEARS), unread)
    paper = Paper(
        id=_id(record[id_field], where),
        title=text_of(record.get("title"), "title", where),
        abstract=text_of(_first(record, ABSTRACTS), "abstract", where),
        year=year,
        venue=text_of(_first(record, VENUES), "venue", where) or None,
        authors=tuple(_texts(_first(record, AUTHORS), where)),
        fields=tuple(_texts(_first(record, FIELDS), where)),
    )
    topics: list[tuple[str, str]] = []
    targets = [] if year is None else [("year", float(year))]
    for name, value in record.items():
        if name in _KNOWN or name in IDS or value is None:
            continue
        if _holds_topics(name, rules) and not (name == "labels" and "labels_text" in record):
            topics += [(_collection(name), topic) for topic in _texts(value, where)]
        elif isinstance(value, int | float) and not isinstance(value, bool) and not _NUMBER_IDS.fullmatch(name):
            targets += _target(name, value, unread)
        elif name in rules.targets:
            targets += _target(name, _number(value), unread)
        else:
            unread[name] += 1
    keywords = tuple(_texts(record.get("keywords"), where))
    split = record.get("split")
    if split is not None and not isinstance(split, str):
        raise InputError(f"has a split that is no text ({split!r})", where)
    return Described(paper, split, keywords, tuple(dict.fromkeys(topics)), tuple(targets))


def text_of(value: Any, name: str, where: str) -> str:
    """Give a text, '' for none. Raises InputError for another value."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"has a {name} that is no text ({type(value).__name__})", where)
    return _clean(value)


def _id(value: Any, where: str) -> str:
    if isinstance(value, str) and value.strip():
        return _clean(value.strip())
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"has an id that is neither text nor number ({str(value)[:40]!r})", where)


def _clean(text: str) -> str:
    """Give a text that UTF-8 can hold: JSON may bring halves of a character."""
    return _SURROGATE.sub("\ufffd", text)


def _first(record: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "", [])), None)


def _texts(value: Any, where: str) -> Iterator[str]:
    """Give the texts of a text, a number, an object with a name, or a list of these."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, Mapping):
            item = next((item[name] for name in _NAMES if name in item), None)
        if isinstance(item, int | float) and not isinstance(item, bool):
            item = f"{item:g}" if isinstance(item, float) else str(item)
        if item is None or item == "":
            continue
        if not isinstance(item, str):
            raise InputError(f"holds a list of {type(item).__name__} where texts are expected", where)
        if words := " ".join(_clean(item).split()):
            yield words


def _holds_topics(name: str, rules: FieldRules) -> bool:
    return name in TOPICS or name in rules.topics or _TOPICS.fullmatch(name) is not None


def _collection(name: str) -> str:
    return "label" if name in ("labels", "labels_text") else name


def _year(value: Any, unread: Counter[str]) -> int | None:
    if value is None:
        return None
    number = _number(value)
    if not math.isfinite(number) or number != int(number) or not _YEARS[0] <= number < _YEARS[1]:
        unread["year (no year)"] += 1
        return None
    return int(number)


def _number(value: Any) -> float:
    """Give a number, NaN for what is none."""
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _target(name: str, value: float, unread: Counter[str]) -> list[tuple[str, float]]:
    counts = _COUNTS.fullmatch(name) is not None
    value = _number(value)
    if not math.isfinite(value) or (counts and value < 0):
        unread[f"{name} (no number)"] += 1
        return []
    return [(f"log_{name}", math.log1p(value))] if counts else [(name, value)]
