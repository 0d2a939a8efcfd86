"""How headings become labels: the rules that a scheme's TOML file states, checked and made ready."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from sectioncls.errors import InputError
from sectioncls.schemes.tables import read_table

__all__ = ["PARTS", "HeadingRules", "plain_heading", "read_rules"]

PARTS = ("abstract", "body")
_ORDER = ("title", "sec-type")
_KEYS = ("default", "boxed", "required", "parts", "order", "inside", "headings", "nlm", "words", "titles", "sec_types")
_NUMBER = re.compile(r"^\s*(?:\d+(?:\.\d+)*|[IVX]+)[.):]?\s+(?=\S)")
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class HeadingRules:
    """The rules of a scheme.

    ``titles`` maps whole headings in plain form (see plain_heading), ``words`` single words and phrases in lower
    case, ``sec_types`` values of the sec-type attribute; ``order`` says whether title or sec-type speaks first.
    ``inside`` maps a label to those that keep their own word inside it. ``default`` is the label of what no
    heading names and ``boxed`` that of boxes; with default None such text has no label, with boxed None boxes are
    labelled as all else. ``parts`` are those of an article that the scheme labels, ``required`` the labels that
    ``--require four`` asks for.
    """

    titles: Mapping[str, str]
    words: Mapping[str, str]
    sec_types: Mapping[str, str]
    order: tuple[str, ...]
    inside: Mapping[str, frozenset[str]]
    default: str | None
    boxed: str | None
    parts: tuple[str, ...]
    required: frozenset[str]
    pattern: re.Pattern[str]


def plain_heading(title: str) -> str:
    """Give a heading in lower case without its number, ``&`` as ``and``, only letters and digits."""
    return " ".join(_WORDS.findall(_NUMBER.sub("", title).casefold().replace("&", " and ")))


def read_rules(table: Mapping[str, Any], labels: tuple[str, ...], where: Path) -> HeadingRules | None:
    """Give the rules of a scheme's table, None when it states none. Raises InputError for what is wrong in it."""
    if not any(key in table for key in _KEYS):
        return None
    known = _Checked(table, labels, where)
    titles = {plain_heading(row): label for label, rows in known.lists("titles").items() for row in rows}
    words = _spelled(known.lists("words"), known)
    sec_types = {key.lower(): label for key, label in known.map("sec_types").items()}
    for category, label in known.map("nlm", _nlm_headings()).items():
        for row in _nlm_headings()[category]:
            titles.setdefault(row, label)
    lists = _heading_lists()
    for category, label in known.map("headings", lists["words"]).items():
        for row in lists["words"][category]:
            for word in _forms(row):
                words.setdefault(word, label)
        for sec_type in lists["sec_types"].get(category, ()):
            sec_types.setdefault(sec_type, label)
    if not (words or titles or sec_types):
        raise InputError("names no heading", where, "give [headings], [words], [titles], [nlm] or [sec_types]")
    return HeadingRules(
        titles=titles,
        words=words,
        sec_types=sec_types,
        order=known.choice("order", _ORDER),
        inside={key: frozenset(known.labels("inside", rows)) for key, rows in known.lists("inside").items()},
        default=known.label("default"),
        boxed=known.label("boxed"),
        parts=known.choice("parts", PARTS),
        required=frozenset(known.labels("required", table.get("required", []))),
        pattern=_pattern(words),
    )


@cache
def _heading_lists() -> dict[str, Any]:
    return read_table("headings.toml")


@cache
def _nlm_headings() -> dict[str, Any]:
    return read_table("nlm-headings.toml")


def _forms(row: str) -> Iterable[str]:
    """Give the spellings of a row: ``aim(s)`` is ``aim`` and ``aims``."""
    word = " ".join(row.lower().split())
    return (word[:-3], word[:-3] + "s") if word.endswith("(s)") else (word,)


def _spelled(lists: Mapping[str, Sequence[str]], known: _Checked) -> dict[str, str]:
    words: dict[str, str] = {}
    for label, rows in lists.items():
        for row in rows:
            for word in _forms(row):
                if words.setdefault(word, label) != label:
                    known.refuse(f"[words] gives {word!r} to {words[word]} and to {label}")
    return words


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Give what finds a word in a lower-case heading; of two that start at one place the longer wins."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    choice = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(rf"(?<!\w)(?:{choice})(?!\w)" if choice else r"(?!)")


class _Checked:
    """A scheme's table, read key by key; whatever is not as it should be raises InputError."""

    def __init__(self, table: Mapping[str, Any], labels: tuple[str, ...], where: Path) -> None:
        self.table = table
        self.names = labels
        self.where = where

    def refuse(self, what: str, todo: str | None = None) -> NoReturn:
        """Raise InputError."""
        raise InputError(what, self.where, todo)

    def label(self, key: str) -> str | None:
        """Give the label that a key names, None where the key is not there."""
        return self.labels(key, [self.table[key]])[0] if key in self.table else None

    def labels(self, key: str, values: Any) -> list[str]:
        """Give a list of labels as it is."""
        if not isinstance(values, list):
            self.refuse(f"{key} is not a list of labels")
        for value in values:
            if value not in self.names:
                self.refuse(f"{key} names {value!r}, which is no label", _nearest(str(value), self.names))
        return list(values)

    def choice(self, key: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
        """Give some of ``allowed`` in the order given, all where the key is not there."""
        values = self.table.get(key, list(allowed))
        if not isinstance(values, list) or not values or any(value not in allowed for value in values):
            self.refuse(f"{key} must be some of {', '.join(allowed)}", f'as {key} = ["{allowed[0]}"]')
        return tuple(values)

    def _section(self, key: str) -> Mapping[str, Any]:
        section = self.table.get(key, {})
        if not isinstance(section, dict):
            self.refuse(f"{key} is not a table", f"as [{key}]")
        return dict(section)

    def lists(self, key: str) -> dict[str, list[str]]:
        """Give a table from labels to lists of words."""
        section = self._section(key)
        for label, rows in section.items():
            self.labels(f"[{key}]", [label])
            if not isinstance(rows, list) or not all(isinstance(row, str) and _WORDS.search(row) for row in rows):
                self.refuse(f"[{key}] {label} is not a list of words", f'as {label} = ["a word", "another"]')
        return dict(section)

    def map(self, key: str, allowed: Iterable[str] | None = None) -> dict[str, str]:
        """Give a table whose values are labels, its keys among ``allowed`` if given."""
        section = self._section(key)
        for name, label in section.items():
            self.labels(f"[{key}] {name}", [label])
            if allowed is not None and name not in allowed:
                self.refuse(f"[{key}] has no list {name!r}", _nearest(name, tuple(allowed)))
        return dict(section)


def _nearest(word: str, known: Sequence[str]) -> str:
    close = get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"one of {', '.join(known)}"
