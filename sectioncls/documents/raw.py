"""From the inline elements of a paragraph to raw text with marks, which ``inline.clean`` makes prose.

What is no text becomes a mark or vanishes, and is put down in the account. Blocks inside a paragraph end it:
``Walk.emit`` takes the raw text so far, ``Walk.block`` reads the block.
"""

from __future__ import annotations

from typing import Protocol

from lxml import etree

from sectioncls.documents.account import Account, characters
from sectioncls.documents.heads import MAX_HEAD, is_head
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
    BREAK,
    EMPHASIS,
    FLOAT,
    FORMULA,
    INLINE,
    KINDS,
    SUP,
    TITLE,
    XREF,
    P,
)
from sectioncls.documents.xml import Element

__all__ = ["Walk", "clean_text", "read_inline"]

# "ref" and "table-wrap" are no values of the standard, but publishers use them.
_CITING_XREFS = frozenset(("bibr", "ref"))
_MARKED_XREFS = {"fig": FIG, "table": TABLE, "table-wrap": TABLE, "disp-formula": FORMULA_MARK}
_VAGUE_XREFS = frozenset(("", "other"))
_VANISHING_XREFS = frozenset(("fn", "table-fn", "aff", "corresp"))
_FEW_PIECES = 8  # of blank text before a head
_string = etree.XPath("string()", smart_strings=False)


class Walk(Protocol):
    """What the walk over inline elements needs to know, and whom it tells of a paragraph's end."""

    account: Account
    abstract: bool
    heads: bool
    """Mark elements that may be run-in heads."""

    def target(self, rid: str | None) -> str | None:
        """Give the ``ref-type`` of a link that states none, by the element it leads to."""

    def emit(self, raw: str) -> None:
        """Take the raw text of a paragraph that ends here."""

    def block(self, element: Element, kind: int) -> None:
        """Read a block that stands inside a paragraph."""


class _Alone:
    """The walk over a title, where nothing ends: blocks count as inline text."""

    __slots__ = ("abstract", "account", "heads", "out")

    def __init__(self, out: list[str], account: Account) -> None:
        self.account = account
        self.abstract = self.heads = False
        self.out = out

    def target(self, rid: str | None) -> str | None:
        return None

    def emit(self, raw: str) -> None:
        self.out.extend((raw, " "))

    def block(self, element: Element, kind: int) -> None:
        inner: list[str] = []
        read_inline(element, inner, self)
        self.out.extend((*inner, " "))


def clean_text(element: Element | None, account: Account | None = None) -> str:
    """Give the clean text of a title or another element that stands by itself.

    ``account`` is told what of it was left out or added.
    """
    if element is None:
        return ""
    account = account if account is not None else Account()
    if len(element) == 0:
        return clean(element.text or "", account, wordless=True)
    out: list[str] = []
    pieces: list[str] = []
    read_inline(element, pieces, _Alone(out, account))
    return clean("".join((*out, *pieces)), account, wordless=True)


def read_inline(element: Element, out: list[str], walk: Walk) -> None:
    """Append the text of an element to ``out``, with marks for what is no text; blocks end the paragraph."""
    text = element.text
    if text:
        out.append(text)
    kinds = KINDS
    for child in element:
        kind = kinds[child.tag]
        if kind == XREF:
            _xref(child, out, walk)
        elif kind == INLINE or (kind == EMPHASIS and not walk.heads):
            if len(child):
                read_inline(child, out, walk)
            else:
                text = child.text
                if text:
                    out.append(text)
        elif kind == SUP:
            _sup(child, out, walk)
        elif kind == EMPHASIS:
            _emphasis(child, out, walk)
        elif kind < P or kind == TITLE:
            _other(child, kind, out, walk)
        else:
            if out:
                walk.emit("".join(out))
                out.clear()
            walk.block(child, kind)
        text = child.tail
        if text:
            out.append(text)


def _other(element: Element, kind: int, out: list[str], walk: Walk) -> None:
    """Read what is no link, no inline element and no block."""
    if kind == FORMULA:
        out.append(FORMULA_MARK)
        walk.account.leave(element)
    elif kind == FLOAT:
        out.append(" ")
        walk.account.leave(element)
    elif kind == ALTERNATIVES:
        _alternatives(element, out, walk)
    elif kind == BREAK:
        out.append(" ")
        if len(element) or element.text:
            walk.account.leave(element)
    else:
        walk.account.leave(element)


def _xref(element: Element, out: list[str], walk: Walk) -> None:
    kind = element.get("ref-type")
    if kind is None or kind in _VAGUE_XREFS:
        kind = walk.target(element.get("rid"))
    if kind in _CITING_XREFS:
        mark = CITE
        if len(element) == 0:
            text = element.text
        else:
            text = _string(element)
            if KINDS[element[0].tag] == SUP:
                mark = SUP_CITE
        if text:
            if text[0] in "([" or text[-1] in ")]":
                text, mark = _with_lone_brackets(text, mark)
            walk.account.citations.append(text)
        out.append(mark)
    elif kind in _MARKED_XREFS:
        out.append(_MARKED_XREFS[kind])
        walk.account.mentions.append((element.text or "") if len(element) == 0 else _string(element))
    elif kind in _VANISHING_XREFS:
        walk.account.footnotes.append((element.text or "") if len(element) == 0 else _string(element))
    else:
        read_inline(element, out, walk)


def _with_lone_brackets(text: str, mark: str) -> tuple[str, str]:
    """Keep a bracket that opens inside the link and closes outside of it, or the other way round.

    Gives the text that the mark stands for, and the mark with the bracket.
    """
    for opening, closing in ("()", "[]"):
        balance = text.count(opening) - text.count(closing)
        if balance > 0 and text[0] == opening:
            return text[1:], opening + mark
        if balance < 0 and text[-1] == closing:
            return text[:-1], mark + closing
    return text, mark


def _sup(element: Element, out: list[str], walk: Walk) -> None:
    vanished = len(walk.account.footnotes)
    if len(element) == 0:
        content = element.text or ""
    else:
        begin = len(out)
        read_inline(element, out, walk)
        if len(out) < begin:  # a block stood inside: what was before is a paragraph already
            return
        content = "".join(out[begin:])
        del out[begin:]
    if content:
        before = out[-1][-1] if out else ""
        text = raised(content, before, walk.account, emptied=len(walk.account.footnotes) > vanished)
        if text:
            out.append(text)


def _emphasis(element: Element, out: list[str], walk: Walk) -> None:
    """Append emphasised text, with marks around it when it may be a run-in head."""
    begin = len(out)
    walk.heads = False
    read_inline(element, out, walk)
    if not walk.abstract and begin and (begin > _FEW_PIECES or not "".join(out[:begin]).isspace()):
        return  # in a body heads stand at the start only: none can follow
    walk.heads = True
    if len(out) <= begin:
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
        walk.account.leave(element, "formula")
        return
    if INLINE in kinds:
        chosen = element[kinds.index(INLINE)]
        texts = [element.text or ""]
        for child in element:
            texts.append(child.tail or "")
            if child is not chosen:
                walk.account.leave(child, "other")
        walk.account.count("other", characters("".join(texts)))
        read_inline(chosen, out, walk)
        return
    out.append(" ")
    walk.account.leave(element, "figure")
