"""What a document is, by its first bytes and then by its name, and the reader that makes articles of it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Literal

from sectioncls.documents.files import Document
from sectioncls.documents.jats import read_jats_each
from sectioncls.documents.pdf import read_pdf_each
from sectioncls.documents.pubmed import PUBMED_ROOTS, read_pubmed_each
from sectioncls.documents.tei import TEI_ROOTS, read_tei_each
from sectioncls.records import Article, Rejected

__all__ = ["Format", "format_of", "read_each"]

Format = Literal["jats", "tei", "pubmed", "pdf", "markdown", "text"]

_HEAD = 1 << 16
_ROOT = re.compile(
    rb"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+<(?:[\w.-]+:)?([\w.-]+)", re.DOTALL
)
_SUFFIXES: dict[str, Format] = {".md": "markdown", ".markdown": "markdown", ".txt": "text"}
_LOOKS_MARKDOWN = re.compile(rb"\A---[ \t]*\r?\n|^#{1,6}[ \t]+\S", re.MULTILINE)
# A Markdown file may begin with HTML; these roots are documents whatever the name says.
_CERTAIN = TEI_ROOTS | PUBMED_ROOTS | {"article", "pmc-articleset"}


def format_of(document: Document) -> Format:
    """Give the format of a document: its root element, a PDF's first bytes, else the suffix of its name.

    The document ``-`` (standard input) may be Markdown or text too. What is nothing else is ``jats``, whose reader
    says what is wrong with it.
    """
    data = document.data
    if data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        return "pdf"
    name = document.name.lower().removesuffix(".gz").removesuffix(".xz")
    by_name = next((kind for suffix, kind in _SUFFIXES.items() if name.endswith(suffix)), None)
    root = _root(data)
    if root and (by_name is None or root in _CERTAIN):
        return "tei" if root in TEI_ROOTS else "pubmed" if root in PUBMED_ROOTS else "jats"
    if by_name is None and document.name == "-" and data and not data.lstrip().startswith((b"<", b"{")):
        return "markdown" if _LOOKS_MARKDOWN.search(data[:_HEAD]) else "text"
    return by_name or "jats"


def read_each(
    document: Document, *, sub_articles: bool = False, grobid_url: str | None = None
) -> Iterator[Article | Rejected]:
    """Give each article of a document in any format that we read, or why it was left out.

    ``sub_articles`` also reads JATS sub-articles and responses, as articles of their own. A PDF is left out with
    reason ``needs-grobid`` unless ``grobid_url`` is given. Raises InputError when no server answers there.
    """
    data, source = document.data, document.name
    kind = format_of(document)
    if kind == "tei":
        yield from read_tei_each(data, source)
    elif kind == "pubmed":
        yield from read_pubmed_each(data, source)
    elif kind == "pdf":
        yield from read_pdf_each(data, source, grobid_url)
    elif kind == "markdown":
        from sectioncls.documents.markdown import read_markdown_each  # pyromark and yaml load for it only

        yield from read_markdown_each(data, source)
    elif kind == "text":
        from sectioncls.documents.text import read_text_each

        yield from read_text_each(data, source)
    else:
        yield from read_jats_each(data, source, sub_articles=sub_articles)


def _root(data: bytes) -> str | None:
    """Give the local name of the root element, None where no XML begins."""
    head = data[:_HEAD]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        head = head.decode("utf-16", "ignore").encode()
    elif head.startswith((b"<\0", b"\0<")):
        head = head.decode("utf-16-le" if head[1] == 0 else "utf-16-be", "ignore").encode()
    found = _ROOT.match(head.removeprefix(codecs.BOM_UTF8))
    return found[1].decode("ascii", "replace") if found else None
