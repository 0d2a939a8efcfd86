from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from sectioncls.documents import Document, find_documents, labelled_paragraphs, read_documents
from sectioncls.documents.pubmed import read_pubmed_each, split_records
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Rejected

DATA = Path(__file__).resolve().parents[2] / "data" / "documents"


def record(inner: str = "", *, about: str = "", pmid: int = 1) -> str:
    article = f"<Article><ArticleTitle>Kites.</ArticleTitle>{about}</Article>"
    return f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID>{article}{inner}</MedlineCitation></PubmedArticle>"


def one(data: str) -> Article:
    [item] = read_pubmed_each(data.encode(), "p.xml")
    assert isinstance(item, Article), item
    return item


def abstract(inner: str) -> list[tuple[tuple[str, ...], str, str, str]]:
    """Path, text, label and its source of each paragraph."""
    return [
        (paragraph.path[1:], paragraph.text, label, source)
        for paragraph, label, source in labelled_paragraphs(one(record(about=f"<Abstract>{inner}</Abstract>")))
    ]


def test_a_set_is_read_record_by_record() -> None:
    first, second = read_documents([DATA / "pubmed.xml"])
    assert isinstance(first, Article) and isinstance(second, Rejected)
    assert (second.reason, second.article_id) == ("no-prose", "pmid:102")
    assert second.source.endswith("pubmed.xml#2")
    assert (first.id, first.title, first.year) == ("pmid:101", "Kites and Ovis at 10^3 m.", 1998)
    assert (first.journal, first.language) == ("Journal of Kites", "en")
    assert first.authors == ("Ada B Lamb", "The Ewes")
    assert first.references == ("pmid:55",)
    assert [
        (section.title, section.sec_type, [paragraph.text for paragraph in section.paragraphs])
        for section in first.abstract
    ] == [
        (None, None, ["No label here."]),
        ("BACKGROUND", "background", ["Sheep fear kites."]),
        ("SHEEP", "methods", ["We flew H2 kites of @formula m."]),
    ]
    assert [paragraph.text[:5] for paragraph, _, _ in labelled_paragraphs(first)] == ["Sheep", "We fl", "No la"]
    assert first.body == ()
    assert "moutons" not in repr(first)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<AbstractText>We ran.</AbstractText>", [((), "We ran.", "other", "none")]),
        (
            '<AbstractText Label="AIM" NlmCategory="OBJECTIVE">To run.</AbstractText>',
            [(("AIM",), "To run.", "objective", "title:AIM")],
        ),
        (
            '<AbstractText Label="KITES:" NlmCategory="RESULTS">All ran.</AbstractText>',
            [(("KITES",), "All ran.", "result", "sec-type:results")],
        ),
        (
            '<AbstractText NlmCategory="METHODS">We ran.</AbstractText>',
            [((), "We ran.", "method", "sec-type:methods")],
        ),
        (
            '<AbstractText Label="UNLABELLED" NlmCategory="UNLABELLED">We ran.</AbstractText>',
            [((), "We ran.", "other", "none")],
        ),
        (
            "<AbstractText>BACKGROUND: Sheep fear. METHODS: We ran.</AbstractText>",
            [
                (("BACKGROUND",), "Sheep fear.", "background", "run-in:BACKGROUND"),
                (("METHODS",), "We ran.", "method", "run-in:METHODS"),
            ],
        ),
        (
            "<AbstractText>A <b>bold</b>, <i>slanted</i>, <u>low</u> CO<sub>2</sub> at 10<sup>3</sup>.</AbstractText>",
            [((), "A bold, slanted, low CO2 at 10^3.", "other", "none")],
        ),
    ],
)
def test_abstracts(inner: str, expected: list[tuple[tuple[str, ...], str, str, str]]) -> None:
    assert abstract(inner) == expected


@pytest.mark.parametrize(
    ("about", "year"),
    [
        ("<Journal><JournalIssue><PubDate><Year>2003</Year></PubDate></JournalIssue></Journal>", 2003),
        (
            "<Journal><JournalIssue><PubDate><MedlineDate>Winter 1987</MedlineDate></PubDate></JournalIssue></Journal>",
            1987,
        ),
        ("<ArticleDate><Year>2011</Year></ArticleDate>", 2011),
        ("", None),
    ],
)
def test_years(about: str, year: int | None) -> None:
    assert one(record(about=f"{about}<Abstract><AbstractText>We ran.</AbstractText></Abstract>")).year == year


def test_other_titles_languages_and_books() -> None:
    text = "<Abstract><AbstractText>We ran.</AbstractText></Abstract>"
    about = f"<ArticleTitle>[Not Available].</ArticleTitle><VernacularTitle>Drachen.</VernacularTitle>{text}"
    read = one(
        f"<PubmedArticle><MedlineCitation><Article>{about}<Language>ger</Language></Article></MedlineCitation></PubmedArticle>"
    )
    assert (read.title, read.language, read.id) == ("Drachen.", "de", "p")
    both = "<Language>fre</Language><Language>eng</Language>"
    assert one(record(about=text + both)).language == "en"
    about = "<Book><BookTitle>The kite</BookTitle><PubDate><Year>1999</Year></PubDate></Book>"
    book = f"<BookDocument><PMID>9</PMID>{about}{text}</BookDocument>"
    read = one(f"<PubmedBookArticle>{book}</PubmedBookArticle>")
    assert (read.id, read.title, read.year) == ("pmid:9", "The kite", 1999)


def test_a_licence_is_read_from_the_copyright_line() -> None:
    rights = "<CopyrightInformation>© 2020 under CC BY-NC 4.0.</CopyrightInformation>"
    assert (
        one(record(about=f"<Abstract><AbstractText>We ran.</AbstractText>{rights}</Abstract>")).licence
        == "CC BY-NC 4.0"
    )


def a_set(*records: str, head: str = "", root: str = "PubmedArticleSet") -> bytes:
    return f"{head}<{root}>{''.join(records)}</{root}>".encode()


class Slow:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.stream, self.size = io.BytesIO(data), size

    def read(self, size: int, /) -> bytes:
        return self.stream.read(min(size, self.size))


def numbers(data: bytes, size: int) -> list[str]:
    found = []
    for part in split_records(Slow(data, size)):
        [item] = read_pubmed_each(part, "p.xml")
        assert isinstance(item, Rejected)
        found.append(str(item.article_id))
    return found


@pytest.mark.parametrize("size", [200, 211, 1000])
def test_a_set_is_cut_into_its_records(size: int) -> None:
    head = '<?xml version="1.0" encoding="iso-8859-1"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "x" "http://a.b/c.dtd">'
    data = a_set(
        record(pmid=1),
        "<!-- between -->\n",
        "<PubmedBookArticle><BookDocument><PMID>2</PMID></BookDocument></PubmedBookArticle>",
        record('<Note attribute="x &gt; y">caf\u00e9</Note>', pmid=3).replace("</PubmedArticle>", "</PubmedArticle >"),
        "<DeleteCitation><PMID>7</PMID></DeleteCitation>",
        head=head,
    )
    assert numbers(data.decode().encode("iso-8859-1"), size) == ["pmid:1", "pmid:2", "pmid:3"]


@pytest.mark.parametrize(
    ("data", "count", "reason"),
    [
        (a_set(record(), record())[:-100], 1, "malformed"),
        (a_set(record(), record())[:-5], 2, "malformed"),
        (a_set(record(), "text", record()), 1, "malformed"),
        (b"<PubmedArticleSet>", 0, "malformed"),
        (b"<article/>", 0, "not-pubmed"),
    ],
)
def test_a_broken_set_gives_what_stood_before(data: bytes, count: int, reason: str) -> None:
    parts = split_records(io.BytesIO(data))
    for _ in range(count):
        next(parts)
    with pytest.raises(DocumentRejected) as caught:
        next(parts)
    assert caught.value.reason == reason


def test_a_record_may_not_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.documents.pubmed.MAX_BYTES", 1000)
    monkeypatch.setattr("sectioncls.documents.pubmed._PIECE", 500)
    for large in (record("x" * 2000), f"<!--{'x' * 2000}-->"):
        with pytest.raises(DocumentRejected, match="too-large"):
            list(split_records(io.BytesIO(a_set(large))))


def test_a_set_larger_than_a_document_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.documents.files.MAX_BYTES", 10_000)
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(a_set(*(record(pmid=number) for number in range(1, 501)))))
    documents = list(find_documents([path]))
    assert [item.name for item in documents if isinstance(item, Document)] == [f"{path}#{n}" for n in range(1, 501)]
    path.write_bytes(gzip.compress(a_set(record(), record())[:-40]))
    assert [type(item) for item in find_documents([path])] == [Document, Rejected]


def test_external_entities_are_refused() -> None:
    head = '<!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    [item] = read_pubmed_each(a_set(record("&x;"), head=head), "p.xml")
    assert isinstance(item, Rejected) and item.reason == "unsafe-entity"
