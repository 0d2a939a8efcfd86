"""Where a text stands in brackets or quotes."""

from __future__ import annotations

import re

__all__ = ["LONG", "enclosed"]

LONG = 1000
"""Characters from which on a bracket or quote no longer holds its sentences together."""

_PAIRS = dict(zip(")]}”’»」』）】》", "([{“‘«「『（【《", strict=True))
_OPENING = frozenset("„") | frozenset(_PAIRS.values())
_ALL = re.escape("".join({*_PAIRS, *_OPENING})) + "\"'"
# A mark, or a whole bracket without marks and stops, which nobody needs to know of.
_MARKS = re.compile(rf"[{_ALL}](?:(?<=\()[^{_ALL}.?!…。！？]{{0,200}}+\)|)")


def enclosed(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Give the (opening, closing) positions of outermost pairs, in order; pairs over LONG characters don't count.

    Brackets in which nothing can end may be missing. Each kind of mark is matched by itself, so one that is never
    closed disturbs no other. Linear in time.
    """
    opened: dict[str, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    for found in _MARKS.finditer(text, start, end):
        mark = found[0]
        if len(mark) > 1:
            continue
        at = found.start()
        waiting = _closed_by(mark, text, at, opened)
        if not waiting:
            if mark in _OPENING or (mark in "\"'" and _opens(text, at)):
                opened.setdefault(mark, []).append(at)
            continue
        since = waiting.pop()
        if at - since > LONG:
            continue
        while pairs and pairs[-1][0] > since:
            pairs.pop()
        if pairs and pairs[-1][1] > since:
            since = pairs.pop()[0]
        pairs.append((since, at))
    return pairs


def _closed_by(mark: str, text: str, at: int, opened: dict[str, list[int]]) -> list[int] | None:
    """Give the places of the marks of which this one may close the last."""
    if mark == "“":
        return opened.get("„")
    if mark in _OPENING:
        return None
    goes_on = text[at + 1 : at + 2].isalnum()
    if mark == "’":
        return None if goes_on else opened.get("‘")
    if mark == '"':
        return None if goes_on or text[at - 1].isspace() else opened.get(mark)
    if mark == "'":
        return opened.get(mark) if text[at - 1] in ".?!,;" and not goes_on else None
    return opened.get(_PAIRS[mark])


def _opens(text: str, at: int) -> bool:
    """Tell whether a straight quote may open one: no word stands before it, as before an apostrophe or inch sign."""
    before = text[at - 1 : at]
    return not before.isalnum() and text[at + 1 : at + 2].strip() != ""
