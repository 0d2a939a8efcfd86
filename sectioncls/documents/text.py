"""Plain text with headings → Article.

A heading is a line by itself between blank lines that is short, begins with a capital or a number and has no stop at
its end; a numbered or ALL-CAPS line and the usual names of sections need no blank line below. The first block is the
title when it reads like one. Lines that were wrapped are joined, words hyphenated at a line's end too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.builder import E

from sectioncls.documents.headed import Headed, decoded
from sectioncls.documents.heads import is_head
from sectioncls.documents.rewritten import read_rewritten, stem, xml_text
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected

__all__ = ["read_text_each"]

_LONGEST_HEAD = 80  # characters
_MOST_WORDS = 12
_LONGEST_TITLE = 300
_DEEPEST = 6
_NUMBERED = re.compile(r"((?:\d{1,2}\.)*\d{1,2}|[IVX]{1,5}|[A-Z](?=[.)]))[.)]?\s+(?=[A-Z])")
_ITEM = re.compile(r"\s*(?:[-*•‣◦–]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+(?=\S)")
_USUAL = re.compile(r"[A-Z][A-Za-z]*(?:(?: | ?[/&,] ?)[A-Za-z]+){0,3}:?")
_CAPITALS = re.compile(r"[^a-z]*[A-Z][^a-z]*[A-Z][^a-z]*")
_HYPHENATED = re.compile(r"(\w+)-\n[ \t]*(\w+)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def read_text_each(data: bytes, source: str) -> Iterator[Article | Rejected]:
    """Give the article of a plain text, or why there is none."""
    try:
        text = xml_text(decoded(data))
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail)
        return
    blocks = [block for block in _BLANK.split(_joined_words(text).strip("\n")) if block.strip()]
    yield read_rewritten(_article(blocks).article(title=_title(blocks)), source, stem(source))


def _joined_words(text: str) -> str:
    """Give the text with words whole that were hyphenated at a line's end.

    The hyphen goes away between small letters, unless the text has the word with its hyphen elsewhere.
    """
    if "-\n" not in text:
        return text
    known = set(_WORD.findall(text))

    def join(found: re.Match[str]) -> str:
        left, right = found[1], found[2]
        kept = f"{left}-{right}"
        hyphenation = left[-1].islower() and right[0].islower() and kept not in known
        return left + right if hyphenation else kept

    return _HYPHENATED.sub(join, text)


def _title(blocks: list[str]) -> str:
    """Give the first block where it reads like a title; the others follow it."""
    first = " ".join(blocks[0].split()) if blocks else ""
    if len(blocks) < 2 or len(first) > _LONGEST_TITLE or blocks[0].strip().count("\n") > 2:
        return ""
    if first.endswith((".", ":", ";", ",")) or not (first[:1].isupper() or first[:1].isdigit()):
        return ""
    return "" if _kind(first, alone=True) in ("numbered", "usual") else first


def _article(blocks: list[str]) -> Headed:
    headed = Headed()
    seen: set[str] = set()  # kinds of headings so far
    for block in blocks[1:] if _title(blocks) else blocks:
        lines = block.split("\n")
        while lines:
            line = lines[0].strip()
            level = _level(line, seen, alone=len(lines) == 1)
            if not level:
                break
            headed.heading(level, E("title", line.rstrip(":")))
            lines.pop(0)
        for text, kind in _paragraphs(lines):
            headed.paragraph(E("p", text), kind)
    return headed


def _level(line: str, seen: set[str], *, alone: bool) -> int:
    """Give the level of a heading, 0 for a line that is none.

    ``alone`` tells that blank lines stand around it, ``seen`` what kinds of headings there are so far: one that
    names no section stands below those that do.
    """
    kind = _kind(line, alone=alone)
    number = _NUMBERED.match(line)
    if kind == "numbered" and number:
        return min(number[1].count(".") + 1, _DEEPEST)
    if kind in ("usual", "capitals"):
        seen.add(kind)
        return 1
    return 0 if kind is None else 2 if seen else 1


def _kind(line: str, *, alone: bool) -> str | None:
    """Give what makes a line a heading: ``numbered``, ``usual``, ``capitals`` or ``short``."""
    if not 2 < len(line) <= _LONGEST_HEAD or line[-1] in ".,;?!" or len(line.split()) > _MOST_WORDS:
        return None
    capitals = _CAPITALS.fullmatch(line) is not None
    number = _NUMBERED.match(line)
    if number and (alone or capitals or "." in number[0] or is_head(line)):
        return "numbered"
    if _ITEM.match(line):
        return None
    if len(line) <= _LONGEST_HEAD // 2 and _USUAL.fullmatch(line) and is_head(line):
        return "usual"
    if capitals and len(line) > 3:
        return "capitals"
    return "short" if alone and line[0].isupper() else None


def _paragraphs(lines: list[str]) -> Iterator[tuple[str, str | None]]:
    """Give the paragraphs of a block and their kinds: items of a list, and what first-line indents part."""
    run: list[str] = []
    kind: str | None = None
    for line in lines:
        item = _ITEM.match(line)
        indented = line.startswith(("  ", "\t")) and run and not run[-1].startswith(("  ", "\t"))
        ended = bool(run) and run[-1].rstrip().endswith((".", "!", "?", ":", ";"))
        if (item and (not run or kind == "list" or ended)) or (indented and ended and kind is None):
            if run:
                yield " ".join(run), kind
            kind = "list" if item else None
            line = line[item.end() :] if item else line
            run = []
        run.append(line)
    if run:
        yield " ".join(run), kind
