from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.documents import read_jats
from sectioncls.documents.account import Account, characters, characters_of, kept_characters
from sectioncls.documents.xml import parse
from sectioncls.records import Article


def whole(article: str) -> tuple[Article, int]:
    """Give the article and the count of its text by plain lxml."""
    data = article.encode()
    [read] = read_jats(data, "x.xml")
    return read, len(re.sub("[ \t\r\n]", "", "".join(parse(data).itertext())))


def accounts_for_all(article: str) -> Article:
    read, total = whole(article)
    assert kept_characters(read) + sum(number for _, number in read.left_out) == total
    assert all(number > 0 for _, number in read.left_out)
    return read


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from(" \t\r\n")))
def test_characters_are_those_that_are_no_white_space_of_xml(text: str) -> None:
    assert characters(text) == sum(character not in " \t\r\n" for character in text)
    letters = "".join(f"<b>&#{ord(character)};</b>" for character in text if character.isalnum())
    element = parse(f"<a>{letters}</a>".encode())
    assert characters_of(element) == sum(character.isalnum() for character in text)


@pytest.mark.parametrize(
    ("inside", "expected", "added"),
    [
        ("bees fly", {}, 0),
        ("bees <xref ref-type='bibr'>1</xref>, <xref ref-type='bibr'>23</xref>.", {"citation": 4}, 5),
        ("bees [<xref ref-type='bibr'>1</xref>].", {"citation": 3}, 5),
        ("bees.<sup>[<xref ref-type='bibr'>1</xref>, <xref ref-type='bibr'>2</xref>]</sup>", {"citation": 5}, 5),
        ("see <xref ref-type='bibr'>(Wax, 2001</xref>, 2002)", {"citation": 8}, 5),
        ("see Fig. <xref ref-type='fig'>1</xref>A,B", {"mention": 8}, 4),
        ("see Tables <xref ref-type='table'>1</xref>, <xref ref-type='table'>2</xref>", {"mention": 9}, 6),
        ("10<sup>3</sup> bees", {}, 1),
        ("if <inline-formula><math><mi>xyz</mi></math></inline-formula>", {"formula": 3}, 8),
        ("bees<xref ref-type='fn'>*</xref>", {"footnote": 1}, 0),
        ("bees<sup><xref ref-type='fn'>a</xref>,<xref ref-type='fn'>b</xref></sup>", {"footnote": 3}, 0),
        ("bees<fn><p>note</p></fn>", {"footnote": 4}, 0),
        ("bees<fig><label>1</label><caption><p>two</p></caption></fig>", {"figure": 4}, 0),
        ("bees<table-wrap><table><tr><td>12</td></tr></table></table-wrap>", {"table": 2}, 0),
        ("a\u00a0b\u200bc\u00ad", {"spacing": 3}, 0),
        ("cafe\u0301", {"spacing": 1}, 0),
        ("b\u0344", {}, 1),  # one character that is written as two
        ("bees<list><title>ab</title><list-item><label>1.</label><p>c</p></list-item></list>",
         {"heading": 2, "label": 2}, 0),
        ("bees<disp-quote>ab<p>c</p><attrib>de</attrib>f</disp-quote>", {"label": 2, "stray": 3}, 0),
        ("bees<alternatives><textual-form>a</textual-form><graphic>bc</graphic></alternatives>", {"other": 2}, 0),
    ],
)  # fmt: skip
def test_reasons(inside: str, expected: dict[str, int], added: int) -> None:
    article = accounts_for_all(f"<article><body><p>{inside}</p></body></article>")
    assert dict(article.left_out) == expected
    assert article.added == added


def test_a_paragraph_without_a_word_counts_as_one_and_adds_nothing() -> None:
    article = accounts_for_all(
        "<article><body><p>a</p><p>10<sup>3</sup> <xref ref-type='bibr'>7</xref> (Fig. <xref ref-type='fig'>1</xref>)"
        "</p></body></article>"
    )
    assert dict(article.left_out) == {"citation": 1, "mention": 5, "wordless": 5}
    assert article.added == 0


def test_the_parts_of_an_article() -> None:
    article = accounts_for_all(
        "<article>ab<front><journal-meta><journal-title>abc</journal-title></journal-meta><article-meta>"
        "<title-group><article-title>Wax<fn><p>no</p></fn></article-title><subtitle>x</subtitle></title-group>"
        "<abstract><title>Abs</title><p>Aim: a.</p></abstract><abstract abstract-type='teaser'><p>tea</p></abstract>"
        "</article-meta></front><body><sec><title>In</title><p>b</p><p><bold>Sub</bold></p><p>c</p></sec></body>"
        "<back><ref-list><ref>12345</ref></ref-list><ack><p>ta</p></ack></back>"
        "<sub-article><body><p>s</p></body></sub-article></article>"
    )
    assert article.title == "Wax: x"
    assert article.added == 1
    assert dict(article.left_out) == {
        "stray": 2,
        "front": 3,
        "footnote": 2,
        "heading": 3 + 4 + 2 + 3,  # Abs, Aim:, In, Sub
        "other-abstract": 3,
        "references": 5,
        "back": 2,
        "sub-article": 1,
    }


TAGS = [
    "italic", "bold", "sup", "sub", "p", "list", "list-item", "title", "label", "fig", "fn", "sec", "boxed-text",
    "caption", "disp-quote", "alternatives", "inline-formula", "named-content", "break", "attrib", "sub-article",
]  # fmt: skip
PIECES = st.recursive(
    st.lists(st.sampled_from([*"aB1 .,;:()[]–\n\u00a0\u200be\u0301", "Fig. ", "Aim: ", "and "]), max_size=8).map(
        "".join
    ),
    lambda inner: (
        st.builds(
            "<{0}>{1}</{0}>".format,
            st.sampled_from(TAGS),
            st.lists(inner, max_size=4).map("".join),
        )
        | st.builds(
            "<xref ref-type='{0}'>{1}</xref>".format,
            st.sampled_from(["bibr", "fig", "table", "fn", "sec", "other", "disp-formula"]),
            st.lists(inner, max_size=3).map("".join),
        )
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join), st.lists(PIECES, max_size=3).map("".join))
def test_the_account_adds_up_whatever_stands_in_what(body: str, title: str) -> None:
    accounts_for_all(
        f"<article><front><article-meta><title-group><article-title>{title}</article-title></title-group>"
        f"<abstract>{body}</abstract></article-meta></front><body>{body}<p>x</p>{title}</body></article>"
    )


def test_a_text_that_nobody_wrote_is_left_out() -> None:
    article = accounts_for_all(f"<article><body><p>{'ab ' * 400_000}</p><p>c</p></body></article>")
    assert dict(article.left_out) == {"oversized": 800_000}


def test_reasons_are_sorted_and_nothing_stands_for_nothing() -> None:
    account = Account()
    account.count("table", 3)
    account.count("figure", 0)
    account.count("code", 2)
    account.count("code", -2)
    account.citations += ["[1]", " "]
    account.wordless.append(" ")
    assert account.left_out() == (("citation", 3), ("table", 3))
