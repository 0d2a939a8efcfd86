"""From the headings above a paragraph to its label, the rule that gave it, and an account of why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sectioncls.schemes.rules import HeadingRules, plain_heading
from sectioncls.schemes.scheme import LabelScheme, load_scheme

__all__ = ["DEFAULT_SCHEME", "Explanation", "Hit", "Level", "LevelReading", "explain", "heading_label", "label_of"]

DEFAULT_SCHEME = "pmc-sents"
Level = tuple[str | None, str | None]
"""(title, sec_type) of one section above a paragraph."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Something in a heading that names a label.

    ``kind`` is ``heading`` (the whole title is in a list), ``word`` or ``sec-type``; ``start`` is where ``text``
    begins in the title or the attribute, in characters.
    """

    kind: str
    text: str
    start: int
    label: str


@dataclass(frozen=True, slots=True)
class LevelReading:
    """One level of a path: all that names a label in it, in order of precedence; the first one is its label."""

    title: str | None
    sec_type: str | None
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The label of a path and why: ``decided`` is the level that did (from 0), None when none maps.

    ``label`` is empty where the scheme has none; ``reason`` is the rule of precedence in words.
    """

    scheme: str
    label: str
    label_source: str
    levels: tuple[LevelReading, ...]
    decided: int | None
    reason: str


@lru_cache(maxsize=8192)
def heading_label(title: str, scheme: LabelScheme | None = None) -> str | None:
    """Give the label of the category word that occurs first in a heading, None when it holds none."""
    rules = (scheme or load_scheme(DEFAULT_SCHEME)).heading_rules()
    found = rules.pattern.search(title.lower())
    return rules.words[_key(found.group())] if found else None


def label_of(levels: Sequence[Level], scheme: LabelScheme | None = None, *, boxed: bool = False) -> tuple[str, str]:
    """Give (label, label_source) of a paragraph under ``levels``: (title, sec_type) pairs, outermost first.

    In one level the whole title counts before the word that occurs first in it, and a title that maps to nothing
    leaves the word to the sec-type (the other way round where a scheme says so). The outermost level that maps
    decides, save for labels that the scheme keeps inside another (an objective inside a background). The scheme is
    pmc-sents unless given. ``label_source`` is ``title:…`` or ``sec-type:…`` with the words that decided, ``boxed``
    or ``none``; the label is empty where the scheme has none for text that no heading names.
    """
    scheme = scheme or load_scheme(DEFAULT_SCHEME)
    rules = scheme.heading_rules()
    if boxed and rules.boxed is not None:
        return rules.boxed, "boxed"
    decided = _decide(levels, scheme, rules)
    return decided[1] if decided is not None else (rules.default or "", "none")


def explain(levels: Sequence[Level], scheme: LabelScheme | None = None) -> Explanation:
    """Give what ``label_of`` gives, with all that was found on the way."""
    scheme = scheme or load_scheme(DEFAULT_SCHEME)
    rules = scheme.heading_rules()
    label, source = label_of(levels, scheme)
    decided = _decide(levels, scheme, rules)
    place = None if decided is None else decided[0]
    readings = tuple(LevelReading(title, sec_type, _hits(title, sec_type, rules)) for title, sec_type in levels)
    return Explanation(scheme.name, label, source, readings, place, _reason(readings, place, label, rules))


def _decide(levels: Sequence[Level], scheme: LabelScheme, rules: HeadingRules) -> tuple[int, tuple[str, str]] | None:
    """Give (place, (label, source)) of the level that decides, None when none maps."""
    decided: tuple[int, tuple[str, str]] | None = None
    keeps: frozenset[str] = frozenset()
    for place, (title, sec_type) in enumerate(levels):
        found = _level(title, sec_type, scheme)
        if found is None:
            continue
        if decided is None:
            decided = (place, found)
            keeps = rules.inside.get(found[0], frozenset())
            if not keeps:
                break
        elif found[0] in keeps:
            return place, found
    return decided


@lru_cache(maxsize=16384)
def _level(title: str | None, sec_type: str | None, scheme: LabelScheme) -> tuple[str, str] | None:
    """Give (label, source) of one level, None when it maps to nothing."""
    hits = _hits(title, sec_type, scheme.heading_rules())
    if not hits:
        return None
    source = f"sec-type:{hits[0].text}" if hits[0].kind == "sec-type" else f"title:{title}"
    return hits[0].label, source


def _hits(title: str | None, sec_type: str | None, rules: HeadingRules) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    for kind in rules.order:
        hits += _title_hits(title or "", rules) if kind == "title" else _sec_type_hits(sec_type or "", rules)
    return tuple(hits)


def _title_hits(title: str, rules: HeadingRules) -> list[Hit]:
    hits = []
    if rules.titles:
        label = rules.titles.get(plain_heading(title))
        if label is not None:
            hits.append(Hit("heading", title, 0, label))
    lower = title.lower()
    shown = title if len(title) == len(lower) else lower
    for found in rules.pattern.finditer(lower):
        hits.append(Hit("word", shown[slice(*found.span())], found.start(), rules.words[_key(found.group())]))
    return hits


def _sec_type_hits(sec_type: str, rules: HeadingRules) -> list[Hit]:
    """Give the known parts of a sec-type such as ``materials|methods``."""
    hits = []
    start = 0
    for part in sec_type.split("|"):
        label = rules.sec_types.get(part.strip().lower())
        if label is not None:
            hits.append(Hit("sec-type", part.strip(), start + len(part) - len(part.lstrip()), label))
        start += len(part) + 1
    return hits


def _key(found: str) -> str:
    return " ".join(found.split())


def _reason(levels: tuple[LevelReading, ...], decided: int | None, label: str, rules: HeadingRules) -> str:
    """Give the rule of precedence that applied, in words."""
    if decided is None:
        if label:
            return f"nothing maps, so the scheme's default applies: {label}"
        return "nothing maps and the scheme has no default: such text is left out"
    mapped = [place for place, level in enumerate(levels) if level.hits]
    if decided != mapped[0]:
        outer = levels[mapped[0]].hits[0].label
        return f"{label} inside {outer} keeps its own label in this scheme"
    if len(mapped) > 1:
        return "the outermost level that maps decides"
    first, *others = levels[decided].hits
    if not others or all(hit.label == first.label for hit in others):
        return "nothing speaks against it"
    if first.kind == "heading":
        return "a whole heading counts before its words"
    if first.kind == others[0].kind:
        return "the word that occurs first decides" if first.kind == "word" else "the first known part decides"
    return f"the {'sec-type' if first.kind == 'sec-type' else 'title'} speaks first in this scheme"
