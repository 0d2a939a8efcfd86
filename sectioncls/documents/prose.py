"""The walk over the blocks of an article: sections, paragraphs, and what is left out of them.

Headings come from three places. In order of precedence: the ``title`` of a section or box; a paragraph that is a
heading (``bold.py``), which holds until the next of its level or the end of the section it stands in; run-in
heads (``heads.py``), which hold for the text behind them, in an abstract anywhere and in a body only outside
titled sections. Each joins the path below those above it; which of them gives the label is a matter of
``schemes``: the outermost that maps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from sectioncls.documents.account import Account, characters
from sectioncls.documents.bold import bold_heading
from sectioncls.documents.heads import RUN_IN, split_heads
from sectioncls.documents.inline import HEAD_START, clean
from sectioncls.documents.raw import clean_text, read_inline
from sectioncls.documents.tags import (
    BOX,
    EMPHASIS,
    FLOAT,
    FORMULA,
    KINDS,
    LIST,
    NOTE,
    QUOTE,
    SEC,
    STATEMENT,
    TITLE,
    P,
    local_name,
)
from sectioncls.documents.xml import Element
from sectioncls.records import Paragraph, Section

__all__ = ["Walk", "read_sections"]

_DEEPEST_PATH = 32
_TARGETS = {"ref": "bibr", "fig": "fig", "table-wrap": "table", "disp-formula": "disp-formula", "fn": "fn"}
_BLOCK_KINDS = {LIST: "list", QUOTE: "quote", STATEMENT: "p", BOX: "box"}


@dataclass(slots=True)
class _Open:
    """A section while it is read; ``level`` is that of a heading that is a paragraph, 0 for any other."""

    title: str | None = None
    sec_type: str | None = None
    path: tuple[str, ...] = ()
    titled: bool = False
    boxed: bool = False
    paragraphs: list[Paragraph] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    level: int = 0

    def below(self, title: str | None, sec_type: str | None, level: int = 0) -> _Open:
        """Give a section inside this one; a box is flat, so what is in it belongs to the section around it."""
        path = (*self.path, title) if title and len(self.path) < _DEEPEST_PATH else self.path
        inner = _Open(title, sec_type, path, self.titled or title is not None, self.boxed, level=level)
        if self.boxed:
            inner.paragraphs, inner.sections = self.paragraphs, self.sections
        return inner

    def add(self, inner: _Open) -> None:
        """Close a section inside this one."""
        if not self.boxed:
            section = Section(inner.title, inner.sec_type, tuple(inner.paragraphs), tuple(inner.sections))
            self.sections.append(section)


class Walk:
    """What one pass over an article carries along; see ``raw.Walk`` for its methods.

    ``origins`` is filled with the ``p`` element of each paragraph when it is a list.
    """

    __slots__ = ("_targets", "abstract", "account", "article", "at", "heads", "into", "kind", "nodes", "origins")

    def __init__(self, article: Element, origins: list[Element] | None = None) -> None:
        self.article = article
        self._targets: dict[str, str] | None = None
        self.nodes = 0
        self.account = Account()
        self.origins = origins
        self.abstract = False
        self.heads = False
        self.into = _Open()
        self.kind = "p"
        self.at: Element | None = None

    def target(self, rid: str | None) -> str | None:
        """Give the ``ref-type`` of a link that states none, by the element of this article it leads to."""
        if not rid:
            return None
        if self._targets is None:
            self._targets = {
                element.get("id") or "": _TARGETS[local_name(element.tag)]
                for element in self.article.iter(*("{*}" + name for name in _TARGETS))
            }
        return self._targets.get(rid.split()[0] if " " in rid else rid)

    def emit(self, raw: str) -> None:
        """Add a paragraph; its run-in heads open sections."""
        into = self.into
        if not self.abstract and (into.titled or HEAD_START not in raw):
            text = clean(raw, self.account)
            if text:
                into.paragraphs.append(self._paragraph(text, into.path))
            return
        parts = split_heads(raw, abstract=self.abstract)
        if len(parts) > 1 or (parts and parts[0][0]):
            self.account.count("heading", characters(raw) - sum(characters(part) for _, part in parts))
        for head, part in parts:
            text = clean(part, self.account)
            if not text:
                continue
            if head:
                into.sections.append(Section(head, RUN_IN, (self._paragraph(text, (*into.path, head)),)))
            else:
                into.paragraphs.append(self._paragraph(text, into.path))

    def _paragraph(self, text: str, path: tuple[str, ...]) -> Paragraph:
        node = self.nodes
        self.nodes = node + 1
        if self.origins is not None and self.at is not None:
            self.origins.append(self.at)
        return Paragraph(text, self.kind, path, node)

    def block(self, element: Element, kind: int) -> None:
        """Read a block, or another ``p``, that stands inside a paragraph."""
        at = self.at
        if kind == P:
            self.at = element
            out: list[str] = []
            read_inline(element, out, self)
            if out:
                self.emit("".join(out))
        else:
            _block(element, kind, self)
        self.at = at
        self.heads = self.abstract or not self.into.titled


def read_sections(
    element: Element, walk: Walk, *, path: tuple[str, ...] = (), abstract: bool = False
) -> tuple[Section, ...]:
    """Give the sections of a body or abstract; paragraphs outside any section stand in an untitled first one."""
    walk.into = top = _Open(path=path)
    walk.abstract = abstract
    walk.kind = "p"
    _blocks(element, walk)
    if not top.paragraphs:
        return tuple(top.sections)
    return (Section(None, None, tuple(top.paragraphs)), *top.sections)


def _blocks(element: Element, walk: Walk, start: int = 0) -> None:
    """Read the children of a section, list, quote or box from ``start`` on; text outside a paragraph is no prose."""
    account = walk.account
    begin = walk.into
    above: list[_Open] = []  # the sections around the heading that is a paragraph
    text = element.text
    if text and not (text.isspace() and text.isascii()):
        account.stray.append(text)
    for child in islice(element, start, None) if start else element:
        kind = KINDS[child.tag]
        if kind == P:
            heading = None
            if len(child) and KINDS[child[0].tag] == EMPHASIS and walk.kind in ("p", "box"):
                heading = bold_heading(child, abstract=walk.abstract)
            if heading is None:
                _paragraph(child, walk)
            else:
                title, level, parts = heading
                _close(above, walk, level)
                above.append(walk.into)
                walk.into = walk.into.below(title, None, level)
                for part in islice(child, parts):
                    account.leave(part, "heading")
                    account.headings.append(part.tail or "")
                _blocks(child, walk, parts)
        elif kind >= LIST:
            if kind == SEC:
                if above:
                    _close(above, walk, 0)
                _section(child, walk)
            elif kind == BOX:
                _box(child, walk)
            else:
                _block(child, kind, walk)
        elif kind in (FLOAT, NOTE, FORMULA):
            account.leave(child)
        else:
            _blocks(child, walk)
        text = child.tail
        if text and not (text.isspace() and text.isascii()):
            account.stray.append(text)
    if above:
        _close(above, walk, 0)
    walk.into = begin


def _close(above: list[_Open], walk: Walk, level: int) -> None:
    """Close the open headings of a level and below."""
    while above and walk.into.level >= level:
        outer = above.pop()
        outer.add(walk.into)
        walk.into = outer


def _block(element: Element, kind: int, walk: Walk) -> None:
    """Read a section, box, list, quote or statement as paragraphs of their own; titles are passed by."""
    if kind == SEC:
        _section(element, walk)
    elif kind == BOX:
        _box(element, walk)
    elif kind == TITLE:
        walk.account.leave(element)
    else:
        outer, walk.kind = walk.kind, walk.kind if walk.into.boxed else _BLOCK_KINDS[kind]
        _blocks(element, walk)
        walk.kind = outer


def _title_of(element: Element) -> str | None:
    """Give the clean title among the children of a section, None when it has none."""
    for child in element:
        if KINDS[child.tag] == TITLE and local_name(child.tag) == "title":
            return clean_text(child) or None
    return None


def _section(element: Element, walk: Walk) -> None:
    outer, kind = walk.into, walk.kind
    walk.into = inner = outer.below(_title_of(element), element.get("sec-type"))
    if not outer.boxed:
        walk.kind = "p"
    _blocks(element, walk)
    walk.into, walk.kind = outer, kind
    outer.add(inner)


def _box(element: Element, walk: Walk) -> None:
    outer, kind = walk.into, walk.kind
    title = _title_of(element)
    if title is None:
        for child in element:
            if local_name(child.tag) == "caption":
                title = _title_of(child)
                break
    path = (*outer.path, title) if title else outer.path
    walk.into = _Open(title, None, path, True, True, outer.paragraphs, outer.sections)
    walk.kind = "box"
    _blocks(element, walk)
    walk.into, walk.kind = outer, kind


def _paragraph(element: Element, walk: Walk) -> None:
    walk.at = element
    if len(element) == 0:
        text = element.text
        if text:
            walk.emit(text)
        return
    out: list[str] = []
    walk.heads = walk.abstract or not walk.into.titled
    read_inline(element, out, walk)
    if out:
        walk.emit("".join(out))
    walk.heads = False
