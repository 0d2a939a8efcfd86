"""What the front and back of an article say about it: ids, year, journal, authors, licence, references."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from sectioncls.documents.account import Account, characters_of
from sectioncls.documents.raw import clean_text
from sectioncls.documents.tags import local_name
from sectioncls.documents.xml import Element

__all__ = ["Front", "read_front", "read_reference_keys", "read_references"]

_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_HREF = "{http://www.w3.org/1999/xlink}href"
_ABSTRACT_TYPES = frozenset(("", "structured", "section", "normal", "summary"))

_CC_URL = re.compile(r"creativecommons\.org/+licen[sc]es/(by(?:-(?:nc|nd|sa))*)(?:/+(\d\.\d))?", re.IGNORECASE)
_CC0_URL = re.compile(r"creativecommons\.org/+publicdomain/+zero(?:/+(\d\.\d))?", re.IGNORECASE)
_PD_URL = re.compile(r"creativecommons\.org/+(?:publicdomain/+mark|licen[sc]es/+publicdomain)", re.IGNORECASE)
_CC_SHORT = re.compile(r"\bCC[ -]?(BY(?:[ -](?:NC|ND|SA))*)\b(?:[ -]?(?:v\.? ?)?(\d\.\d))?")
_CC0_SHORT = re.compile(r"\bCC[ -]?0\b|\bCC Zero\b", re.IGNORECASE)
_CC_LONG = re.compile(
    r"Creative Commons\s+Attribution((?:[\s,/–-]++(?:Non-?\s?Commercial|No\s?-?Deriv\w*|Share-?\s?Alike))*+)"
    r"(?:[\s,(-]*+(?:Unported|International|Generic|License|Licence)?[\s,(]*+(?:version\s*|v\.?\s*)?(\d\.\d))?",
    re.IGNORECASE,
)
_MARKS = {"nc": re.compile("nc|noncom"), "nd": re.compile("nd|noder"), "sa": re.compile("sa|sharea")}
_LONGEST_NOTE = 10_000  # characters of a licence or a reference's title that are read
_MOST_LICENCES = 20
_YEAR = re.compile(r"\b(1[6-9]\d\d|20\d\d)\b")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Front:
    """The front of an article; ``id`` is None where it names none."""

    id: str | None = None
    title: str = ""
    year: int | None = None
    journal: str | None = None
    authors: tuple[str, ...] = ()
    language: str | None = None
    licence: str | None = None
    abstract: Element | None = None
    doi: str | None = None
    pmid: str | None = None


def read_front(article: Element, front: Element | None, account: Account | None = None) -> Front:
    """Give what the ``front`` (or ``front-stub``) of an ``article`` says.

    ``account`` is told of all its text but that of the title and the main abstract.
    """
    account = account if account is not None else Account()
    language = (article.get(_LANG) or article.get("lang") or "").strip().lower() or None
    if front is None:
        return Front(language=language)
    account.leave(front)
    meta = front if local_name(front.tag) == "front-stub" else front.find("{*}article-meta")
    if meta is None:
        return Front(language=language, journal=_journal(front))
    ids: dict[str, str] = {}
    year: int | None = None
    authors: list[str] = []
    licence = title = None
    main: Element | None = None
    for child in meta:
        name = local_name(child.tag)
        if name == "article-id":
            ids.setdefault((child.get("pub-id-type") or "").lower(), "".join(child.itertext()).strip())
        elif name == "title-group":
            title = title or _title(child, account)
        elif name == "pub-date":
            found = _year(child)
            year = found if year is None or (found is not None and found < year) else year
        elif name == "contrib-group":
            authors += _authors(child)
        elif name == "permissions":
            licence = licence or _licence(child)
        elif name == "abstract":
            kind = (child.get("abstract-type") or "").strip().lower()
            if main is None and kind in _ABSTRACT_TYPES:
                main = child
                account.count("front", -characters_of(child))
            else:
                _leave_abstract(child, account)
        elif name == "trans-abstract":
            _leave_abstract(child, account)
    if licence is None:
        licence = _old_licence(meta)
    doi = _DOI.search(ids.get("doi", ""))
    known = doi.group().lower() if doi else None
    pmid = ids.get("pmid", "")
    return Front(
        id=_article_id(ids, known),
        title=title or "",
        year=year,
        journal=_journal(front),
        authors=tuple(authors),
        language=language,
        licence=licence,
        abstract=main,
        doi=known,
        pmid=pmid if pmid.isdigit() else None,
    )


def _leave_abstract(element: Element, account: Account) -> None:
    size = characters_of(element)
    account.count("front", -size)
    account.count("other-abstract", size)


def _article_id(ids: dict[str, str], doi: str | None) -> str | None:
    """Give ``PMC123``, else the DOI, else ``pmid:123``."""
    for kind in ("pmcid", "pmc", "pmcaid"):
        number = ids.get(kind, "").upper().removeprefix("PMC").split(".")[0]
        if number.isdigit():
            return f"PMC{number}"
    if doi:
        return doi
    pmid = ids.get("pmid", "")
    return f"pmid:{pmid}" if pmid.isdigit() else None


def _title(group: Element, account: Account) -> str:
    parts: list[str] = []
    for name in ("{*}article-title", "{*}subtitle"):
        element = group.find(name)
        if element is not None:
            account.count("front", -characters_of(element))
            parts.append(clean_text(element, account))
    title, subtitle = parts if len(parts) == 2 else ("".join(parts), "")
    if not (title and subtitle):
        return title or subtitle
    if title.endswith(":"):
        return f"{title} {subtitle}"
    account.added += 1
    return f"{title}: {subtitle}"


def _year(date: Element) -> int | None:
    found = _YEAR.search(date.findtext("{*}year") or date.findtext("{*}string-date") or date.get("iso-8601-date") or "")
    return int(found.group()) if found else None


def _journal(front: Element) -> str | None:
    meta = front.find("{*}journal-meta")
    if meta is None:
        return None
    for title in meta.iter("{*}journal-title"):
        return clean_text(title) or None
    return None


def _authors(group: Element) -> list[str]:
    authors: list[str] = []
    for contributor in group.iterchildren("{*}contrib"):
        if (contributor.get("contrib-type") or "author") != "author":
            continue
        name = next(contributor.iter("{*}name", "{*}string-name"), None)
        if name is not None:
            parts = (name.findtext("{*}given-names"), name.findtext("{*}surname"), name.findtext("{*}suffix"))
            text = " ".join(" ".join(part for part in parts if part).split())
        else:
            text = clean_text(next(contributor.iter("{*}collab"), None))
        if text:
            authors.append(text)
    return authors


def _licence(permissions: Element) -> str | None:
    """Give the short form of a licence (``CC BY 4.0``), from its address, else from its words."""
    texts: list[str] = []
    for licence in islice(permissions.iter("{*}license", "{*}license_ref"), _MOST_LICENCES):
        texts.append(licence.get(_HREF) or "")
        texts.extend(element.get(_HREF) or "" for element in licence.iter("{*}ext-link", "{*}uri"))
        texts.append(_beginning(licence))
        texts.append(licence.get("license-type") or "")
    return _short_licence(texts)


def _old_licence(meta: Element) -> str | None:
    """Give the licence where older files state it: in ``copyright-statement`` or ``license`` beside the rest."""
    stated = list(islice(meta.iter("{*}copyright-statement", "{*}license"), _MOST_LICENCES))
    texts = [_beginning(element) for element in stated]
    texts += [element.get(_HREF) or "" for element in stated]
    return _short_licence(texts) if texts else None


def _beginning(element: Element) -> str:
    """Give the text of an element, at most about 10,000 characters of it."""
    pieces: list[str] = []
    size = 0
    for piece in element.itertext():
        pieces.append(piece[:_LONGEST_NOTE])
        size += len(pieces[-1]) + 1
        if size > _LONGEST_NOTE:
            break
    return "".join(pieces)


def _short_licence(texts: list[str]) -> str | None:
    text = " ".join(" ".join(texts)[:_LONGEST_NOTE].split())
    found = _CC_URL.search(text)
    if found:
        return _cc(found[1], found[2])
    found = _CC0_URL.search(text)
    if found:
        return f"CC0 {found[1]}" if found[1] else "CC0"
    if _PD_URL.search(text):
        return "public domain"
    return _worded_licence(text)


def _worded_licence(text: str) -> str | None:
    """Give the licence that a text names; of two statements the stricter counts."""
    named = [*_CC_SHORT.finditer(text), *_CC_LONG.finditer(text)]
    if named:
        words = "".join(found[1].lower() for found in named).replace(" ", "").replace("-", "")
        marks = [mark for mark, word in _MARKS.items() if word.search(words)]
        return _cc("-".join(["by", *marks]), next((found[2] for found in named if found[2]), None))
    if _CC0_SHORT.search(text):
        return "CC0"
    return "public domain" if "public domain" in text.lower() else None


def _cc(marks: str, version: str | None) -> str:
    return f"CC {marks.upper().replace(' ', '-')}" + (f" {version}" if version else "")


def read_references(back: Element) -> tuple[str, ...]:
    """Give the best key of each reference (see read_reference_keys)."""
    return tuple(keys[0] for keys in read_reference_keys(back))


def read_reference_keys(back: Element) -> tuple[tuple[str, ...], ...]:
    """Give what each reference is known by, the best first: ``doi:…``, ``pmid:…``, ``pmcid:…``, ``title:…``.

    Titles are normalised; a reference with none of the four is left out.
    """
    references: list[tuple[str, ...]] = []
    for reference in back.iter("{*}ref"):
        ids: dict[str, str] = {}
        title: Element | None = None
        for element in reference.iter("{*}pub-id", "{*}article-title", "{*}ext-link"):
            name = local_name(element.tag)
            if name == "pub-id":
                ids.setdefault((element.get("pub-id-type") or "").lower(), (element.text or "").strip())
            elif name == "article-title":
                title = title if title is not None else element
            elif "doi" not in ids:
                found = _DOI.search(element.get(_HREF) or "") or _DOI.search(element.text or "")
                if found:
                    ids["doi"] = found.group()
        _add_reference(ids, title, references)
    return tuple(references)


def _add_reference(ids: dict[str, str], title: Element | None, references: list[tuple[str, ...]]) -> None:
    keys: list[str] = []
    doi = _DOI.search(ids["doi"]) if "doi" in ids else None
    if doi:
        keys.append(f"doi:{doi.group().lower().rstrip('.,;')}")
    if ids.get("pmid", "").isdigit():
        keys.append(f"pmid:{ids['pmid']}")
    if ids.get("pmcid") or ids.get("pmc"):
        number = (ids.get("pmcid") or ids["pmc"]).upper().removeprefix("PMC")
        keys.append(f"pmcid:PMC{number}")
    if title is not None and (words := " ".join(_WORDS.findall(_beginning(title).lower()))):
        keys.append(f"title:{words}")
    if keys:
        references.append(tuple(keys))
