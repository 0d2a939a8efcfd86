"""Headings that are paragraphs: a ``p`` that holds nothing but a short emphasised line."""

from __future__ import annotations

import re
from itertools import islice

from sectioncls.documents.heads import MAX_HEAD
from sectioncls.documents.inline import clean
from sectioncls.documents.raw import clean_text
from sectioncls.documents.tags import BREAK, EMPHASIS, FLOAT, INLINE, KINDS, LIST, QUOTE, SEC, SUP, TITLE, P, local_name
from sectioncls.documents.xml import Element
from sectioncls.schemes import heading_label

__all__ = ["bold_heading"]

BOLD = 1
OTHER = 2  # italic, underlined, small capitals: stands below a bold heading
_PLAIN_KINDS = frozenset((INLINE, EMPHASIS, SUP, BREAK))
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE_ENDS = frozenset(".;,!")
_FEW_WORDS = 5  # a heading may end like a sentence only when it is as short as this
_AROUND = " \t\r\n\u00a0.:"


def bold_heading(element: Element, *, abstract: bool) -> tuple[str, int, int] | None:
    """Give (heading, level, children) when a ``p`` is the heading of what follows it, None when it is prose.

    It is one when all its text is emphasised, short (80 characters), no link, and names a category ("Methods"),
    or, outside an abstract, does not end like a sentence and prose follows that is not such a line itself.
    Level 1 is bold, level 2 any other emphasis. The heading are the first ``children`` of the ``p``; what is
    behind them are lists, boxes and floats.
    """
    found = _line(element)
    if found is None:
        return None
    level, children = found
    raw = "".join(text for child in islice(element, children) for text in (*child.itertext(), child.tail or ""))
    whole = children == len(element)
    heading = (clean_text(element) if whole else clean(raw, wordless=True)).rstrip(":. ")
    if not heading or len(heading) > MAX_HEAD or _LETTER.search(heading) is None:
        return None
    if abstract and ":" in heading:  # "Setting: a farm" is a line of its own, not a heading
        return None
    mapped = heading_label(heading) is not None
    if raw.rstrip()[-1] in _SENTENCE_ENDS and not (mapped and len(heading.split()) <= _FEW_WORDS):
        return None
    if mapped or (not abstract and _prose_follows(element, level, children)):
        return heading, level, children
    return None


def _line(element: Element) -> tuple[int, int] | None:
    """Give (level, children) of a ``p`` whose whole text is emphasised, blocks behind it aside, None for any other."""
    if (element.text or "").strip():
        return None
    level = OTHER
    children = 0
    for place, child in enumerate(element):
        if child.tail and child.tail.strip(_AROUND):
            return None
        kind = KINDS[child.tag]
        if kind == FLOAT or (kind >= LIST and kind not in (SEC, TITLE)):
            continue
        if kind != EMPHASIS or children != place:
            return None
        if any(KINDS[inner.tag] not in _PLAIN_KINDS for inner in child.iterdescendants()):
            return None
        children += 1
        if local_name(child.tag) == "bold" or (len(child) == 1 and local_name(child[0].tag) == "bold"):
            level = BOLD
    return (level, children) if children else None


def _prose_follows(element: Element, level: int, children: int) -> bool:
    if any(KINDS[child.tag] in (LIST, QUOTE) for child in islice(element, children, None)):
        return True
    after = element.getnext()
    while after is not None and KINDS[after.tag] == FLOAT:
        after = after.getnext()
    if after is None:
        return False
    if KINDS[after.tag] == P:
        below = _line(after)
        return below is None or below[0] > level
    return KINDS[after.tag] in (LIST, QUOTE)
