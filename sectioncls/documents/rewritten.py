"""Other formats in JATS's words.

A reader of another format rewrites its document as the elements of a JATS article; ``read_rewritten`` reads those.
So what is prose, what becomes a placeholder and how a paragraph is cut is said once, for every format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from lxml import etree
from lxml.builder import E

from sectioncls.documents.front import read_front, read_reference_keys
from sectioncls.documents.prose import Walk, read_sections
from sectioncls.documents.xml import Element
from sectioncls.records import Article, Rejected, Section

__all__ = [
    "LANG",
    "Body",
    "append_text",
    "article_element",
    "emptied",
    "pub_ids",
    "read_rewritten",
    "stem",
    "xml_text",
]

LANG = "{http://www.w3.org/XML/1998/namespace}lang"
"""The attribute that holds the language of an article element."""

_SUFFIXES = (".gz", ".xz", ".nxml", ".xml", ".tei", ".pdf", ".markdown", ".md", ".txt")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Body:
    """A body that grows in reading order: a heading opens a section below the last one of a lower level."""

    def __init__(self) -> None:
        self.element = etree.Element("body")
        self._open: list[tuple[int, Element]] = [(0, self.element)]

    @property
    def section(self) -> Element:
        """The section that is open, the body itself before the first heading."""
        return self._open[-1][1]

    def heading(self, level: int, title: Element | None) -> Element:
        """Open a section of ``level`` (1 is the outermost) and give it."""
        while self._open[-1][0] >= level:
            self._open.pop()
        section = etree.SubElement(self.section, "sec")
        if title is not None:
            section.append(title)
        self._open.append((level, section))
        return section


def article_element(
    meta: Iterable[Element],
    *,
    abstract: Element | None = None,
    body: Element | None = None,
    references: Iterable[Element] = (),
    journal: str | None = None,
    language: str | None = None,
) -> Element:
    """Give the ``article`` element of what another format says; ``meta`` are children of ``article-meta``."""
    front = E("front")
    if journal:
        front.append(E("journal-meta", E("journal-title", xml_text(journal))))
    front.append(E("article-meta", *meta))
    if abstract is not None:
        front[-1].append(abstract)
    article = E("article", front)
    if language:
        article.set(LANG, xml_text(language))
    if body is not None:
        article.append(body)
    refs = list(references)
    if refs:
        article.append(E("back", E("ref-list", *refs)))
    return article


def read_rewritten(element: Element, source: str, name: str) -> Article | Rejected:
    """Give the record of a rewritten ``article`` element, or why it is none: abstract and body hold no paragraph.

    ``name`` is the id of an article that names none itself. Unlike JATS, an abstract alone is an article.
    """
    try:
        return _read(element, source, name)
    except RecursionError:
        return Rejected(source, "too-deep", "elements stand too deep in each other to be read here", name)


def _read(element: Element, source: str, name: str) -> Article | Rejected:
    walk = Walk(element)
    abstract: tuple[Section, ...] = ()
    body: tuple[Section, ...] = ()
    references: tuple[tuple[str, ...], ...] = ()
    about = read_front(element, element.find("front"), walk.account)
    if about.abstract is not None:
        abstract = read_sections(about.abstract, walk, path=("Abstract",), abstract=True)
    for child in element:
        if child.tag == "body":
            body = read_sections(child, walk)
        elif child.tag == "back":
            references = read_reference_keys(child)
            walk.account.leave(child, "references")
    if not walk.nodes:
        return Rejected(source, "no-prose", "neither abstract nor body holds a paragraph", about.id or name)
    return Article(
        id=about.id or name,
        source=source,
        title=about.title,
        abstract=abstract,
        body=body,
        year=about.year,
        journal=about.journal,
        authors=about.authors,
        references=tuple(keys[0] for keys in references),
        language=about.language,
        licence=about.licence,
        left_out=walk.account.left_out(),
        added=walk.account.added,
        doi=about.doi,
        pmid=about.pmid,
        reference_keys=references,
    )


def pub_ids(ids: Iterable[tuple[str, str]], tag: str = "pub-id") -> list[Element]:
    """Give ``pub-id`` (or ``article-id``) elements of (kind, value) pairs such as ``("doi", "10.1/x")``."""
    return [E(tag, xml_text(value.strip()), {"pub-id-type": kind}) for kind, value in ids]


def stem(source: str) -> str:
    """Give the name of a document without folders and known suffixes, for an article that names no id."""
    name = PurePosixPath(source.rpartition("!")[2]).name
    while name.lower().endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return name or source


def xml_text(text: str) -> str:
    """Give a text without the characters that XML can't hold."""
    return _NOT_XML.sub("", text)


def append_text(element: Element, text: str) -> None:
    """Append text behind the last child of an element, or to its own text."""
    last = next(element.iterchildren(reversed=True), None)  # len() would count all children
    if last is not None:
        last.tail = (last.tail or "") + text
    else:
        element.text = (element.text or "") + text


def emptied(element: Element) -> Element:
    """Give a new element ``p`` that took over the text and children of ``element``."""
    paragraph = etree.Element("p")
    paragraph.text, element.text = element.text, None
    paragraph.extend(list(element))
    return paragraph
