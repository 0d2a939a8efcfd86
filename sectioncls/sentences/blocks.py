"""What lines say: blank lines, headings and items of lists end a sentence, other line breaks don't."""

from __future__ import annotations

import re
from itertools import chain

__all__ = ["blocks"]

_BREAK = r"(?:\r\n?+|[\n\x85\u2028])"
_INDENT = r"[^\S\r\n\x85\u2028\u2029]*+"
# A numbered line, one in capitals or a known name of a section, before a line that begins with a capital.
_TITLE = rf"""
    (?:\d{{1,2}}(?:\.\d{{1,2}}){{0,4}}\.?[ \t]+[A-Z][^\r\n.!?;:,]{{1,78}}
      |[A-Z][A-Z\ ,/&-]{{2,78}}
      |(?:Abstract|Background|Introduction|Objectives?|Aims?|(?:Patients|Materials?|Subjects)\ and\ [Mm]ethods?|Methods?
         |Results?(?:\ and\ [Dd]iscussion)?|Findings|Discussion|Conclusions?|Limitations|Acknowledge?ments?|Funding
         |Statistical\ [Aa]nalys[ei]s|Study\ [Dd]esign|Participants|Procedures?)
    ){_INDENT}{_BREAK}\s*+(?=[A-Z\d"“(])"""
_HEADING = re.compile(_TITLE, re.VERBOSE)
_ITEM = r"(?:[-–•*·‣▪]|\d{1,2}[.)]|\(?[a-z]\))\s"
_END = re.compile(
    rf"""
    [\r\n\x85\u2028\u2029](?:
        (?<=\u2029)\s*+
      | (?:(?<=\r)\n)?+{_INDENT}(?:[\r\n\x85\u2028]\s*+|(?={_ITEM})|(?<=[.?!]\n)(?={_TITLE}))
    )""",
    re.VERBOSE,
)


def blocks(text: str) -> list[tuple[int, int]]:
    """Give the (start, end) of parts that no sentence crosses, trimmed."""
    end = len(text.rstrip())
    start = len(text) - len(text.lstrip())
    if start >= end:
        return []
    if len(text.splitlines()) == 1:
        return [(start, end)]
    parts: list[tuple[int, int]] = []
    for found in chain(_END.finditer(text, start, end), [None]):
        stop = found.start() if found else end
        while heading := _HEADING.match(text, start, stop):
            parts.append((start, start + len(heading[0].rstrip())))
            start = heading.end()
        if start < stop:
            parts.append((start, start + len(text[start:stop].rstrip())))
        start = found.end() if found else end
    return parts
