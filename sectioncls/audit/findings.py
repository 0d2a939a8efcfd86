"""What a check finds, as records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sectioncls.audit.rows import Rows

__all__ = [
    "CLEAN",
    "EXAMPLES",
    "LARGE_SHARE",
    "Finding",
    "Place",
    "Severity",
    "article_place",
    "many",
    "sentence_places",
    "share",
]

Severity = Literal["error", "warning", "note"]

LARGE_SHARE = 0.01
"""Sentences concerned, as a share of the split, from which on a finding weighs more."""

EXAMPLES = 5

CLEAN = "sectioncls check CORPUS --write-clean OUT   writes a twin without leaks, repeats and disagreeing labels"


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of a corpus, or a whole article where ``index`` is None; ``text`` only where it was asked for."""

    split: str
    article_id: str
    index: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    ``count`` of ``of`` articles or sentences are concerned, as ``text`` says; ``sentences`` counts their rows.
    An example is the places that belong together, the one that ``text`` speaks of first. ``error``: scores
    measured on this corpus are not what they seem. ``warning``: something to look at. ``note``: good to know.
    """

    check: str
    severity: Severity
    text: str
    count: int
    of: int
    sentences: int
    splits: tuple[str, ...]
    examples: tuple[tuple[Place, ...], ...] = ()
    todo: str = ""


def article_place(rows: Rows, split: int, article: int) -> Place:
    """Give the place of a whole article."""
    return Place(rows.splits[split], rows.article_ids[article])


def sentence_places(rows: Rows, groups: Iterable[Sequence[Any]]) -> tuple[tuple[Place, ...], ...]:
    """Give the places of some groups of row numbers, the first few groups."""
    found: list[tuple[Place, ...]] = []
    for group in groups:
        if len(found) == EXAMPLES:
            break
        found.append(
            tuple(
                Place(rows.splits[rows.split[row]], rows.article_ids[rows.article[row]], int(rows.index[row]))
                for row in group
            )
        )
    return tuple(found)


def share(count: int, of: int) -> str:
    """Give a share in per cent with one digit; what is not nothing never reads 0.0."""
    percent = 100 * count / of if of else 0.0
    return "< 0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def many(count: int, noun: str) -> str:
    """Give a count with its noun: ``1 article``, ``2,189 articles``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
