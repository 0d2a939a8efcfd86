"""Run-in heads: ``Background: Sheep graze. Methods: We counted.`` cut into headed parts."""

from __future__ import annotations

import re
from itertools import islice

from sectioncls.documents.inline import HEAD_END, HEAD_START, clean
from sectioncls.schemes import heading_label

__all__ = ["MAX_HEAD", "RUN_IN", "is_head", "split_heads"]

RUN_IN = "run-in"
"""The ``sec_type`` of a Section that a run-in head opens; its title is the head."""
MAX_HEAD = 80
"""Most characters of a run-in head."""
_MOST_HEADS = 500  # looked at in one paragraph
_FEW_WORDS = 5  # a longer head needs a sign at its end
_CLOSING = frozenset(":.-–—")

_TAGGED = re.compile(f"{HEAD_START}([^{HEAD_START}{HEAD_END}]*){HEAD_END}")
_MARKS = re.compile(f"[{HEAD_START}{HEAD_END}]")
_NUMBER = r"\(?(?:\d{1,2}|[ivxIVX]{1,4}|[a-hA-H])[.)]"
# "MATERIALS AND METHODS:", "Methods:", "(2) Patients and methods:", at the start or after a sentence end.
_PLAIN = re.compile(
    rf"(?:^\s*|(?<=[.!?])\s+)((?:{_NUMBER}\s*)?"
    r"(?:[A-Z][A-Z]+(?:[ /&,-]{1,3}[A-Z]+){0,6}|[A-Z][a-z]+(?: (?:and|&) [A-Za-z][a-z]+)?|Trial [Rr]egistration))"
    r"\s?:(?=\s)"
)
_NUMBER_BEFORE = re.compile(rf"(?:^|(?<=\s)){_NUMBER}\s*\Z")
_BEHIND_STOPS = "])}\"'”’»\x01\x05 \t\r\n\u00a0"
_STOPS = frozenset(".!?")


def is_head(text: str) -> bool:
    """Tell whether the text of a bold or italic element names a section."""
    return len(text) <= MAX_HEAD and heading_label(text) is not None


def split_heads(raw: str, *, abstract: bool) -> list[tuple[str | None, str]]:
    """Give (head, raw text) parts of a raw paragraph; the first part has no head where none opens it.

    ``raw`` carries HEAD_START and HEAD_END around elements that name a section. In an abstract a head counts
    at the start or after a sentence end, tagged or plain, a number before it being part of it; elsewhere only
    tagged and at the start.
    """
    cuts: list[tuple[int, int, str]] = []  # start of the head, start of its text, the head
    for found in islice(_TAGGED.finditer(raw), _MOST_HEADS) if HEAD_START in raw else ():
        if not _closed(found[1], raw[found.end() : found.end() + 3]) and _doubtful(found[1], abstract=abstract):
            continue
        before = raw[max(0, found.start() - 200) : found.start()]
        number = _NUMBER_BEFORE.search(before) if abstract and before.rstrip()[-1:] in (".", ")") else None
        if number and _opens(before[: number.start()], abstract=True):
            cuts.append((found.start() - len(before) + number.start(), found.end(), f"{number[0]}{found[1]}"))
        elif _opens(before, abstract=abstract) and (found.start() < 200 or before.strip()):
            cuts.append((found.start(), found.end(), found[1]))
    if abstract and ":" in raw:
        for found in islice(_PLAIN.finditer(raw), _MOST_HEADS):
            if heading_label(found[1]) is not None:
                cuts.append((found.start(1), found.end(), found[1]))
    if not cuts:
        return [(None, _MARKS.sub("", raw) if HEAD_START in raw else raw)]
    cuts.sort()
    parts: list[tuple[str | None, str]] = [(None, _MARKS.sub("", raw[: cuts[0][0]]))]
    for place, (_, begin, head) in enumerate(cuts):
        end = cuts[place + 1][0] if place + 1 < len(cuts) else len(raw)
        parts.append((_name(head), _body(raw[begin:end])))
    return [part for part in parts if part[0] is not None or part[1].strip()]


def _closed(head: str, after: str) -> bool:
    """Tell whether a colon, stop or dash ends a head, inside or right behind its element."""
    return (head.rstrip() or " ")[-1] in _CLOSING or (after.lstrip() or " ")[0] in _CLOSING


def _doubtful(head: str, *, abstract: bool) -> bool:
    """Tell whether a head without a sign at its end may be the start of a sentence, a book's title perhaps."""
    words = head.split()
    return len(words) > _FEW_WORDS or not (abstract or is_head(" ".join(words[:2])))


def _opens(before: str, *, abstract: bool) -> bool:
    """Tell whether a head may follow this text: nothing, or in an abstract a sentence end."""
    return not before.strip() or (abstract and before.rstrip(_BEHIND_STOPS)[-1:] in _STOPS)


def _name(head: str) -> str:
    """Give a head as it joins the path: clean, without its last ``:`` or ``.``."""
    return clean(head).rstrip(":. ").strip()


def _body(raw: str) -> str:
    """Give the text behind a head, without the colon or stop that belongs to the head."""
    text = _MARKS.sub("", raw).lstrip()
    return text[1:].lstrip() if text[:1] in (":", ".") else text
