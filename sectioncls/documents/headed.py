"""Texts that are headings and paragraphs in reading order (Markdown, plain text), put together as an article."""

from __future__ import annotations

import re

from lxml.builder import E

from sectioncls.documents.heads import is_head
from sectioncls.documents.rewritten import Body, article_element, xml_text
from sectioncls.documents.xml import Element
from sectioncls.errors import DocumentRejected

__all__ = ["MAX_TEXT_BYTES", "Headed", "decoded"]

MAX_TEXT_BYTES = 8 << 20
"""Most bytes of a text document."""

_ABSTRACT = re.compile(r"\W*(?:abstract|summary)\W*", re.IGNORECASE)
_REFERENCES = re.compile(
    r"[\d.\s]*(?:references?(?: (?:list|cited))?|bibliography|literature(?: cited)?|works cited)[\s:.]*", re.IGNORECASE
)
_PROSE = ("p", "list", "disp-quote")
_SHORT_TITLE = 3  # words

_CAPTION = re.compile(
    r"\s*(?:(?:(?:Supplementary|Supp\.|Extended Data)\s+)?(?:Figure|Fig\.?|Table|Tab\.?)\s+"
    r"[A-Z]?\d{1,3}[a-z]?\s?[.:|–—]|Table:|:)\s"
)


def decoded(data: bytes) -> str:
    """Give the text of a document in UTF-8, with or without byte order mark.

    Raises DocumentRejected with reason ``empty malformed not-text too-large``.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise DocumentRejected("too-large", f"more than {MAX_TEXT_BYTES >> 20} MiB")
    if b"\0" in data:
        raise DocumentRejected("not-text", "the file holds bytes that no text has")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentRejected("malformed", f"byte {error.start} does not fit UTF-8") from error
    if not text.strip():
        raise DocumentRejected("empty", "the file holds no text")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")


class Headed:
    """An article that grows by headings and paragraphs."""

    def __init__(self) -> None:
        self._body = Body()
        self._levels: list[int] = []
        self._references: list[Element] = []
        self._listing = 0  # the level of the reference list that is open

    def leave(self, tag: str, text: str) -> None:
        """Add text that is no prose, as the JATS element of that name."""
        if text and not text.isspace():
            self._body.section.append(E(tag, xml_text(text)))

    def heading(self, level: int, title: Element) -> None:
        """Open a section of ``level``, 1 the outermost; ``title`` is an element ``title``."""
        if self._listing and level > self._listing:
            return
        text = "".join(title.itertext())
        self._listing = level if _REFERENCES.fullmatch(text) else 0
        self._levels.append(level)
        self._body.heading(level, title)

    def paragraph(self, paragraph: Element, kind: str | None = None) -> None:
        """Add an element ``p``; ``kind`` is ``list``, ``disp-quote`` or None."""
        if self._listing:
            self._references.append(E("ref", E("ext-link", "".join(paragraph.itertext()))))
        elif kind is None and _CAPTION.match("".join(paragraph.itertext())):
            self.leave("fig", "".join(paragraph.itertext()))
        else:
            self._body.section.append(paragraph if kind is None else E(kind, paragraph))

    def article(self, *, title: str = "", abstract: str = "") -> Element:
        """Give the article in JATS's words; a lone outermost first heading is its title unless one is given."""
        body = self._body.element
        heading = E("article-title", title)
        first = next((child for child in body if child.tag in ("sec", *_PROSE)), None)
        if first is not None and first.tag == "sec":
            name = first[0]
            text = " ".join("".join(name.itertext()).split())
            lone = self._levels[0] == min(self._levels) and self._levels.count(self._levels[0]) == 1
            if text == title or (not title and lone and not _names_a_section(text)):
                first.remove(name)
                if not title:
                    name.tag = "article-title"
                    heading = name
                _unwrap(first)
        found = _abstract(body)
        if found is None and abstract:
            found = E("abstract", E("p", abstract))
        return article_element([E("title-group", heading)], abstract=found, body=body, references=self._references)


def _names_a_section(text: str) -> bool:
    """Tell whether a heading is too short and too usual to be the title of an article."""
    return _ABSTRACT.fullmatch(text) is not None or (len(text.split()) <= _SHORT_TITLE and is_head(text))


def _unwrap(section: Element) -> None:
    """Put the children of a section in its place."""
    around = section.getparent()
    assert around is not None
    place = around.index(section)
    around[place : place + 1] = list(section)


def _abstract(body: Element) -> Element | None:
    """Give the first section called Abstract, taken out of the body."""
    for section in body:
        if section.tag == "sec" and _ABSTRACT.fullmatch("".join(section[0].itertext())):
            body.remove(section)
            section.remove(section[0])
            section.tag = "abstract"
            return section
    return None
