"""Markdown → Article: CommonMark with tables, foot-notes, ``$…$`` formulas and a YAML block in front.

The first heading is the title when it is the only one of its level, unless the front block names one. A section
called Abstract is the abstract; the reference list gives references. Code, tables, pictures, HTML and foot-notes are
left out, links leave their text, ``[@smith2010]`` is ``@cite``, items of lists are paragraphs of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyromark
import yaml
from lxml import etree
from lxml.builder import E

from sectioncls.documents.headed import Headed, decoded
from sectioncls.documents.rewritten import LANG, append_text, pub_ids, read_rewritten, stem, xml_text
from sectioncls.documents.xml import Element
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected

__all__ = ["read_markdown_each"]

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_YAML_STYLE_METADATA_BLOCKS
    | pyromark.Options.ENABLE_HEADING_ATTRIBUTES
)
# Formulas that CommonMark would take for text, with "\(" an escaped bracket and "=" below a line a heading.
_FORMULAS = re.compile(
    r"\\\((?:[^\\\n]|\\[^()\n])*+\\\)|\\\[(?:[^\\]|\\[^\[\]])*+\\\]|\$\$(?:(?!\n[ \t]*\n)[^$])*+\$\$"
)
# Characters of private use stand for what is decided already: a formula, and marks inside code that mean nothing.
_FORMULA = "\ue000"
_GUARDED = str.maketrans("@^~[", "\ue001\ue002\ue003\ue004")
_UNGUARDED = str.maketrans("\ue001\ue002\ue003\ue004", "@^~[")
_LEFT_OUT = {
    "CodeBlock": "code",
    "FootnoteDefinition": "fn",
    "HtmlBlock": "preformat",
    "Image": "inline-graphic",
    "MetadataBlock": "",
    "Table": "table-wrap",
}
_TAG = re.compile(r"<(/?)(su[bp]|br)\s*/?>", re.IGNORECASE)
_MARKED = re.compile(
    r"(?P<group>\[(?:[^\[\]@]{0,200}[\s;-])?@[\w{][^\[\]]{0,1000}\])"
    r"|(?<![\w@.])(?P<key>-?@(?:\{[^{}\s]{1,200}\}|\w(?:[^\s@\[\](){},;.]|\.(?=\w)){0,200}))"
    rf"|\^(?P<sup>[^\s^]{{1,40}})\^|(?<!~)~(?P<sub>[^\s~]{{1,40}})~(?!~)|(?P<formula>{_FORMULA})"
)
_CROSS = {"fig": "fig", "tbl": "table", "tab": "table", "eq": "disp-formula"}
_CROSS_KEY = re.compile(r"\[?-?@\{?(fig|tbl|tab|eq|sec)[:-]", re.IGNORECASE)
_MOST_FRONT = 32 << 10  # characters of the YAML block
_MOST_BRACKETS = 200
_DEEPEST = 4  # inline elements in each other
_MOST_NESTED = 500  # of a paragraph; emphasis beyond is plain text


def read_markdown_each(data: bytes, source: str) -> Iterator[Article | Rejected]:
    """Give the article of a Markdown document, or why there is none."""
    try:
        text = decoded(data)
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail)
        return
    reading = _Reading()
    for event in pyromark.events(_FORMULAS.sub(_FORMULA, text), options=_OPTIONS):
        reading.take(event)
    yield read_rewritten(_article(reading), source, stem(source))


class _Reading:
    """What one pass over the events of a document carries along."""

    def __init__(self) -> None:
        self.headed = Headed()
        self.front = ""
        self._out: str | None = None  # the kind of block that is left out
        self._out_depth = 0
        self._lost: list[str] = []
        self._around: list[str] = []  # lists and quotes, outermost first
        self._run: Element | None = None  # the paragraph or heading that grows
        self._inline: list[Element] = []  # elements that are open inside it
        self._level = 0
        self._nested = 0
        self._words: list[str] = []  # text that is not yet part of it

    def take(self, event: Any) -> None:
        """Take one event of the parser."""
        kind: str
        value: Any
        kind, value = (event, "") if isinstance(event, str) else next(iter(event.items()))
        name = value if isinstance(value, str) else next(iter(value)) if isinstance(value, dict) else ""
        if self._out is not None:
            self._leave(kind, name, value)
        elif kind == "Start":
            self._start(name, value)
        elif kind == "End":
            self._end(name)
        elif kind == "Text":
            self._words.append(value)
        elif kind in ("SoftBreak", "HardBreak"):
            self._words.append("\n")
        elif kind == "Code":
            self._words.append(value.translate(_GUARDED))
        elif kind in ("InlineMath", "DisplayMath"):
            self._words.append(_FORMULA)
        elif kind == "InlineHtml":
            self._html(value)

    def _leave(self, kind: str, name: str, value: Any) -> None:
        """Count what is inside a block that is left out."""
        if kind == "Start":
            self._out_depth += 1
        elif kind == "End":
            self._out_depth -= 1
            if self._out_depth == 0:
                text = "".join(self._lost)
                if self._out == "MetadataBlock":
                    self.front = self.front or text
                elif self._out == "Image":
                    self._text()
                    self._grow().append(E("inline-graphic", xml_text(text)))
                else:
                    self.headed.leave(_LEFT_OUT[str(self._out)], text)
                self._out = None
        elif kind in ("Text", "Code", "Html", "InlineHtml"):
            self._lost.append(str(value))

    def _start(self, name: str, value: Any) -> None:
        if name in _LEFT_OUT:
            self._out, self._out_depth, self._lost = name, 1, []
            if name != "Image":
                self._close()
        elif name == "Heading":
            self._close()
            self._level = int(value["Heading"]["level"][1:])
            self._run = etree.Element("title")
        elif name == "Paragraph":
            self._close()
            self._grow()
        elif name in ("List", "BlockQuote"):
            self._close()
            self._around.append("list" if name == "List" else "disp-quote")
        elif name == "Item":
            self._close()
        elif name in ("Strong", "Emphasis"):
            self._nest("bold" if name == "Strong" else "italic")

    def _end(self, name: str) -> None:
        if name in ("List", "BlockQuote"):
            self._close()
            self._around.pop()
        elif name in ("Heading", "Paragraph", "Item"):
            self._close()
        elif name in ("Strong", "Emphasis"):
            self._unnest("bold" if name == "Strong" else "italic")

    def _grow(self) -> Element:
        """Give the element that text goes to; text of a list's item needs no paragraph to stand in."""
        if self._run is None:
            self._run = etree.Element("p")
            self._level = 0
        return self._inline[-1] if self._inline else self._run

    def _close(self) -> None:
        """End the paragraph or heading."""
        self._text()
        run, self._run = self._run, None
        self._nested = 0
        self._inline.clear()
        if run is None:
            return
        if self._level:
            self.headed.heading(self._level, run)
        else:
            self.headed.paragraph(run, self._around[-1] if self._around else None)

    def _nest(self, tag: str) -> None:
        if len(self._inline) < _DEEPEST and self._nested < _MOST_NESTED:
            self._nested += 1
            self._text()
            self._inline.append(etree.SubElement(self._grow(), tag))

    def _unnest(self, tag: str) -> None:
        if self._inline and self._inline[-1].tag == tag:
            self._text()
            self._inline.pop()

    def _html(self, html: str) -> None:
        """Read ``<sup> <sub> <br>``; other tags vanish."""
        found = _TAG.fullmatch(html)
        tag = found[2].lower() if found else ""
        if tag == "br":
            self._words.append("\n")
        elif found and found[1]:
            self._unnest(tag)
        elif tag:
            self._nest(tag)

    def _text(self) -> None:
        """Append the words that came last; formulas, citations and raised letters in them become elements."""
        if not self._words:
            return
        around = self._grow()
        text = xml_text("".join(self._words))
        self._words.clear()
        at = 0
        for found in _MARKED.finditer(text):
            append_text(around, text[at : found.start()].translate(_UNGUARDED))
            at = found.end()
            if found["formula"]:
                around.append(E("inline-formula"))
            elif found["sup"] or found["sub"]:
                tag = "sup" if found["sup"] else "sub"
                etree.SubElement(around, tag).text = found[tag]
            else:
                _reference(around, found[0])
        append_text(around, text[at:].translate(_UNGUARDED))


def _reference(around: Element, text: str) -> None:
    """Append a citation (``[@smith2010]``) or a cross-reference (``@fig:sheep``)."""
    cross = _CROSS_KEY.match(text)
    kind = _CROSS.get(cross[1].lower(), "sec") if cross else "bibr"
    link = etree.SubElement(around, "xref", {"ref-type": kind})
    link.text = "" if kind == "sec" else text.strip("[]")


def _article(reading: _Reading) -> Element:
    """Give the article in JATS's words, its metadata from the front block."""
    front = _front(reading.front)
    title = _word(front.get("title"))
    article = reading.headed.article(title=title, abstract=_word(front.get("abstract")))
    meta = article[0][-1]
    kinds = ("doi", "pmid", "pmcid")
    meta.extend(pub_ids(((kind, _word(front.get(kind))) for kind in kinds if front.get(kind)), "article-id"))
    meta.append(E("contrib-group", *(E("contrib", E("collab", name)) for name in _authors(front))))
    date = _word(front.get("year")) or _word(front.get("date"))
    if date:
        meta.append(E("pub-date", E("year", date)))
    licence = front.get("licence") or front.get("license") or front.get("copyright")
    words = " ".join(map(_word, licence.values())) if isinstance(licence, dict) else _word(licence)
    if words:
        meta.append(E("permissions", E("license", words)))
    journal = front.get("journal")
    name = _word(journal.get("title") or journal.get("name")) if isinstance(journal, dict) else _word(journal)
    if name:
        article[0].insert(0, E("journal-meta", E("journal-title", name)))
    language = _word(front.get("lang") or front.get("language"))
    if language:
        article.set(LANG, language)
    return article


def _front(block: str) -> Mapping[str, Any]:
    """Give the keys of a YAML block; none where it can't be read."""
    block = block[:_MOST_FRONT]
    if block.count("[") + block.count("{") > _MOST_BRACKETS:  # deep nesting takes PyYAML a second to refuse
        return {}
    try:
        found = yaml.load(block, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {str(key).lower(): value for key, value in found.items()} if isinstance(found, dict) else {}


def _word(value: Any) -> str:
    return xml_text(" ".join(value.split())) if isinstance(value, str) else ""


def _authors(front: Mapping[str, Any]) -> Iterator[str]:
    """Give the names of ``author``: one, a list, or a list of mappings with ``name`` or its parts."""
    authors = front.get("author") or front.get("authors")
    for author in authors if isinstance(authors, list) else [authors]:
        if isinstance(author, dict):
            parts = [_word(author.get(key)) for key in ("given", "family")]
            name = _word(author.get("name")) or " ".join(part for part in parts if part)
        else:
            name = _word(author)
        if name:
            yield name
