"""The walk over the tree of an article: sections, paragraphs, and what is left out of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from lxml import etree

from sectioncls.documents.heads import MAX_HEAD, RUN_IN, is_head, split_heads
from sectioncls.documents.inline import (
    CITE,
    FIG,
    FORMULA_MARK,
    HEAD_END,
    HEAD_START,
    SUP_CITE,
    TABLE,
    clean,
    raised,
)
from sectioncls.documents.tags import (
    ALTERNATIVES,
    BOX,
    BREAK,
    EMPHASIS,
    FLOAT,
    FORMULA,
    INLINE,
    KINDS,
    LIST,
    NOTE,
    QUOTE,
    SEC,
    STATEMENT,
    SUP,
    TITLE,
    XREF,
    P,
    local_name,
)
from sectioncls.documents.xml import Element
from sectioncls.records import Paragraph, Section

__all__ = ["Walk", "clean_text", "left_out", "read_sections"]

_length = etree.XPath("string-length()")
# "ref" and "table-wrap" are no values of the standard, but publishers use them.
_CITING_XREFS = frozenset(("bibr", "ref"))
_MARKED_XREFS = {"fig": FIG, "table": TABLE, "table-wrap": TABLE, "disp-formula": FORMULA_MARK}
_VANISHING_XREFS = frozenset(("fn", "table-fn", "aff", "corresp"))
_BLOCK_KINDS = {LIST: "list", QUOTE: "quote", STATEMENT: "p", BOX: "box"}


@dataclass(slots=True)
class _Open:
    """A section while it is read."""

    title: str | None = None
    sec_type: str | None = None
    path: tuple[str, ...] = ()
    titled: bool = False
    boxed: bool = False
    paragraphs: list[Paragraph] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    def close(self) -> Section:
        return Section(self.title, self.sec_type, tuple(self.paragraphs), tuple(self.sections))


@dataclass(slots=True)
class Walk:
    """What one pass over an article carries along."""

    nodes: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    abstract: bool = False
    heads: bool = False  # mark elements that may be run-in heads
    vanished: int = 0  # foot-note marks met so far
    into: _Open = field(default_factory=_Open)
    kind: str = "p"

    def leave_out(self, reason: str, element: Element) -> None:
        """Count the characters of an element that is no prose."""
        size = int(_length(element))
        if size:
            self.left_out[reason] = self.left_out.get(reason, 0) + size


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


def clean_text(element: Element | None) -> str:
    """Give the clean text of a title or another element that stands by itself."""
    if element is None:
        return ""
    walk = Walk()
    out: list[str] = []
    if element.text:
        out.append(element.text)
    if len(element):
        _inline(element, out, walk, skip_text=True)
    return clean("".join(out), wordless=True)


def _blocks(element: Element, walk: Walk) -> None:
    """Read the children of a section, list, quote or box; text outside a paragraph is no prose."""
    for child in element:
        kind = KINDS[child.tag]
        if kind == P:
            _paragraph(child, walk)
        elif kind >= LIST:
            _block(child, kind, walk)
        elif kind in (FLOAT, NOTE, FORMULA):
            walk.leave_out(local_name(child.tag), child)
        elif len(child):
            _blocks(child, walk)


def _block(element: Element, kind: int, walk: Walk) -> None:
    """Read a section, box, list, quote or statement as paragraphs of their own; titles are passed by."""
    if kind == SEC:
        _section(element, walk)
    elif kind == BOX:
        _box(element, walk)
    elif kind != TITLE:
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
    title = _title_of(element)
    path = (*outer.path, title) if title else outer.path
    inner = _Open(title, element.get("sec-type"), path, outer.titled or title is not None, outer.boxed)
    if outer.boxed:  # a box is flat: its paragraphs belong to the section around it
        inner.paragraphs, inner.sections = outer.paragraphs, outer.sections
    else:
        walk.kind = "p"
    walk.into = inner
    _blocks(element, walk)
    walk.into, walk.kind = outer, kind
    if not outer.boxed:
        outer.sections.append(inner.close())


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
    if len(element) == 0:
        if element.text:
            _emit(element.text, walk)
        return
    out: list[str] = []
    if element.text:
        out.append(element.text)
    walk.heads = walk.abstract or not walk.into.titled
    _inline(element, out, walk, skip_text=True)
    if out:
        _emit("".join(out), walk)
    walk.heads = False


def _emit(raw: str, walk: Walk) -> None:
    """Add a paragraph; its run-in heads open sections."""
    into = walk.into
    if not walk.abstract and (into.titled or HEAD_START not in raw):
        text = clean(raw)
        if text:
            into.paragraphs.append(Paragraph(text, walk.kind, into.path, walk.nodes))
            walk.nodes += 1
        return
    for head, part in split_heads(raw, abstract=walk.abstract):
        text = clean(part)
        if not text:
            continue
        path = (*into.path, head) if head else into.path
        paragraph = Paragraph(text, walk.kind, path, walk.nodes)
        walk.nodes += 1
        if head:
            into.sections.append(Section(head, RUN_IN, (paragraph,)))
        else:
            into.paragraphs.append(paragraph)


def _inline(element: Element, out: list[str], walk: Walk, *, skip_text: bool = False) -> None:
    """Append the text of an element, marks for what is no text, and cut at blocks."""
    if not skip_text and element.text:
        out.append(element.text)
    for child in element:
        kind = KINDS[child.tag]
        if kind == INLINE or (kind == EMPHASIS and not walk.heads):
            if len(child):
                _inline(child, out, walk)
            elif child.text:
                out.append(child.text)
        elif kind == XREF:
            _xref(child, out, walk)
        elif kind == SUP:
            _sup(child, out, walk)
        elif kind == EMPHASIS:
            _emphasis(child, out, walk)
        elif kind == FORMULA:
            out.append(FORMULA_MARK)
        elif kind == FLOAT:
            out.append(" ")
            walk.leave_out(local_name(child.tag), child)
        elif kind == ALTERNATIVES:
            _alternatives(child, out, walk)
        elif kind == BREAK:
            out.append(" ")
        elif kind == NOTE:
            walk.leave_out(local_name(child.tag), child)
        elif kind == P:
            _cut(out, walk)
            _inline(child, out, walk)
            _cut(out, walk)
        elif kind != TITLE:
            _cut(out, walk)
            _block(child, kind, walk)
            walk.heads = walk.abstract or not walk.into.titled
        tail = child.tail
        if tail:
            out.append(tail)


def _cut(out: list[str], walk: Walk) -> None:
    """End the paragraph here."""
    if out:
        _emit("".join(out), walk)
        out.clear()


def _xref(element: Element, out: list[str], walk: Walk) -> None:
    kind = element.get("ref-type")
    if kind in _CITING_XREFS:
        text = element.text if len(element) == 0 else "".join(element.itertext())
        mark = CITE
        if len(element) and KINDS[element[0].tag] == SUP:
            mark = SUP_CITE
        if text and (text[0] in "([" or text[-1] in ")]"):
            mark = _with_lone_brackets(text, mark)
        out.append(mark)
    elif kind in _MARKED_XREFS:
        out.append(_MARKED_XREFS[kind])
    elif kind in _VANISHING_XREFS:
        walk.vanished += 1
    else:
        _inline(element, out, walk)


def _with_lone_brackets(text: str, mark: str) -> str:
    """Keep a bracket that opens inside the link and closes outside of it, or the other way round."""
    for opening, closing in ("()", "[]"):
        balance = text.count(opening) - text.count(closing)
        if balance > 0 and text[0] == opening:
            return opening + mark
        if balance < 0 and text[-1] == closing:
            return mark + closing
    return mark


def _sup(element: Element, out: list[str], walk: Walk) -> None:
    vanished = walk.vanished
    if len(element) == 0:
        content = element.text or ""
    else:
        begin = len(out)
        _inline(element, out, walk)
        if len(out) < begin:  # a block stood inside: what was before is a paragraph already
            return
        content = "".join(out[begin:])
        del out[begin:]
    if content:
        before = out[-1][-1] if out else ""
        content = raised(content, before, emptied=walk.vanished > vanished)
        if content:
            out.append(content)


def _emphasis(element: Element, out: list[str], walk: Walk) -> None:
    """Append emphasised text, with marks around it when it may be a run-in head."""
    begin = len(out)
    walk.heads = False
    _inline(element, out, walk)
    walk.heads = True
    if len(out) <= begin or (not walk.abstract and any(not piece.isspace() for piece in out[:begin])):
        return
    content = "".join(out[begin:])
    if len(content) <= MAX_HEAD and is_head(content):
        del out[begin:]
        out.append(f"{HEAD_START}{content}{HEAD_END}")


def _alternatives(element: Element, out: list[str], walk: Walk) -> None:
    """Append one of several renderings: a formula if there is one, else the first that has text."""
    kinds = [KINDS[child.tag] for child in element]
    if FORMULA in kinds:
        out.append(FORMULA_MARK)
        return
    for child, kind in zip(element, kinds, strict=True):
        if kind == INLINE:
            _inline(child, out, walk)
            return
    out.append(" ")
    walk.leave_out("alternatives", element)


def left_out(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Give the account of what is not prose, sorted by reason."""
    return tuple(sorted(counts.items()))
