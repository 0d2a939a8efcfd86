"""Run-in heads: ``Background: Sheep graze. Methods: We counted.`` cut into headed parts."""

from __future__ import annotations

import re

from sectioncls.documents.inline import HEAD_END, HEAD_START, clean
from sectioncls.schemes import heading_label

__all__ = ["MAX_HEAD", "RUN_IN", "is_head", "split_heads"]

RUN_IN = "run-in"
"""The ``sec_type`` of a Section that a run-in head opens; its title is the head."""
MAX_HEAD = 80
"""Most characters of a run-in head."""

_TAGGED = re.compile(f"{HEAD_START}([^{HEAD_START}{HEAD_END}]*){HEAD_END}")
_MARKS = re.compile(f"[{HEAD_START}{HEAD_END}]")
# "MATERIALS AND METHODS:" or "Methods:", at the start or after a sentence end.
_PLAIN = re.compile(r"(?:^\s*|(?<=[.!?])\s+)([A-Z][A-Z]+(?:[ /&,-]{1,3}[A-Z]+){0,6}|[A-Z][a-z]+)\s?:(?=\s)")
_SENTENCE_END = re.compile("[.!?][\\])}\"'”’»\x01\x05\\s]*$")
_LONGEST_END = 50


def is_head(text: str) -> bool:
    """Tell whether the text of a bold or italic element names a section."""
    return len(text) <= MAX_HEAD and heading_label(text) is not None


def split_heads(raw: str, *, abstract: bool) -> list[tuple[str | None, str]]:
    """Give (head, raw text) parts of a raw paragraph; the first part has no head where none opens it.

    ``raw`` carries HEAD_START and HEAD_END around elements that name a section. In an abstract a head counts
    at the start or after a sentence end, tagged or plain; elsewhere only tagged and at the start.
    """
    cuts: list[tuple[int, int, str]] = []  # start of the head, start of its text, the head
    for found in _TAGGED.finditer(raw) if HEAD_START in raw else ():
        before = raw[max(0, found.start() - 200) : found.start()]
        if (before.strip() == "" and found.start() < 200) or (abstract and _SENTENCE_END.search(before.rstrip())):
            cuts.append((found.start(), found.end(), found[1]))
    if abstract and ":" in raw:
        for found in _PLAIN.finditer(raw):
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


def _name(head: str) -> str:
    """Give a head as it joins the path: clean, without its last ``:`` or ``.``."""
    return clean(head).rstrip(":. ").strip()


def _body(raw: str) -> str:
    """Give the text behind a head, without the colon or stop that belongs to the head."""
    text = _MARKS.sub("", raw).lstrip()
    return text[1:].lstrip() if text[:1] in (":", ".") else text
