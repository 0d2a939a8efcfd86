"""Every character of a document is prose, title or left out for a reason; every prose paragraph comes once, in order.

The oracles are naive: all text nodes of the tree, and the ``p`` elements outside what is never prose.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from sectioncls.documents import find_documents, labelled_paragraphs
from sectioncls.documents.account import kept_characters
from sectioncls.documents.files import Document
from sectioncls.documents.jats import read_jats_located
from sectioncls.records import Article

ROOT = Path(__file__).resolve().parents[2]
OWN = [ROOT / "tests" / "data" / "jats", ROOT / "corpora" / "demo" / "jats"]
SHARED = ["pmc_xml.tar.xz", "pmc_xml_2.tar.xz"]

# CONVENTIONS 2.2, and what stands outside the article's own prose.
REMOVED = {
    "fig", "fig-group", "table-wrap", "table-wrap-group", "table", "supplementary-material", "media", "graphic",
    "inline-graphic", "array", "preformat", "code", "verse-group", "def-list", "def", "fn", "fn-group",
    "chem-struct-wrap", "include", "title", "label", "attrib", "speaker", "sec-meta", "sub-article", "response",
    "inline-formula", "disp-formula", "disp-formula-group", "math", "tex-math", "chem-struct", "alternatives",
}  # fmt: skip
BLOCKS = {"p", "list", "disp-quote", "statement", "speech", "boxed-text", "sec"}
EMPHASIS = {"bold", "italic", "underline", "sc"}
PLACEHOLDER = re.compile("@cite|@fig|@table|@formula")


def name(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2]


def characters(text: str) -> int:
    return len(re.sub("[ \t\r\n]", "", text))


def everything(element: etree._Element) -> int:
    return characters("".join(element.itertext()))


def own_texts(p: etree._Element) -> Iterator[str]:
    """The text nodes of a paragraph outside links, blocks and what is never prose."""
    yield p.text or ""
    for child in p:
        if name(child) not in REMOVED | BLOCKS | {"xref"}:
            yield from own_texts(child)
        yield child.tail or ""


def words(text: str) -> list[str]:
    """The letters-only words of a text; the invisible ones gone, accents composed."""
    text = re.sub("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]", "", unicodedata.normalize("NFC", text))
    return re.findall(r"[^\W\d_]+", text)


def inner_words(p: etree._Element) -> list[str]:
    """The words that touch no end of a text node, where markup may join or part them; not those for figures."""
    found: list[str] = []
    for text in own_texts(p):
        inner = re.split(r"\s", text)[1:-1]
        found += [word for word in words(" ".join(inner)) if not re.fullmatch("(?i)fig(ure)?s?|tab(le)?s?|and|.", word)]
    return found


def prose_paragraphs(part: etree._Element) -> Iterator[etree._Element]:
    """The ``p`` elements of a body or abstract that are prose, in document order."""
    for child in part:
        if name(child) not in REMOVED:
            if name(child) == "p" and any(map(words, own_texts(child))):
                yield child
            yield from prose_paragraphs(child)


def is_line(p: etree._Element) -> bool:
    """A ``p`` whose text is all emphasised: prose or a heading."""
    return all(name(child) in EMPHASIS | BLOCKS | REMOVED for child in p) and not words(
        (p.text or "") + "".join(c.tail or "" for c in p)
    )


def check(document: Document) -> int:
    count = 0
    for item, origins in read_jats_located(document.data, document.name, sub_articles=True, located=True):
        if not isinstance(item, Article):
            continue
        count += 1
        assert origins is not None
        paragraphs = [paragraph for paragraph, _, _ in labelled_paragraphs(item)]
        body = next(
            above
            for above in origins[-1].iterancestors()
            if name(above) == "body" and name(above.getparent()) in ("article", "sub-article", "response")
        )
        article = body.getparent()
        check_account(item, article, paragraphs)
        check_paragraphs(article, body, paragraphs, origins)
    return count


def check_account(item: Article, article: etree._Element, paragraphs: list) -> None:
    left = dict(item.left_out)
    assert kept_characters(item) + sum(left.values()) == everything(article)
    assert all(number > 0 for number in left.values())
    assert left.get("references", 0) == sum(map(everything, article.findall("{*}back/{*}ref-list")))
    titles = article.findall("{*}front/{*}article-meta/{*}title-group/{*}subtitle")
    source = "".join(article.itertext())
    if "^" not in source and not titles and not PLACEHOLDER.search(source):
        written = " ".join([item.title, *(paragraph.text for paragraph in paragraphs)])
        added = sum(map(len, PLACEHOLDER.findall(written))) + written.count("^")
        assert 0 <= item.added - added <= 20, "only letters that compose to more may differ"
        assert item.added == added or unicodedata.normalize("NFC", source) != source


def check_paragraphs(article: etree._Element, body: etree._Element, paragraphs: list, origins: list) -> None:
    assert [paragraph.node for paragraph in paragraphs] == list(range(len(origins)))
    abstracts = [part for part in article.iter("{*}abstract") if any(part in p.iterancestors() for p in origins[:1])]
    expected = [p for part in (*abstracts, body) for p in prose_paragraphs(part)]
    place = {p: i for i, p in enumerate(article.iter("{*}p"))}
    texts: dict[etree._Element, list[str]] = {}
    heads: dict[etree._Element, set[str]] = {}  # words that left the text for the path
    for p, paragraph in zip(origins, paragraphs, strict=True):
        texts.setdefault(p, []).append(paragraph.text)
        heads.setdefault(p, set()).update(words(" ".join(paragraph.path)))
    assert list(texts) == sorted(texts, key=place.__getitem__), "not in document order"
    for p in set(expected) - set(texts):
        assert is_line(p) or not inner_words(p), etree.tostring(p)
    assert set(texts) <= set(expected) | {p for p in place if p.find(".//{*}xref") is not None}
    for p, written in texts.items():
        found, at = [word for word in words(" ".join(written)) if word not in heads[p]], 0
        for word in inner_words(p):
            if word not in heads[p]:
                assert word in found[at:], (word, written)
                at = found.index(word, at) + 1


@pytest.mark.parametrize(
    "document",
    find_documents(OWN),
    ids=lambda item: Path(item.name if isinstance(item, Document) else item.source).name,
)
def test_our_own_files(document) -> None:
    if isinstance(document, Document):
        check(document)


@pytest.mark.shared
def test_all_real_articles(shared: Path) -> None:
    documents = articles = 0
    for document in find_documents([shared / "jats" / archive for archive in SHARED]):
        assert isinstance(document, Document)
        documents += 1
        articles += check(document)
    assert documents == 1192
    assert articles >= documents
