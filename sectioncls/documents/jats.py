"""JATS, NLM and PMC XML → Article.

Accepted: every element called ``article``, in any namespace and wrapper (efetch sets, OAI-PMH, ``articles``).
Read: title, main abstract and body; never back matter, floats, sub-articles, responses or translations. What
text becomes is in ``inline.py``, which element is prose in ``tags.py`` and ``prose.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from sectioncls.documents.front import read_front, read_references
from sectioncls.documents.prose import Walk, left_out, read_sections
from sectioncls.documents.tags import local_name
from sectioncls.documents.xml import Element, parse
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected, Section

__all__ = ["read_jats", "read_jats_each"]

_PUBLISHER = re.compile(rb"<!--([^<>]{0,300}publisher[^<>]{0,300})-->")
_SUFFIXES = (".gz", ".xz", ".nxml", ".xml")


def read_jats(data: bytes, source: str) -> list[Article]:
    """Give the articles of one document.

    Raises DocumentRejected when none can be read, with the reason of the first. ``read_jats_each`` also tells
    which articles of several were left out.
    """
    articles: list[Article] = []
    refused: Rejected | None = None
    for item in read_jats_each(data, source):
        if isinstance(item, Article):
            articles.append(item)
        elif refused is None:
            refused = item
    if refused is not None and not articles:
        raise DocumentRejected(refused.reason, refused.detail, source)
    return articles


def read_jats_each(data: bytes, source: str) -> Iterator[Article | Rejected]:
    """Give each article of one document, or why it was left out; at least one item comes."""
    try:
        root = parse(data)
        elements = _articles(root)
        if not elements:
            raise DocumentRejected("not-jats", f"no article inside <{local_name(root.tag)[:40]}>")
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail)
        return
    stem = _stem(source)
    for number, element in enumerate(elements, start=1):
        name = stem if len(elements) == 1 else f"{stem}#{number}"
        try:
            yield _article(element, source, name)
        except DocumentRejected as error:
            detail = error.detail
            if error.reason == "no-body":
                words = _PUBLISHER.search(data)
                detail = " ".join(words[1].decode("utf-8", "replace").split()) if words else detail
            yield Rejected(source, error.reason, detail, _id(element) or name)


def _articles(root: Element) -> list[Element]:
    """Give the outermost elements called ``article``."""
    if local_name(root.tag) == "article":
        return [root]
    if local_name(root.tag) == "html":
        return []
    found: list[Element] = []
    for element in root.iter("{*}article"):
        if not any(local_name(above.tag) == "article" for above in element.iterancestors()):
            found.append(element)
    return found


def _stem(source: str) -> str:
    name = PurePosixPath(source.rpartition("!")[2]).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _id(article: Element) -> str | None:
    return read_front(article, article.find("{*}front")).id


def _article(element: Element, source: str, name: str) -> Article:
    """Give the record of an ``article`` element."""
    front = body = None
    references: tuple[str, ...] = ()
    walk = Walk()
    for child in element:
        kind = local_name(child.tag)
        if kind == "front" and front is None:
            front = child
        elif kind == "body" and body is None:
            body = child
        else:
            if kind == "back":
                references = read_references(child)
            walk.leave_out(kind, child)
    if body is None:
        raise DocumentRejected("no-body", "the article has no body")
    about = read_front(element, front)
    for other in about.other_abstracts:
        walk.leave_out(local_name(other.tag), other)
    abstract: tuple[Section, ...] = ()
    if about.abstract is not None:
        abstract = read_sections(about.abstract, walk, path=("Abstract",), abstract=True)
    before = walk.nodes
    sections = read_sections(body, walk)
    if walk.nodes == before:
        raise DocumentRejected("no-prose", "the body holds no paragraph")
    return Article(
        id=about.id or name,
        source=source,
        title=about.title,
        abstract=abstract,
        body=sections,
        year=about.year,
        journal=about.journal,
        authors=about.authors,
        references=references,
        language=about.language,
        licence=about.licence,
        left_out=left_out(walk.left_out),
    )
