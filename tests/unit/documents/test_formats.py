from __future__ import annotations

import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.documents import Document, read_each
from sectioncls.documents.formats import Format, format_of
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected

DATA = Path(__file__).resolve().parents[2] / "data" / "documents"
JATS = b"<article><body><p>Kites rise.</p></body></article>"
TEI = b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>Kites rise.</p></body></text></TEI>'
SET = (
    b"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Abstract><AbstractText>Kites rise."
    b"</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.xml", JATS, "jats"),
        ("a.xml", TEI, "tei"),
        ("a.txt", TEI, "tei"),
        ("a", b"\xef\xbb\xbf" + TEI, "tei"),
        ("a.xml", TEI.decode().encode("utf-16"), "tei"),
        ("a.xml", TEI.decode().encode("utf-16-be"), "tei"),
        ("a.xml", TEI.replace(b"<TEI xmlns", b"<t:TEI xmlns:t"), "tei"),
        ("a.xml", b'<?xml version="1.0"?>\n<!-- <article> -->\n<!DOCTYPE TEI [<!ENTITY a "b">]>' + TEI, "tei"),
        ("a.xml", b"<teiCorpus>" + TEI + b"</teiCorpus>", "tei"),
        ("a.xml", SET, "pubmed"),
        ("a.xml", b"<MedlineCitationSet/>", "pubmed"),
        ("a.xml", b"<html/>", "jats"),
        ("a.xml", b"{}", "jats"),
        ("a.xml", b"%PDF-1.7 x", "pdf"),
        ("a.pdf", b"\n%PDF-1.7 x", "pdf"),
        ("a.md", b"<p align=center>Kites</p>\n\nText.", "markdown"),
        ("a.MARKDOWN", b"Text.", "markdown"),
        ("z.zip!b/a.txt.gz", b"Text.", "text"),
        ("-", b"Kites\n\nText.", "text"),
        ("-", b"Text.\n\n## Kites", "markdown"),
        ("-", b"---\ntitle: a\n---\nText.", "markdown"),
        ("-", b"{}", "jats"),
        ("a", b"Text.", "jats"),
        ("a.txt", b"", "text"),
    ],
)
def test_content_decides_and_then_the_name(name: str, data: bytes, expected: Format) -> None:
    assert format_of(Document(name, data)) == expected


@pytest.mark.parametrize("data", [JATS, TEI, SET, b"# A\n\nKites rise."], ids=["jats", "tei", "pubmed", "markdown"])
def test_every_format_gives_the_same_record(data: bytes) -> None:
    [item] = read_each(Document("-" if data.startswith(b"#") else "a.xml", data))
    assert isinstance(item, Article)
    [section] = item.body or item.abstract
    [paragraph] = section.paragraphs
    assert (paragraph.text, paragraph.node, paragraph.kind) == ("Kites rise.", 0, "p")


def test_a_root_is_looked_for_in_linear_time() -> None:
    for filling in (b"<!-- -->", b"<!--", b"<?a?>", b"<!DOCTYPE [", b"<!DOCTYPE a>", b" "):
        assert format_of(Document("a.xml", filling * 20_000)) == "jats"


def test_a_pdf_is_left_out_without_a_server() -> None:
    [item] = read_each(Document("a.pdf", b"%PDF-1.7 x"))
    assert isinstance(item, Rejected) and item.reason == "needs-grobid"


def check(name: str, data: bytes) -> None:
    """Whatever comes in: articles with sound paragraphs, or reasons that are documented."""
    for item in read_each(Document(name, data)):
        if isinstance(item, Rejected):
            assert item.reason in DocumentRejected.REASONS
        else:
            stack = [*item.abstract, *item.body]
            while stack:
                section = stack.pop()
                stack.extend(section.sections)
                for paragraph in section.paragraphs:
                    text = paragraph.text
                    assert text == " ".join(text.split()) and any(letter.isalpha() for letter in text)
                    assert not any(ord(letter) < 32 for letter in text)


names = st.sampled_from(["a.xml", "a.md", "a.txt", "a.pdf", "-"])
openings = st.sampled_from(
    [b"", b"<TEI>", b"<PubmedArticleSet>", b"<article>", b"---\n", b"%PDF", b"\xff\xfe", b"<?xml"]
)


@given(names, openings, st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_bytes(name: str, opening: bytes, data: bytes) -> None:
    check(name, opening + data)


words = st.sampled_from(
    [*"#*_`~[]()<>!@$^\\&|:-=+.\"'{} \n\t", "a", "Methods", "\n\n", "$$", "[^a]", "[^a]: ", "[@k]", "@fig:a",
     "```\n", "---\n", "| a | b |\n|---|---|\n", "![a](b)", "<sup>", "</sup>", "<!--", "-->", "1. ", "- ", "> ",
     "\ue000", "\ue001", "\x01", "é", "e\u0301", "\u200b", "\ufffe", "Figure 1. ", "# References\n",
     "# Abstract\n", "title: a\n", "\r", "\f"]
)  # fmt: skip


@given(st.sampled_from(["a.md", "a.txt", "-"]), st.lists(words, max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text(name: str, pieces: list[str]) -> None:
    check(name, "".join(pieces).encode())


TAGS = {
    "TEI": "text body div head p s ref hi figure note formula list item quote cit lb title teiHeader fileDesc "
    "titleStmt profileDesc abstract sourceDesc biblStruct analytic author persName date back listBibl "
    "availability licence table",
    "PubmedArticleSet": "PubmedArticle MedlineCitation PMID Article ArticleTitle Abstract AbstractText i b sub sup "
    "math Journal JournalIssue PubDate Year AuthorList Author LastName Language OtherAbstract Reference ArticleId Book",
}


@st.composite
def trees(draw: st.DrawFn) -> bytes:
    root = draw(st.sampled_from(sorted(TAGS)))
    tags = st.sampled_from(TAGS[root].split())
    attributes = st.sampled_from(
        [
            "",
            ' n="2.1"',
            ' n="A"',
            ' n="I"',
            ' type="bibr"',
            ' type="figure"',
            ' rend="sup"',
            ' Label="A"',
            ' NlmCategory="METHODS"',
        ]
    )
    text = st.sampled_from(["", "a", " so. ", "1", "[1,", "2]", "10", "Methods: ", "(", "\n"])

    def node(depth: int) -> str:
        tag = draw(tags)
        inner = "".join(node(depth + 1) for _ in range(draw(st.integers(0, 3 if depth < 4 else 0))))
        return f"<{tag}{draw(attributes)}>{draw(text)}{inner}</{tag}>{draw(text)}"

    return f"<{root}>{''.join(node(0) for _ in range(draw(st.integers(0, 3))))}</{root}>".encode()


@given(trees())
@settings(max_examples=100, deadline=None)
def test_any_tree(data: bytes) -> None:
    check("a.xml", data)


def test_nothing_touches_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    for file in sorted(DATA.iterdir()):
        assert list(read_each(Document(file.name, file.read_bytes())))
    assert list(read_each(Document("a.pdf", b"%PDF-1.7")))
