from __future__ import annotations

import random
import socket
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.documents import labelled_paragraphs, read_jats, read_jats_each
from sectioncls.errors import DocumentRejected
from sectioncls.records import Article, Paragraph, Rejected, Section

FRONT = "<front><article-meta><title-group><article-title>T</article-title></title-group></article-meta></front>"


def read(body: str, front: str = FRONT) -> Article:
    [article] = read_jats(f"<article>{front}<body>{body}</body></article>".encode(), "a/b.xml")
    return article


def texts(article: Article) -> list[str]:
    return [paragraph.text for paragraph, _, _ in labelled_paragraphs(article)]


def test_the_record_of_an_article() -> None:
    article = read('<p>Lead.</p><sec sec-type="methods"><title>How</title><p>So.</p><sec><p>And so.</p></sec></sec>')
    assert article.id == "b"
    assert article.source == "a/b.xml"
    assert article.title == "T"
    assert article.body == (
        Section(None, None, (Paragraph("Lead.", "p", (), 0),)),
        Section(
            "How",
            "methods",
            (Paragraph("So.", "p", ("How",), 1),),
            (Section(None, None, (Paragraph("And so.", "p", ("How",), 2),)),),
        ),
    )


def test_kinds_of_paragraphs() -> None:
    article = read(
        "<p>a<list><list-item><p>b</p></list-item></list><disp-quote><p>c</p></disp-quote>"
        "<statement><title>no</title><p>d</p></statement><speech><speaker>no</speaker><p>e</p></speech>"
        "<boxed-text><list><list-item><p>f</p></list-item></list></boxed-text></p>"
    )
    rows = [(paragraph.text, paragraph.kind) for paragraph, _, _ in labelled_paragraphs(article)]
    assert rows == [("a", "p"), ("b", "list"), ("c", "quote"), ("d", "p"), ("e", "quote"), ("f", "box")]


def test_the_rule_that_fired_is_told() -> None:
    article = read(
        "<p><bold>Aims.</bold> a</p><sec><title>Results</title><p>b</p><boxed-text><p>c</p></boxed-text></sec>"
        '<sec sec-type="x|methods"><p>d</p></sec><sec><title>Sheds</title><p>e</p></sec>'
    )
    rows = [(label, source) for _, label, source in labelled_paragraphs(article)]
    assert rows == [
        ("objective", "run-in:Aims"),
        ("result", "title:Results"),
        ("other", "boxed"),
        ("method", "sec-type:methods"),
        ("other", "none"),
    ]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("x<alternatives><graphic/><tex-math>y</tex-math></alternatives>z", "x @formula z"),
        ("x<alternatives><graphic/><textual-form>y</textual-form></alternatives>z", "xyz"),
        ("x<inline-graphic/>z", "x z"),
        ("x<break/>z<fn><p>no</p></fn>.", "x z."),
        ("x <xref ref-type='bibr'>(Wax, 2001</xref>, 2002)", "x (@cite, 2002)"),
        ("x<sup><xref ref-type='fn'>a</xref>,<xref ref-type='fn'>b</xref></sup>", "x"),
        ("x<xref ref-type='bibr'><sup>1</sup></xref>.<xref ref-type='bibr'><sup>2</sup></xref> y", "x @cite @cite. y"),
        ("<xref ref-type='sec'>Section 2</xref> and <xref>part 3</xref>", "Section 2 and part 3"),
        ("a<sup>2</sup> <italic>b</italic><sup>3</sup> c<sub>i</sub><sup>4</sup>", "a^2 b^3 ci^4"),
        ("x<p>y</p>z", "x|y|z"),
        ("<italic>x<list><list-item><p>y</p></list-item></list>z</italic>", "x|y|z"),
        ("x<sup>1<list><list-item><p>y</p></list-item></list>2</sup>z", "x1|y|2z"),
        ("x<def-list><def-item><term>no</term><def><p>no</p></def></def-item></def-list>z", "x z"),
    ],
)
def test_inline_elements(inside: str, text: str) -> None:
    assert "|".join(texts(read(f"<p>{inside}</p>"))) == text


def test_what_is_left_out_is_counted() -> None:
    article = read("<p>a</p><fig><caption><p>12345</p></caption></fig><p>b<fn><p>123</p></fn></p>")
    assert article.left_out == (("figure", 5), ("footnote", 3))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("<article/>", "no-body"),
        ("<article><body><sec><title>x</title></sec></body></article>", "no-prose"),
        ("<book><body><p>x</p></body></book>", "not-jats"),
        ("<html><body><article><body><p>x</p></body></article></body></html>", "not-jats"),
    ],
)
def test_rejections(data: str, reason: str) -> None:
    with pytest.raises(DocumentRejected) as caught:
        read_jats(data.encode(), "x.xml")
    assert caught.value.reason == reason
    [item] = read_jats_each(data.encode(), "x.xml")
    assert isinstance(item, Rejected)
    assert item.source == "x.xml"


def test_one_bad_article_of_several_is_told_and_the_rest_is_read() -> None:
    data = b"<articles><article><body><p>x</p></body></article><article/></articles>"
    kept, refused = read_jats_each(data, "set.xml")
    assert isinstance(kept, Article)
    assert kept.id == "set#1"
    assert refused == Rejected("set.xml", "no-body", "the article has no body", "set#2")
    assert read_jats(data, "set.xml") == [kept]


def test_sub_articles_are_articles_of_their_own_when_asked_for() -> None:
    data = (
        b'<article xml:lang="en"><front><journal-meta><journal-title>Wax</journal-title></journal-meta><article-meta>'
        b'<article-id pub-id-type="pmc">7</article-id><title-group><article-title>T</article-title></title-group>'
        b"<pub-date><year>2020</year></pub-date></article-meta></front><body><p>a</p></body>"
        b"<sub-article><front-stub><title-group><article-title>Letter</article-title></title-group>"
        b'<article-id pub-id-type="doi">10.9999/x</article-id></front-stub><body><p>b</p></body>'
        b"<response><front-stub><pub-date><year>2021</year></pub-date></front-stub><body><p>c</p></body></response>"
        b'</sub-article><sub-article xml:lang="PT"><front-stub/></sub-article></article>'
    )
    alone = list(read_jats_each(data, "x.xml"))
    main, letter, reply, empty = read_jats_each(data, "x.xml", sub_articles=True)
    assert alone == [main]
    assert isinstance(letter, Article)
    assert isinstance(reply, Article)
    assert (letter.id, letter.title, texts(letter), letter.year) == ("PMC7#s1", "Letter", ["b"], 2020)
    assert (letter.journal, letter.language) == ("Wax", "en")
    assert (reply.id, reply.title, texts(reply), reply.year) == ("PMC7#s2", "", ["c"], 2021)
    assert empty == Rejected("x.xml", "no-body", "the article has no body", "PMC7#s3")


def test_sub_articles_of_an_article_that_is_left_out_are_read() -> None:
    data = b"<article><sub-article><body><p>b</p></body></sub-article></article>"
    refused, letter = read_jats_each(data, "x.xml", sub_articles=True)
    assert isinstance(refused, Rejected)
    assert isinstance(letter, Article)
    assert letter.id == "x#s1"


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ('<ref id="k"/>', "see @cite now"),
        ('<fig id="k"/>', "see @fig now"),
        ('<table-wrap id="k"/>', "see @table now"),
        ('<disp-formula id="k"/>', "see @formula now"),
        ('<fn id="k"/>', "see now"),
        ('<sec id="k"/>', "see [12] now"),
        ("", "see [12] now"),
    ],
)
def test_a_link_that_does_not_say_its_type_is_what_it_leads_to(target: str, text: str) -> None:
    inside = (
        "[<xref rid='k l'>12</xref>]" if "ref" in target or "[" in text else "<xref ref-type='other' rid='k'>12</xref>"
    )
    data = f"<article><body><p>see {inside} now</p></body><back><ref-list>{target}</ref-list></back></article>"
    assert texts(read_jats(data.encode(), "x")[0]) == [text]


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    data = b'<!DOCTYPE article SYSTEM "http://example.invalid/a.dtd"><article><body><p>&deg;x</p></body></article>'
    assert texts(read_jats(data, "x")[0]) == ["°x"]


BLOCKS = ["sec", "list", "disp-quote", "statement", "boxed-text", "p"]


def _tree(chance: random.Random, depth: int, words: list[str]) -> str:
    """A random block that holds each new word once, in order, in a paragraph."""
    name = chance.choice(BLOCKS) if depth < 6 else "p"
    if name == "p":
        parts = []
        for place in range(chance.randint(1, 3)):
            words.append(f"w{len(words)}x")
            # A paragraph of emphasised text alone would be a heading.
            tag = "" if place == 0 else chance.choice(["", "italic", "bold", "sup", "ext-link", "named-content"])
            parts.append(f"<{tag}>{words[-1]}</{tag}>" if tag else words[-1])
            if chance.random() < 0.3:
                parts.append(chance.choice(["<fig><p>no</p></fig>", "<disp-formula>no</disp-formula>", "<fn>no</fn>"]))
            if depth < 6 and chance.random() < 0.2:
                inner = [_tree(chance, depth + 2, words) for _ in range(2)]
                parts.append(f"<disp-quote>{''.join(inner)}</disp-quote>")
        return f"<p>{' '.join(parts)}</p>"
    inner = [_tree(chance, depth + 1, words) for _ in range(chance.randint(1, 3))]
    body = "".join(f"<list-item>{part}</list-item>" for part in inner) if name == "list" else "".join(inner)
    return f"<{name}><title>no</title>{body}<table-wrap>no</table-wrap></{name}>"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_every_word_of_prose_comes_once_and_in_order(seed: int) -> None:
    chance, words = random.Random(seed), list[str]()
    body = "".join(_tree(chance, 0, words) for _ in range(3))
    article = read(body)
    found = " ".join(texts(article)).replace("@formula", " ").split()
    assert [word for word in found if word != "no"] == words
    assert "no" not in found
    nodes = [paragraph.node for paragraph, _, _ in labelled_paragraphs(article)]
    assert nodes == list(range(len(nodes)))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_make_it_crash(data: bytes) -> None:
    assert list(read_jats_each(data, "x"))
    assert list(read_jats_each(b"<article><body><p>x" + data + b"</p></body></article>", "x"))


@pytest.mark.parametrize(
    "document",
    [
        "<article><body><p>a</p><p>" + "<bold> </bold>" * 60_000 + "</p></body></article>",
        "<article><body><p>" + "<bold>Methods</bold> a " * 60_000 + "</p></body></article>",
        "<article><body><p>a<sup>" + "<xref ref-type='bibr'/>" * 60_000 + "z</sup></p></body></article>",
        "<article><body><p>a</p></body>" + "<back><ref/></back>" * 60_000 + "</article>",
        "<article><front><article-meta>" + "<contrib-group><contrib><name><surname>a</surname></name></contrib>"
        "</contrib-group>" * 60_000 + "</article-meta></front><body><p>a</p></body></article>",
        "<set>" + "<article><!-- a --></article>" * 60_000 + "</set>",
        "<!---->" * 500 + "<article><body><p>a</p></body></article>",
        "<article><front><article-meta><permissions><license>Creative Commons Attribution" + "," * 1_000_000 +
        "</license></permissions></article-meta></front><body><p>a</p></body></article>",
    ],
    ids=["blank bold", "bold", "raised links", "backs", "authors", "stubs", "comments", "licence"],
)  # fmt: skip
def test_repeated_elements_take_linear_time(document: str) -> None:
    began = time.process_time()
    assert list(read_jats_each(document.encode(), "x"))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "tags",
    ["sec", "p", "italic", "sup", "list", "boxed-text", "xref", "alternatives", "p list", "p boxed-text", "p sec",
     "sup p", "bold sup", "p disp-quote italic", "alternatives x", "caption boxed-text"],
)  # fmt: skip
def test_deep_nesting_is_no_trouble(tags: str) -> None:
    names = (tags.split() * 250)[:250]
    inside = "".join(f"<{name}>" for name in names) + "<p>x</p>" + "".join(f"</{name}>" for name in reversed(names))
    [item] = read_jats_each(f"<article><body><p>y</p>{inside}</body></article>".encode(), "x")
    assert isinstance(item, Article)
