from __future__ import annotations

from pathlib import Path

import pytest

from sectioncls.documents import Document, labelled_paragraphs, read_each
from sectioncls.documents.tei import read_tei_each
from sectioncls.records import Article, Rejected

DATA = Path(__file__).resolve().parents[2] / "data" / "documents"


def tei(body: str, *, header: str = "", back: str = "", attributes: str = "") -> bytes:
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0" {attributes}><teiHeader>{header}</teiHeader>'
        f"<text><body>{body}</body><back>{back}</back></text></TEI>"
    ).encode()


def article(data: bytes) -> Article:
    [item] = read_tei_each(data, "folder/kites.tei.xml")
    assert isinstance(item, Article), item
    return item


def rows(data: bytes) -> list[tuple[tuple[str, ...], str]]:
    return [(paragraph.path, paragraph.text) for paragraph, _, _ in labelled_paragraphs(article(data))]


def texts(body: str) -> list[str]:
    return [text for _, text in rows(tei(body))]


def test_a_whole_file_as_grobid_writes_it() -> None:
    data = (DATA / "grobid.tei.xml").read_bytes()
    read = article(data)
    assert rows(data) == [
        (("Abstract",), "We flew kites. Sheep ran."),
        ((), "Lead text of a div without a head."),
        (
            ("Introduction",),
            "Sheep @cite run @cite. See @fig and @table. Wind rose 10 3 @cite. They ran.",
        ),
        (
            ("Methods",),
            "Kites weighed two kilos. The area is given by @formula where b is the width, see @formula.",
        ),
        (("Methods",), "A new paragraph."),
        (("Methods", "Sheep"), "Ewes were counted:"),
        (("Methods", "Sheep"), "one ewe;"),
        (("Methods", "Sheep"), "two rams."),
        (("Methods", "Kites"), "Text."),
        (("Results",), "All ran."),
    ]
    assert [paragraph.node for paragraph, _, _ in labelled_paragraphs(read)] == list(range(10))
    assert [paragraph.kind for paragraph, _, _ in labelled_paragraphs(read)][6:8] == ["list", "list"]
    assert (read.id, read.title, read.year) == ("10.1234/kite.1", "Kites over Ovis hills", 2021)
    assert (read.journal, read.authors) == ("Journal of Kites", ("Ada B Lamb", "Ram"))
    assert (read.language, read.licence) == ("en", "CC BY 4.0")
    assert read.references == ("doi:10.1234/a", "pmid:77")
    left = dict(read.left_out)
    assert left["table"] == len("Table27") and left["footnote"] == len("Afoot-note.Anothernote.")


@pytest.mark.parametrize(
    ("abstract", "expected"),
    [
        ("<p>We flew.</p>", [((), "We flew.")]),
        ("We flew.", [((), "We flew.")]),
        ("<head>Summary</head><p>We flew.</p>", [((), "We flew.")]),
        ("<div><head>ABSTRACT</head><p>We flew.</p></div>", [((), "We flew.")]),
        ("<div><p>Aims: We flew. Results: They ran.</p></div>", [(("Aims",), "We flew."), (("Results",), "They ran.")]),
        (
            "<div><head>Aims</head><p>We flew.</p></div><div><head>Results</head><p>They ran.</p></div>",
            [(("Aims",), "We flew."), (("Results",), "They ran.")],
        ),
    ],
)
def test_abstracts(abstract: str, expected: list[tuple[tuple[str, ...], str]]) -> None:
    header = f"<profileDesc><abstract>{abstract}</abstract></profileDesc>"
    found = rows(tei("<p>Body.</p>", header=header))
    assert found == [*((("Abstract", *path), text) for path, text in expected), ((), "Body.")]


def test_the_abstract_in_the_language_of_the_text_is_chosen() -> None:
    header = (
        '<profileDesc><abstract xml:lang="fr"><p>Moutons.</p></abstract>'
        '<abstract xml:lang="en"><p>Sheep.</p></abstract></profileDesc>'
    )
    data = tei("<p>Body.</p>", header=header, attributes='xml:lang="en"')
    assert rows(data) == [(("Abstract",), "Sheep."), ((), "Body.")]


def test_an_abstract_alone_is_an_article_and_nothing_is_none() -> None:
    assert rows(tei("", header="<profileDesc><abstract><p>We flew.</p></abstract></profileDesc>"))
    [item] = read_tei_each(tei("<p>1</p>"), "a.tei")
    assert isinstance(item, Rejected) and item.reason == "no-prose"


def nested(*numbers: str) -> list[tuple[str, ...]]:
    """Paths of sections that are called by their own numbers."""
    body = "".join(f'<div><head n="{number}">s{number}</head><p>Text.</p></div>' for number in numbers)
    return [path for path, _ in rows(tei(body))]


def test_sections_are_nested_by_their_numbers() -> None:
    assert nested("1", "2", "2.1", "2.1.1", "2.2.", "3.1", "4") == [
        ("s1",),
        ("s2",),
        ("s2", "s2.1"),
        ("s2", "s2.1", "s2.1.1"),
        ("s2", "s2.2."),
        ("s3.1",),
        ("s4",),
    ]
    assert nested("I", "II", "A", "B", "III.", "C") == [
        ("sI",),
        ("sII",),
        ("sII", "sA"),
        ("sII", "sB"),
        ("sIII.",),
        ("sC",),
    ]
    assert nested("", "2.1", "") == [("s",), ("s2.1",), ("s",)]
    deep = nested(*(".".join(["1"] * depth) for depth in range(1, 200)))
    assert max(map(len, deep)) == 8


def test_nested_divisions_and_their_types_stay() -> None:
    body = '<div type="methods"><head>Sheep</head><p>One.</p><div><head>Ewes</head><p>Two.</p></div></div>'
    found = [(paragraph.path, label) for paragraph, label, _ in labelled_paragraphs(article(tei(body)))]
    assert found == [(("Sheep",), "method"), (("Sheep", "Ewes"), "method")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # formulas between paragraphs
        ("<p>So</p><formula>a</formula><p>where a is one.</p>", ["So @formula where a is one."]),
        ("<p>So</p><formula>a</formula><p>We ran.</p>", ["So @formula", "We ran."]),
        ("<p>So</p><formula>a</formula><formula>b</formula><p>hold.</p>", ["So @formula @formula hold."]),
        ("<formula>a</formula><p>We ran.</p>", ["We ran."]),
        ("<p>If <formula>a</formula>, run.</p>", ["If @formula, run."]),
        # links
        ('<p>Seen (<ref type="bibr">Lamb, 2010</ref>; <ref type="bibr">Ewe, 2011</ref>).</p>', ["Seen @cite."]),
        ('<p>Seen [<ref type="bibr">1</ref>, <ref type="bibr">2</ref>] twice.</p>', ["Seen @cite twice."]),
        ('<p>They ran.<ref type="bibr">1</ref> We too.</p>', ["They ran @cite. We too."]),
        ('<p>They ran. <ref type="bibr">1,2</ref> We too.</p>', ["They ran @cite. We too."]),
        ('<p>By Lamb et al. <ref type="bibr">1</ref> too.</p>', ["By Lamb et al. @cite too."]),
        ('<p>See Figs. <ref type="figure">1A</ref> and <ref type="figure">2</ref>.</p>', ["See @fig and @fig."]),
        ('<p>See Eq. <ref type="formula">(1)</ref>.</p>', ["See Eq. @formula."]),
        ('<p>A note<ref type="foot">3</ref> ran.</p>', ["A note ran."]),
        ('<p>See <ref target="http://a.b">http://a.b</ref>.</p>', ["See http://a.b."]),
        ('<p>Seen <ref target="#b12">[12]</ref>.</p>', ["Seen @cite."]),
        # inline elements
        ('<p>H<hi rend="subscript">2</hi>O, 10<hi rend="superscript">3</hi></p>', ["H2O, 10^3"]),
        ('<p>In <title level="m">Kites</title> by <name>Ada</name>.<lb/>Yes.</p>', ["In Kites by Ada. Yes."]),
        # blocks
        ("<list><item>One.</item><item><p>Two.</p><p>Three.</p></item></list>", ["One.", "Two.", "Three."]),
        ("<p>So: <list><item>One.</item></list> done.</p>", ["So:", "One.", "done."]),
        ("<quote>They ran.</quote><cit><quote>All ran.</quote></cit>", ["They ran.", "All ran."]),
        ("<p>So <figure><head>A</head><figDesc>Legend.</figDesc></figure>it is.</p>", ["So it is."]),
        ('<note place="foot"><p>A note.</p></note><p>Text.</p>', ["Text."]),
        ("<p>Text.</p><listBibl><bibl><p>Lamb.</p></bibl></listBibl>", ["Text."]),
    ],
)
def test_paragraphs(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


def test_a_corpus_gives_each_text() -> None:
    inner = tei("<p>One.</p>").decode() + tei("<p>2</p>").decode() + tei("<p>Three.</p>").decode()
    items = list(read_tei_each(f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">{inner}</teiCorpus>'.encode(), "c.xml"))
    assert [item.id if isinstance(item, Article) else item.reason for item in items] == ["c#1", "no-prose", "c#3"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"<TEI><text>", "malformed"),
        (b"<article/>", "not-tei"),
        (b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI>&x;</TEI>', "unsafe-entity"),
        (b"<TEI><text><body>" + b"<div>" * 300 + b"<p>x</p>" + b"</div>" * 300 + b"</body></text></TEI>", "too-deep"),
    ],
)
def test_what_is_no_tei_is_told(data: bytes, reason: str) -> None:
    [item] = read_tei_each(data, "a.xml")
    assert isinstance(item, Rejected) and item.reason == reason


def test_deep_nesting_is_read() -> None:
    deep = b"<TEI><text><body>" + b"<div>" * 240 + b"<p>Text.</p>" + b"</div>" * 240 + b"</body></text></TEI>"
    [item] = read_each(Document("a.xml", deep))
    assert isinstance(item, Article)
