"""PubMed and MEDLINE XML (``PubmedArticleSet``) → Article with an abstract and no body.

Labels of a structured abstract become sections, NLM's categories their ``sec_type``. ``OtherAbstract`` (translations,
plain-language summaries) is never mixed in. A set may hold tens of thousands of records: ``split_records`` cuts it
into records as the bytes stream by, and each record is parsed by itself with every bound of ``xml.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from lxml.builder import E

from sectioncls.documents.language import language_code
from sectioncls.documents.rewritten import article_element, pub_ids, read_rewritten, stem
from sectioncls.documents.tags import local_name
from sectioncls.documents.xml import MAX_BYTES, Element, parse
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected

__all__ = ["PUBMED_ROOTS", "read_pubmed_each", "set_head", "split_records"]

PUBMED_ROOTS = frozenset(
    ("MedlineCitation", "MedlineCitationSet", "PubmedArticle", "PubmedArticleSet", "PubmedBookArticle",
     "PubmedBookArticleSet")
)  # fmt: skip
"""Names of the root elements that this module reads."""

_RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "BookDocument")
_NAMES = {"b": "bold", "i": "italic", "u": "underline", "DispFormula": "disp-formula"}
_NO_CATEGORY = frozenset(("", "unassigned", "unlabelled"))
_NO_LABEL = frozenset(("UNLABELLED", "UNASSIGNED"))
_IDS = {"pubmed": "pmid", "doi": "doi", "pmc": "pmcid"}
_NO_TITLE = re.compile(r"\[?Not Available\]?\.?")
_SET = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*>)*+"
    rb"<(PubmedArticleSet|MedlineCitationSet|PubmedBookArticleSet)(?:\s[^<>]*)?>",
    re.DOTALL,
)
_DECLARATION = re.compile(rb"<\?xml\s.*?\?>", re.DOTALL)
_START = re.compile(rb"<(PubmedArticle|PubmedBookArticle|MedlineCitation)(?=[\s>])")
_BETWEEN = re.compile(
    rb"(?>\s+|<\?.*?\?>|<!--.*?-->|<DeleteCitation>[^&]*?</DeleteCitation>|<DeleteDocument>[^&]*?</DeleteDocument>"
    rb"|<Delete(?:Citation|Document)\s*/>)*+",
    re.DOTALL,
)
_PIECE = 1 << 20


def read_pubmed_each(data: bytes, source: str) -> Iterator[Article | Rejected]:
    """Give each record of a set as an Article, or why it was left out.

    A set without records gives nothing: files of deleted citations are such.
    """
    try:
        root = parse(data)
        if local_name(root.tag) not in PUBMED_ROOTS:
            raise DocumentRejected("not-pubmed", f"no PubMed record inside <{local_name(root.tag)[:40]}>")
    except DocumentRejected as error:
        yield Rejected(source, error.reason, error.detail)
        return
    records = [root] if local_name(root.tag) in _RECORDS else [one for one in root if local_name(one.tag) in _RECORDS]
    name = stem(source)
    for number, record in enumerate(records, start=1):
        yield read_rewritten(_article(record), source, name if len(records) == 1 else f"{name}#{number}")


def _article(record: Element) -> Element:
    """Give a record in JATS's words; the record is used up."""
    outer = _parts(record)
    citation = outer.get("MedlineCitation", outer.get("BookDocument", record))
    inner = _parts(citation)
    article = inner.get("Article", citation)
    about = _parts(article)
    meta = [
        *pub_ids([("pmid", _text(inner, "PMID"))], "article-id"),
        E("title-group", _title(about)),
        E("contrib-group", *(_author(author) for author in about.get("AuthorList", ()))),
    ]
    year = _year(about)
    if year:
        meta.append(E("pub-date", E("year", year)))
    abstract, rights = _abstract(about.get("Abstract", ()))
    if rights:
        meta.append(E("permissions", E("copyright-statement", rights)))
    for other in list(citation):
        if local_name(other.tag) == "OtherAbstract":
            other.tag = "trans-abstract"
            meta.append(other)
    journal = _parts(about.get("Journal", ()))
    codes = [language_code(one.text or "") for one in article if local_name(one.tag) == "Language"]
    return article_element(
        meta,
        abstract=abstract,
        references=_references(record),
        journal=_text(journal, "Title") or _text(journal, "ISOAbbreviation"),
        language="en" if "en" in codes else next((code for code in codes if code), None),
    )


def _parts(element: Iterable[Element]) -> dict[str, Element]:
    """Give the children of an element by name, the first of each."""
    parts: dict[str, Element] = {}
    for child in element:
        parts.setdefault(local_name(child.tag), child)
    return parts


def _text(parts: Mapping[str, Element], name: str) -> str:
    found = parts.get(name)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _title(about: Mapping[str, Element]) -> Element:
    """Give the English title, that of the book for a book, the vernacular where there is no other."""
    title = about.get("ArticleTitle", _parts(about.get("Book", ())).get("BookTitle"))
    vernacular = about.get("VernacularTitle")
    if title is None or (vernacular is not None and _NO_TITLE.fullmatch("".join(title.itertext()).strip())):
        title = vernacular
    return E("article-title") if title is None else _renamed(title, "article-title")


def _renamed(element: Element, tag: str) -> Element:
    """Give an element with what is inside it, in JATS's words."""
    for inner in element.iterdescendants():
        inner.tag = _NAMES.get(local_name(inner.tag), inner.tag)
    element.tag, element.tail = tag, None
    return element


def _author(author: Element) -> Element:
    parts = _parts(author)
    contributor = E("contrib")
    if author.get("ValidYN", "Y") != "Y":  # a name that a later correction replaced
        return contributor
    if "LastName" in parts:
        given = _text(parts, "ForeName") or _text(parts, "Initials")
        name = E("name", E("surname", _text(parts, "LastName")), E("given-names", given))
        if "Suffix" in parts:
            name.append(E("suffix", _text(parts, "Suffix")))
        contributor.append(name)
    elif "CollectiveName" in parts:
        contributor.append(_renamed(parts["CollectiveName"], "collab"))
    return contributor


def _year(about: Mapping[str, Element]) -> str:
    """Give the text that holds the year: of the issue, else of the electronic article."""
    issue = _parts(_parts(about.get("Journal", ())).get("JournalIssue", ()))
    book = _parts(about.get("Book", ()))
    for date in (issue.get("PubDate"), book.get("PubDate"), about.get("ArticleDate"), about.get("ContributionDate")):
        if date is not None:
            parts = _parts(date)
            year = _text(parts, "Year") or _text(parts, "MedlineDate")
            if year:
                return year[:200]
    return ""


def _abstract(found: Iterable[Element]) -> tuple[Element | None, str]:
    """Give the abstract, and its copyright statement."""
    abstract = E("abstract")
    rights = ""
    for part in list(found):
        kind = local_name(part.tag)
        if kind == "CopyrightInformation":
            rights = "".join(part.itertext())
        if kind != "AbstractText":
            continue
        label = (part.get("Label") or "").strip()
        category = (part.get("NlmCategory") or "").strip().lower()
        label = "" if label.upper() in _NO_LABEL else label.rstrip(": ")
        category = "" if category in _NO_CATEGORY else category
        paragraph = _renamed(part, "p")
        if not label and not category:
            abstract.append(paragraph)
            continue
        section = E("sec")
        if label:
            section.append(E("title", label))
        if category:
            section.set("sec-type", category)
        section.append(paragraph)
        abstract.append(section)
    return abstract, rights


def _references(record: Element) -> list[Element]:
    """Give the references, renamed where they stand."""
    references = list(record.iter("{*}Reference"))
    for reference in references:
        reference.tag = "ref"
        for one in reference.iter("{*}ArticleId"):
            one.tag = "pub-id"
            one.set("pub-id-type", _IDS.get(one.get("IdType") or "", "other"))
    return references


class Stream(Protocol):
    """What ``split_records`` reads from."""

    def read(self, size: int, /) -> bytes:
        """Give up to ``size`` bytes, none at the end."""


def set_head(head: bytes | bytearray) -> re.Match[bytes] | None:
    """Tell whether the first bytes of a stream open a set of records that ``split_records`` can cut."""
    return _SET.match(head)


def split_records(stream: Stream) -> Iterator[bytes]:
    """Give each record of a set as a small set of its own, in constant memory.

    Raises DocumentRejected where something else stands between records, a record is too large, or the set ends
    too early; what came before stays good.
    """
    buffer = bytearray(stream.read(_PIECE))
    opening = set_head(buffer)
    if opening is None:
        raise DocumentRejected("not-pubmed", "no set of PubMed records")
    declaration = _DECLARATION.search(buffer, 0, opening.start(1))
    before = (declaration[0] if declaration else b"") + bytes(buffer[opening.start(1) - 1 : opening.end()])
    after = b"</" + opening[1] + b">"
    del buffer[: opening.end()]
    while True:
        start, name = _record_start(buffer, stream, after)
        if name is None:
            return
        end = _record_end(buffer, stream, start, b"</" + name)
        yield before + buffer[start:end] + after
        del buffer[:end]


def _more(buffer: bytearray, stream: Stream) -> bool:
    """Read on; tell whether anything came. Raises DocumentRejected when the buffer grows too large."""
    if len(buffer) > MAX_BYTES:
        raise DocumentRejected("too-large", f"a record of more than {MAX_BYTES >> 20} MiB")
    piece = stream.read(_PIECE)
    buffer += piece
    return bool(piece)


def _record_start(buffer: bytearray, stream: Stream, closing: bytes) -> tuple[int, bytes | None]:
    """Give where the next record begins and its name; None for the name at the end of the set."""
    searched = 0
    while True:
        found = _START.search(buffer, searched)
        at = found.start() if found else len(buffer)
        end = buffer.find(closing, searched, at)
        if found or end >= 0:
            at = end if end >= 0 else at
            between = _BETWEEN.match(buffer, 0, at)
            if between is None or between.end() != at:
                raise DocumentRejected("malformed", "something else than records stands in the set")
            return (at, bytes(found[1])) if found and end < 0 else (at, None)
        searched = max(0, len(buffer) - 100)
        if not _more(buffer, stream):
            raise DocumentRejected("malformed", "the set of records ends too early")


def _record_end(buffer: bytearray, stream: Stream, start: int, closing: bytes) -> int:
    """Give where the record ends that begins at ``start``."""
    searched = start
    while True:
        place = buffer.find(closing, searched)
        end = buffer.find(b">", place) if place >= 0 else -1
        if end >= 0 and not buffer[place + len(closing) : end].strip():
            return end + 1
        searched = place + 1 if end >= 0 else max(start, (place if place >= 0 else len(buffer) - len(closing)))
        if end < 0 and not _more(buffer, stream):
            raise DocumentRejected("malformed", "the file ends inside a record")
