"""From the headings above a paragraph to its label, and the rule that gave it.

The word lists are in ``tables/headings.toml``. They are ours: the paper (arXiv 2404.00224) published none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from sectioncls.schemes.scheme import read_table

__all__ = ["heading_label", "label_of"]


@dataclass(frozen=True, slots=True)
class _Rules:
    pattern: re.Pattern[str]
    words: Mapping[str, str]
    sec_types: Mapping[str, str]


@cache
def _rules() -> _Rules:
    table = read_table("headings.toml")
    words: dict[str, str] = {}
    for label, rows in table["words"].items():
        for row in rows:
            words[row.removesuffix("(s)")] = label
            if row.endswith("(s)"):
                words[row.removesuffix("(s)") + "s"] = label
    # Of two entries that start at one place, the longer wins.
    choice = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))
    return _Rules(re.compile(rf"\b(?:{choice})\b", re.IGNORECASE), words, dict(table["sec_types"]))


@lru_cache(maxsize=8192)
def heading_label(title: str) -> str | None:
    """Give the label of the category word that occurs first in a heading, None when it holds none."""
    rules = _rules()
    found = rules.pattern.search(title)
    return rules.words[" ".join(found.group().lower().split())] if found else None


@lru_cache(maxsize=1024)
def _sec_type_label(sec_type: str) -> tuple[str, str] | None:
    """Give (label, the part that gave it) of a sec-type such as ``materials|methods``."""
    for part in sec_type.split("|"):
        label = _rules().sec_types.get(part.strip().lower())
        if label is not None:
            return label, part.strip()
    return None


def _level(title: str | None, sec_type: str | None) -> tuple[str, str] | None:
    """Give (label, source) of one level, None when it maps to nothing."""
    label = heading_label(title) if title else None
    if label is not None:
        return label, f"title:{title}"
    found = _sec_type_label(sec_type) if sec_type else None
    return None if found is None else (found[0], f"sec-type:{found[1]}")


def label_of(levels: Sequence[tuple[str | None, str | None]], *, boxed: bool = False) -> tuple[str, str]:
    """Give (label, label_source) of a paragraph under ``levels``: (title, sec_type) pairs, outermost first.

    The outermost level that maps decides, save that an objective inside a background is an objective. A title
    that maps to nothing leaves the word to the sec-type. Boxed text is ``other`` whatever stands above it.
    ``label_source`` is ``title:…`` or ``sec-type:…`` with the words that decided, ``boxed`` or ``none``.
    """
    if boxed:
        return "other", "boxed"
    decided: tuple[str, str] | None = None
    for title, sec_type in levels:
        found = _level(title, sec_type)
        if found is None:
            continue
        if decided is None:
            decided = found
            if found[0] != "background":
                break
        elif found[0] == "objective":
            return found
    return decided if decided is not None else ("other", "none")
