"""JATS, NLM and PMC XML → Article.

Accepted: every element called ``article``, in any namespace and wrapper (efetch sets, OAI-PMH, ``articles``).
Read: title, main abstract and body; never back matter, floats or translations; sub-articles and responses only
when asked for, as articles of their own. What text becomes is in ``raw.py`` and ``inline.py``, which element is
prose in ``tags.py`` and ``prose.py``, what is left out in ``account.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from sectioncls.documents.account import Account
from sectioncls.documents.front import read_front, read_reference_keys
from sectioncls.documents.prose import Walk, read_sections
from sectioncls.documents.tags import local_name
from sectioncls.documents.xml import Element, parse
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected, Section

__all__ = ["read_jats", "read_jats_each", "read_jats_located"]

_COMMENT = re.compile(rb"<!--([^<>]{1,600}+)(?<=--)>")
_DEEPEST_PART = 4  # sub-articles and responses in each other
_PARTS = ("sub-article", "response")
_FRONTS = ("front", "front-stub")
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


def read_jats_each(data: bytes, source: str, *, sub_articles: bool = False) -> Iterator[Article | Rejected]:
    """Give each article of one document, or why it was left out; at least one item comes.

    ``sub_articles`` also gives the sub-articles and responses of each article, behind it, as articles of their
    own: their ids are the article's with ``#s1``, ``#s2``, ...; journal, year, licence and language are the
    article's where they state none.
    """
    for item, _ in read_jats_located(data, source, sub_articles=sub_articles):
        yield item


def read_jats_located(
    data: bytes, source: str, *, sub_articles: bool = False, located: bool = False
) -> Iterator[tuple[Article | Rejected, list[Element] | None]]:
    """Give the items of ``read_jats_each``, when ``located`` with the ``p`` element of each paragraph by node."""
    try:
        root = parse(data)
        elements = _articles(root)
        if not elements:
            raise DocumentRejected("not-jats", f"no article inside <{local_name(root.tag)[:40]}>")
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail), None
        return
    stem = _stem(source)
    words: str | None = None
    for number, element in enumerate(elements, start=1):
        name = stem if len(elements) == 1 else f"{stem}#{number}"
        origins: list[Element] | None = [] if located else None
        item = _bounded(element, source, name, origins)
        if isinstance(item, Rejected) and item.reason == "no-body":
            words = _publisher(data) if words is None else words
            item = replace(item, detail=words or item.detail)
        yield item, origins
        inner = element.iter("{*}sub-article", "{*}response") if sub_articles else ()
        for place, part in enumerate(inner, start=1):
            origins = [] if located else None
            if sum(local_name(above.tag) in _PARTS for above in part.iterancestors()) >= _DEEPEST_PART:
                yield Rejected(source, "too-deep", "sub-articles in sub-articles", f"{_id(item)}#s{place}"), None
                continue
            yield _bounded(part, source, f"{_id(item)}#s{place}", origins, above=item), origins


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


def _publisher(data: bytes) -> str:
    """Give the comment by which a publisher's stub explains itself, the empty string when there is none."""
    for comment in _COMMENT.finditer(data):
        if b"publisher" in comment[1]:
            return " ".join(comment[1].removesuffix(b"--").decode("utf-8", "replace").split())
    return ""


def _stem(source: str) -> str:
    name = PurePosixPath(source.rpartition("!")[2]).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _id(item: Article | Rejected) -> str:
    return (item.id if isinstance(item, Article) else item.article_id) or item.source


def _bounded(
    element: Element, source: str, name: str, origins: list[Element] | None, above: Article | Rejected | None = None
) -> Article | Rejected:
    """Give what ``_read`` gives; a tree that is too deep for what is left of Python's stack is a rejection."""
    try:
        return _read(element, source, name, origins, above)
    except RecursionError:
        return Rejected(source, "too-deep", "elements stand too deep in each other to be read here", name)


def _read(
    element: Element, source: str, name: str, origins: list[Element] | None, above: Article | Rejected | None = None
) -> Article | Rejected:
    """Give the record of an ``article`` or of a part of the article ``above``, or why it is left out."""
    front = body = None
    references: list[tuple[str, ...]] = []
    walk = Walk(element, origins)
    account = walk.account
    _stray(element.text, account)
    for child in element:
        kind = local_name(child.tag)
        if kind in _FRONTS and front is None:
            front = child
        elif kind == "body" and body is None:
            body = child
        elif kind == "back":
            references += read_reference_keys(child)
            _leave_back(child, account)
        else:
            account.leave(child)
        _stray(child.tail, account)
    about = read_front(element, front, account)
    article_id = (None if above else about.id) or name
    if body is None:
        return Rejected(source, "no-body", "the article has no body", article_id)
    abstract: tuple[Section, ...] = ()
    if about.abstract is not None:
        abstract = read_sections(about.abstract, walk, path=("Abstract",), abstract=True)
    before = walk.nodes
    sections = read_sections(body, walk)
    if walk.nodes == before:
        return Rejected(source, "no-prose", "the body holds no paragraph", article_id)
    article = Article(
        id=article_id,
        source=source,
        title=about.title,
        abstract=abstract,
        body=sections,
        year=about.year,
        journal=about.journal,
        authors=about.authors,
        references=tuple(keys[0] for keys in references),
        language=about.language,
        licence=about.licence,
        left_out=account.left_out(),
        added=account.added,
        doi=about.doi,
        pmid=about.pmid,
        reference_keys=tuple(references),
    )
    if isinstance(above, Article):
        return replace(
            article,
            year=article.year or above.year,
            journal=article.journal or above.journal,
            language=article.language or above.language,
            licence=article.licence or above.licence,
        )
    return article


def _stray(text: str | None, account: Account) -> None:
    if text and not (text.isspace() and text.isascii()):
        account.stray.append(text)


def _leave_back(back: Element, account: Account) -> None:
    _stray(back.text, account)
    for child in back:
        account.leave(child, "references" if local_name(child.tag) == "ref-list" else "back")
        _stray(child.tail, account)
