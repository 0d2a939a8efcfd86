"""TEI as GROBID writes it → Article.

Read: title, abstract and body; never back matter, figures, tables, foot-notes. GROBID writes sections side by side
and numbers their heads (``n="2.1"``): they are nested by these numbers. A formula between two paragraphs belongs to
the paragraph before it; where the next one begins with a small letter, both are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.builder import E

from sectioncls.documents.rewritten import (
    LANG,
    Body,
    append_text,
    article_element,
    emptied,
    pub_ids,
    read_rewritten,
    stem,
)
from sectioncls.documents.tags import local_name
from sectioncls.documents.xml import Element, parse
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected

__all__ = ["TEI_ROOTS", "read_tei_each"]

TEI_ROOTS = frozenset(("TEI", "teiCorpus"))
"""Names of the root elements that this module reads."""

_MATHS = "{http://www.w3.org/1998/Math/MathML}"
# TEI's elements by what JATS calls them; all others only carry text.
_NAMES = {
    "code": "code",
    "div": "sec",
    "eg": "code",
    "emph": "italic",
    "figure": "fig",
    "formula": "inline-formula",
    "graphic": "graphic",
    "head": "title",
    "label": "label",
    "lb": "break",
    "lg": "verse-group",
    "list": "list",
    "listBibl": "fn-group",
    "note": "fn",
    "p": "p",
    "table": "table",
}
_LINKS = {
    "bibr": "bibr",
    "biblio": "bibr",
    "figure": "fig",
    "table": "table",
    "formula": "disp-formula",
    "foot": "fn",
    "note": "fn",
}
_ABSTRACT_HEADS = frozenset(("abstract", "summary"))
_ROMAN = re.compile(r"[IVXL]+")
_NUMBER = re.compile(r"[0-9A-Za-z]+")
_AFTER_STOP = re.compile(r"(?<!\bal)[.!?]\s?$|[,;:]$")
_BARE_NUMBERS = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)*")
_DEEPEST = 8  # sections in sections, by their numbers
_IDS = {"DOI": "doi", "PMID": "pmid", "PMCID": "pmcid"}


def read_tei_each(data: bytes, source: str) -> Iterator[Article | Rejected]:
    """Give each article of a TEI document or teiCorpus, or why it was left out; at least one item comes."""
    try:
        root = parse(data)
        texts = _texts(root)
        if not texts:
            raise DocumentRejected("not-tei", f"no TEI inside <{local_name(root.tag)[:40]}>")
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail)
        return
    name = stem(source)
    for number, text in enumerate(texts, start=1):
        yield read_rewritten(_article(text), source, name if len(texts) == 1 else f"{name}#{number}")


def _texts(root: Element) -> list[Element]:
    """Give the elements called ``TEI``, outermost first; a corpus in a corpus counts."""
    if local_name(root.tag) == "TEI":
        return [root]
    return list(root.iter("{*}TEI")) if local_name(root.tag) == "teiCorpus" else []


def _article(tei: Element) -> Element:
    """Give a TEI element in JATS's words; the TEI element is used up."""
    header = tei.find("{*}teiHeader")
    text = tei.find("{*}text")
    references = [] if text is None else [_reference(entry) for entry in text.iterfind("{*}back//{*}biblStruct")]
    body = None if text is None else text.find("{*}body")
    language = _language(tei, header, text)
    return article_element(
        [] if header is None else _meta(header),
        abstract=None if header is None else _abstract(header, language),
        body=None if body is None else _body(body),
        references=references,
        journal=None if header is None else _text(header, "{*}fileDesc/{*}sourceDesc//{*}monogr/{*}title[@level='j']"),
        language=language,
    )


def _text(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _language(tei: Element, header: Element | None, text: Element | None) -> str | None:
    for element in (text, tei, header):
        if element is not None and element.get(LANG):
            return str(element.get(LANG))
    language = None if header is None else header.find("{*}profileDesc/{*}langUsage/{*}language")
    return None if language is None else language.get("ident")


def _meta(header: Element) -> list[Element]:
    """Give the children of ``article-meta``: title, ids, authors, dates, licence."""
    meta: list[Element] = []
    file = header.find("{*}fileDesc")
    if file is None:
        return meta
    ids = [
        (_IDS.get(str(one.get("type")).upper(), ""), one.text or "") for one in file.iterfind("{*}sourceDesc//{*}idno")
    ]
    meta += pub_ids([(kind, value) for kind, value in ids if kind], "article-id")
    meta.append(_titles(file))
    meta.append(E("contrib-group", *_authors(file)))
    for date in file.iter("{*}date"):
        when = date.get("when") or date.text
        if when and date.get("type", "published") == "published":
            meta.append(E("pub-date", E("year", when[:200])))
    availability = file.find("{*}publicationStmt/{*}availability")
    if availability is not None:
        words = [str(one.get("target")) for one in availability.iter() if one.get("target")]
        meta.append(E("permissions", E("license", " ".join([*words, *availability.itertext()]))))
    return meta


def _titles(file: Element) -> Element:
    group = E("title-group")
    titles = [*file.iterfind("{*}titleStmt/{*}title"), *file.iterfind("{*}sourceDesc//{*}analytic/{*}title")]
    main = next((title for title in titles if title.get("type") != "sub" and "".join(title.itertext()).strip()), None)
    sub = next((title for title in titles if title.get("type") == "sub"), None)
    for title, tag in ((main, "article-title"), (sub, "subtitle")):
        if title is not None:
            _rewrite(title)
            title.tag, title.tail = tag, None
            group.append(title)
    return group


def _authors(file: Element) -> list[Element]:
    authors = list(file.iterfind("{*}sourceDesc//{*}analytic/{*}author")) or list(
        file.iterfind("{*}titleStmt/{*}author")
    )
    found: list[Element] = []
    for author in authors:
        person = author.find("{*}persName")
        if person is None:
            name = " ".join("".join(author.itertext()).split())
            if name:
                found.append(E("contrib", E("collab", name)))
            continue
        given = " ".join("".join(one.itertext()) for one in person.iterfind("{*}forename"))
        surname = " ".join("".join(one.itertext()) for one in person.iterfind("{*}surname"))
        found.append(E("contrib", E("name", E("surname", surname), E("given-names", given))))
    return found


def _reference(entry: Element) -> Element:
    """Give a ``biblStruct`` as a ``ref`` with its ids and title."""
    ids = [(_IDS.get(str(one.get("type")).upper(), ""), one.text or "") for one in entry.iter("{*}idno")]
    title = _text(entry, "{*}analytic/{*}title") or _text(entry, "{*}monogr/{*}title")
    return E("ref", *pub_ids((kind, value) for kind, value in ids if kind), E("article-title", title))


def _abstract(header: Element, language: str | None) -> Element | None:
    """Give the abstract in the language of the text; text that stands in no paragraph becomes one."""
    abstracts = header.findall("{*}profileDesc/{*}abstract")
    if not abstracts:
        return None
    chosen = next((one for one in abstracts if one.get(LANG) in (None, language)), abstracts[0])
    _rewrite(chosen)
    if next(chosen.iter("p"), None) is None:
        chosen.append(emptied(chosen))
    for section in chosen.iter("sec"):
        title = section.find("title")
        if title is not None and "".join(title.itertext()).strip().lower() in _ABSTRACT_HEADS:
            section.remove(title)
    _join_at_formulas(chosen)
    chosen.tag = "abstract"
    return chosen


def _body(element: Element) -> Element:
    """Give the body with its sections nested by the numbers of their heads."""
    _rewrite(element)
    body = Body()
    open_sections: list[tuple[tuple[str, ...], Element]] = []
    for child in list(element):
        head = child.find("title") if child.tag == "sec" else None
        if head is None:
            body.section.append(child)
            continue
        number = _parts(head.get("n"))
        while open_sections and (len(open_sections) >= _DEEPEST or not _inside(number, *open_sections[-1])):
            open_sections.pop()
        section = body.heading(len(open_sections) + 1, None)
        section.attrib.update(child.attrib)
        section.extend(list(child))
        open_sections.append((number, section))
    _join_at_formulas(body.element)
    return body.element


def _parts(number: str | None) -> tuple[str, ...]:
    return tuple(_NUMBER.findall(number or ""))


def _inside(number: tuple[str, ...], outer: tuple[str, ...], section: Element) -> bool:
    """Tell whether a section with ``number`` lies in the open one with ``outer``: 2.1 in 2, A in II."""
    if not number or not outer:
        return False
    if len(number) > len(outer):
        return number[: len(outer)] == outer
    if len(number) == len(outer) == 1 and _ROMAN.fullmatch(outer[0]) and re.fullmatch("[A-Z]", number[0]):
        before = sum(1 for child in section if child.tag == "sec")
        return ord(number[0]) - ord("A") == before
    return False


def _join_at_formulas(element: Element) -> None:
    """Move formulas between paragraphs into the paragraph before, and join what they had cut in two."""
    for formula in list(element.iter("inline-formula")):
        around = formula.getparent()
        before = formula.getprevious()
        if around is None or before is None or around.tag not in ("sec", "body", "abstract") or before.tag != "p":
            continue
        after = formula.getnext()
        formula.tail = " "
        append_text(before, " ")
        before.append(formula)
        if after is None or after.tag != "p" or not (after.text or "").lstrip()[:1].islower():
            continue
        append_text(before, after.text or "")
        after.text = None
        before.extend(list(after))
        around.remove(after)


def _rewrite(element: Element) -> None:
    """Rename what is inside a TEI element to what JATS calls it."""
    for inner in list(element.iterdescendants()):
        if inner.tag.startswith(_MATHS):
            continue
        name = local_name(inner.tag)
        if name == "ref" or name == "ptr":
            _link(inner)
        elif name == "hi":
            _highlight(inner)
        elif name == "item":
            inner.tag = "list-item" if inner.find("{*}p") is not None or inner.find("p") is not None else "p"
        elif name == "figure" and inner.get("type") == "table":
            inner.tag = "table-wrap"
        elif name in ("quote", "cit", "q") and _is_block(inner):
            inner.tag = "disp-quote"
            if inner.find("{*}p") is None and inner.find("p") is None:
                inner.append(emptied(inner))
        else:
            if name == "s":  # GROBID writes sentences side by side without a space
                inner.tail = f" {inner.tail or ''}"
            if name == "div" and inner.get("type"):
                inner.set("sec-type", inner.get("type"))
            inner.tag = _NAMES.get(name, "named-content")


def _is_block(element: Element) -> bool:
    around = element.getparent()
    return around is not None and local_name(around.tag) in ("body", "sec", "div", "abstract")


def _highlight(element: Element) -> None:
    style = (element.get("rend") or element.get("rendition") or "").lower()
    if "sup" in style:
        element.tag = "sup"
    elif "sub" in style:
        element.tag = "sub"
    else:
        element.tag = "bold" if "bold" in style else "italic"


def _link(element: Element) -> None:
    """Make a link a JATS ``xref``; a bare number right behind a stop was a raised citation."""
    kind = element.get("type") or ("bibr" if re.match(r"#b\d", element.get("target") or "") else "")
    element.tag = "xref"
    element.attrib.clear()
    if kind not in _LINKS:
        return
    element.set("ref-type", _LINKS[kind])
    if kind != "bibr" or len(element) or not _BARE_NUMBERS.fullmatch((element.text or "").strip()):
        return
    before = element.getprevious()
    around = element.getparent()
    text = around.text if before is None and around is not None else before.tail if before is not None else None
    if not text or not _AFTER_STOP.search(text):
        return
    raised = etree.SubElement(element, "sup")
    raised.text, element.text = element.text, None
    if before is None and around is not None:
        around.text = text.rstrip()
    elif before is not None:
        before.tail = text.rstrip()
