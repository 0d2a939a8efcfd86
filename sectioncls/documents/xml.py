"""Parsing hostile XML: one parser of our own, no network, no DTD, and bounds on everything.

The document type declaration is cut out before lxml sees the bytes. Entities of its internal subset and the
names of HTML and ISO are replaced by numeric references or text first, within a budget, so the parser meets
none. Reasons of the errors are those of ``sectioncls.errors.DocumentRejected``.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from typing import NoReturn, TypeAlias

from lxml import etree

from sectioncls.documents.entities import NAMED
from sectioncls.errors import DocumentRejected

__all__ = ["MAX_BYTES", "Element", "parse"]

Element: TypeAlias = etree._Element

MAX_BYTES = 64 << 20
"""Most bytes of one document."""
_MAX_TAGS = 2_000_000  # start-tags, end-tags and attributes
_BUDGET = 1_000_000  # characters that entities of the internal subset may expand to, in all
_DEPTH = 5  # of entities in entities

_SKIP = rb"<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)"
_PROLOG = re.compile(rb"(?:[ \t\r\n]+|%s)*" % _SKIP, re.DOTALL)
_DOCTYPE = re.compile(rb"""<!DOCTYPE[ \t\r\n]++[^ \t\r\n>\["']++(?:[^\["'>]++|"[^"]*+"|'[^']*+')*+(\[)?""")
_SUBSET = re.compile(
    rb"""[ \t\r\n]+|%s|(?P<pe>%%[^;\s]*;)|<!(?P<what>[A-Z]+)(?P<body>(?:[^"'>]++|"[^"]*+"|'[^']*+')*+)>"""
    rb"""|(?P<end>\][ \t\r\n]*>)""" % _SKIP,
    re.DOTALL,
)
_ENTITY = re.compile(rb"""\s+(?P<pe>%\s+)?(?P<name>[^\s"'%]+)\s+(?:"(?P<a>[^"]*)"|'(?P<b>[^']*)')\s*""")
_EXTERNAL = re.compile(rb"""\s+(?:%\s+)?[^\s"'%]+\s+(?:SYSTEM|PUBLIC)\b""")
_STANDARD = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_NEEDS_WORK = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)")
_REFERENCE = re.compile(rb"<!\[CDATA\[(?:.*?\]\]>|.*)|%s|&([A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*);" % _SKIP, re.DOTALL)
_INNER = re.compile(rb"&([A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*);")
_CHARACTER = re.compile(rb"&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_DECLARED = re.compile(rb"""^<\?xml[^>]*?encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z0-9._-]+)["'][^>]*\?>""")
_HTML = re.compile(
    rb"(?:\s|<!--(?>.*?-->))*+(?:<\?xml[^>]*\?>\s*)?(?:<!DOCTYPE\s+html\b|<html\b)", re.IGNORECASE | re.DOTALL
)


def parse(data: bytes) -> Element:
    """Give the root element of a document; comments and processing instructions are gone.

    Raises DocumentRejected with reason ``empty malformed not-jats unsafe-entity too-deep too-large``.
    """
    if not data:
        raise DocumentRejected("empty", "the file has no bytes")
    if len(data) > MAX_BYTES:
        raise DocumentRejected("too-large", f"more than {MAX_BYTES >> 20} MiB")
    data = _as_utf8(data)
    _sniff(data)
    if len(data) > _MAX_TAGS and data.count(b"<") + data.count(b"=") > _MAX_TAGS:
        raise DocumentRejected("too-large", f"more than {_MAX_TAGS} tags and attributes")
    data, entities = _cut_doctype(data)
    if entities or _NEEDS_WORK.search(data):
        data = _replace_entities(data, entities)
    try:
        return etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        _refuse(error)


@cache
def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
        strip_cdata=True,
        collect_ids=False,
    )


def _refuse(error: etree.XMLSyntaxError) -> NoReturn:
    message = str(error).partition(", use XML_PARSE_HUGE")[0].partition(", try XML_PARSE_HUGE")[0]
    message = message.removesuffix(" (<string>, line 1)").replace("<string>", "line").strip()
    if "depth" in message:
        raise DocumentRejected("too-deep", "more than 256 levels of elements") from error
    if error.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        raise DocumentRejected("too-large", message) from error
    raise DocumentRejected("malformed", message) from error


def _as_utf8(data: bytes) -> bytes:
    """Give the bytes in UTF-8, without byte order mark."""
    if data.startswith(codecs.BOM_UTF8):
        return data[3:]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _recode(data, "utf-16")
    if data.startswith((b"<\0", b"\0<")):
        return _recode(data, "utf-16-le" if data[1] == 0 else "utf-16-be")
    declared = _DECLARED.match(data, 0, min(len(data), 400))
    if declared is None:
        return data
    encoding = declared.group(1).decode("ascii").lower()
    return data if encoding in ("utf-8", "utf8", "us-ascii", "ascii") else _recode(data, encoding)


def _recode(data: bytes, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode("utf-8")
    except (UnicodeError, LookupError) as error:
        raise DocumentRejected("malformed", f"the bytes do not fit the encoding {encoding}") from error


def _sniff(data: bytes) -> None:
    """Raise DocumentRejected for what is plainly no XML article: an HTML page, JSON, text, a PDF."""
    head = data[:4096].lstrip()
    if not head:
        raise DocumentRejected("empty", "the file holds only white space")
    if not head.startswith(b"<"):
        raise DocumentRejected("not-jats", "the file does not begin like XML")
    if _HTML.match(head):
        raise DocumentRejected("not-jats", "an HTML page")


def _cut_doctype(data: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Give the document without its DOCTYPE, and the entities that its internal subset declares."""
    prolog = _PROLOG.match(data)
    start = prolog.end() if prolog else 0
    doctype = _DOCTYPE.match(data, start)
    if doctype is None:
        return data, {}
    entities: dict[bytes, bytes] = {}
    end = doctype.end()
    if doctype.group(1):
        end = _read_subset(data, end, entities)
    elif data[end : end + 1] == b">":
        end += 1
    else:
        raise DocumentRejected("malformed", "the DOCTYPE does not end")
    # Line ends stay, so that lxml's messages name the right line.
    return data[:start] + b"\n" * data.count(b"\n", start, end) + data[end:], entities


def _read_subset(data: bytes, at: int, entities: dict[bytes, bytes]) -> int:
    """Fill ``entities`` from the internal subset that begins at ``at``; give the place behind the DOCTYPE."""
    while True:
        token = _SUBSET.match(data, at)
        if token is None:
            raise DocumentRejected("malformed", "the DOCTYPE does not end")
        at = token.end()
        if token["end"]:
            return at
        if token["pe"]:
            raise DocumentRejected("unsafe-entity", "a parameter entity is used in the internal subset")
        if token["what"] != b"ENTITY":
            continue
        if _EXTERNAL.match(token["body"]):
            raise DocumentRejected("unsafe-entity", "an external entity is declared")
        entity = _ENTITY.fullmatch(token["body"])
        if entity is None:
            raise DocumentRejected("malformed", "an entity declaration is not well-formed")
        if entity["pe"]:
            continue
        value: bytes = entity["a"] if entity["a"] is not None else entity["b"]
        entities.setdefault(entity["name"], _CHARACTER.sub(_character, value))


def _character(reference: re.Match[bytes]) -> bytes:
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    try:
        return chr(number).encode("utf-8")
    except (ValueError, OverflowError, UnicodeEncodeError) as error:
        raise DocumentRejected("malformed", f"&#{number}; is not a character") from error


def _replace_entities(data: bytes, entities: dict[bytes, bytes]) -> bytes:
    """Give the document with every named entity replaced; CDATA, comments and instructions stay as they are."""
    known: dict[bytes, tuple[bytes, int]] = {}
    spent = 0

    def replace(found: re.Match[bytes]) -> bytes:
        nonlocal spent
        name = found[1]
        if name is None or name in _STANDARD:
            return found[0]
        text, _ = known[name] if name in known else _expand(name, entities, known, 1)
        if name in entities:
            spent += len(text)
            if spent > _BUDGET:
                raise DocumentRejected("unsafe-entity", f"entities expand to more than {_BUDGET} characters")
        return text

    return _REFERENCE.sub(replace, data)


def _expand(
    name: bytes, entities: dict[bytes, bytes], known: dict[bytes, tuple[bytes, int]], depth: int
) -> tuple[bytes, int]:
    """Give what ``&name;`` stands for, and how deep entities stand in each other there (0: a character)."""
    value = entities.get(name)
    if value is None:
        return _named_character(name), 0
    if depth > _DEPTH:
        raise DocumentRejected("unsafe-entity", f"entities stand more than {_DEPTH} deep in each other")
    pieces: list[bytes] = []
    height = size = at = 0
    for inner in _INNER.finditer(value):
        pieces.append(value[at : inner.start()])
        at = inner.end()
        part, deep = inner[0], 0
        if inner[1] not in _STANDARD:
            part, deep = known.get(inner[1]) or _expand(inner[1], entities, known, depth + 1)
        pieces.append(part)
        size += len(part)
        height = max(height, deep)
        if size > _BUDGET:
            raise DocumentRejected("unsafe-entity", f"entities expand to more than {_BUDGET} characters")
    if height >= _DEPTH:
        raise DocumentRejected("unsafe-entity", f"entities stand more than {_DEPTH} deep in each other")
    pieces.append(value[at:])
    known[name] = b"".join(pieces), height + 1
    return known[name]


def _named_character(name: bytes) -> bytes:
    """Give numeric references for the name of a character; these are safe at any place."""
    try:
        characters = NAMED[name.decode("ascii")]
    except (KeyError, UnicodeDecodeError):
        shown = name[:40].decode("utf-8", "replace")
        raise DocumentRejected("malformed", f"the entity &{shown}; is not defined") from None
    return b"".join(b"&#%d;" % ord(character) for character in characters)
