from __future__ import annotations

from pathlib import Path

import pytest

from sectioncls.documents import labelled_paragraphs
from sectioncls.documents.markdown import read_markdown_each
from sectioncls.records import Article, Rejected

DATA = Path(__file__).resolve().parents[2] / "data" / "documents"


def article(text: str) -> Article:
    [item] = read_markdown_each(text.encode(), "notes/kites.md")
    assert isinstance(item, Article), item
    return item


def rows(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(paragraph.path, paragraph.text) for paragraph, _, _ in labelled_paragraphs(article(text))]


def texts(text: str) -> list[str]:
    return [found for _, found in rows(text)]


def test_a_whole_file() -> None:
    text = (DATA / "trial.md").read_text(encoding="utf-8")
    read = article(text)
    assert rows(text) == [
        (("Abstract", "Background"), "Sheep fear kites."),
        (("Abstract", "Methods"), "We flew @formula kites."),
        (
            ("Methods", "Sheep"),
            "Sheep @cite ate CO2 and 10^3 grass[0] at $5 and $6, see @fig (mail a@b.c). "
            "A link and bold x^2. It goes @formula on.",
        ),
        (("Methods", "Sheep"), "item one"),
        (("Methods", "Sheep"), "item two"),
        (("Methods", "Sheep"), "nested"),
        (("Methods", "Sheep"), "A quote here."),
        (("Methods", "Results"), "All ran."),
    ]
    found = list(labelled_paragraphs(read))
    assert [paragraph.kind for paragraph, _, _ in found] == ["p", "p", "p", "list", "list", "list", "quote", "p"]
    assert [paragraph.node for paragraph, _, _ in found] == list(range(8))
    assert (read.id, read.title, read.year) == ("kites", "Kites: a trial", 2020)
    assert (read.authors, read.language, read.licence) == (("Ada Lamb", "Bo Ram"), "en", "CC BY 4.0")
    assert read.references == ("doi:10.1234/abc",)
    assert {"code", "table", "figure", "footnote"} <= dict(read.left_out).keys()


@pytest.mark.parametrize(
    ("text", "title", "paths"),
    [
        ("# Kites\n\n## Methods\n\nWe ran.\n\n## Results\n\nAll.", "Kites", [("Methods",), ("Results",)]),
        ("Kites\n=====\n\nWe ran.\n\nMethods\n-------\n\nAll.", "Kites", [(), ("Methods",)]),
        ("# Methods\n\nWe ran.\n\n# Results\n\nAll.", "", [("Methods",), ("Results",)]),
        ("# Methods\n\nWe ran.", "", [("Methods",)]),
        ("# On kites\n\nWe ran.", "On kites", [()]),
        ("---\ntitle: On kites\n---\n\n# On kites\n\nWe ran.\n\n# Methods\n\nAll.", "On kites", [(), ("Methods",)]),
        ("We ran.\n\n# Methods\n\nAll.", "", [(), ("Methods",)]),
        ("# A *fine* $x$ kite\n\n## Methods {#m}\n\nWe ran.", "A fine @formula kite", [("Methods",)]),
        ("# Kites\n\n### Deep\n\nOne.\n\n## Up\n\nTwo.", "Kites", [("Deep",), ("Up",)]),
        ("**Methods**\n\nWe ran.\n\n**Results**\n\nAll.", "", [("Methods",), ("Results",)]),
        ("# Abstract\n\nWe ran.\n\n# Methods\n\nAll.", "", [("Abstract",), ("Methods",)]),
        (
            "# Kites\n\n## Abstract\n\n### Aims\n\nTo run.\n\n## Methods\n\nAll.",
            "Kites",
            [("Abstract", "Aims"), ("Methods",)],
        ),
        ("---\ntitle: K\nabstract: |\n  We\n  ran.\n---\n\nAll.", "K", [("Abstract",), ()]),
    ],
)
def test_headings_and_titles(text: str, title: str, paths: list[tuple[str, ...]]) -> None:
    read = article(text)
    assert read.title == title
    assert [paragraph.path for paragraph, _, _ in labelled_paragraphs(read)] == paths


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It *was* **very** _fine_ and snake_case_word.", "It was very fine and snake_case_word."),
        ("A [link](http://a.b), <http://c.d> and [ref][r].\n\n[r]: http://e.f", "A link, http://c.d and ref."),
        ("An ![alt](a.png) image.", "An image."),
        ("Code `x = [1]` and `a@b` stay.", "Code x = [1] and a@b stay."),
        (r"If $a < b$ and \(c\), then $$d$$ holds.", "If @formula and @formula, then @formula holds."),
        ("It cost $5 and then $6 more.", "It cost $5 and then $6 more."),
        ("Seen [@lamb2010].", "Seen @cite."),
        ("Seen [see @lamb2010, pp. 3-5; also @ewe].", "Seen @cite."),
        ("As @lamb_2010 says, and [-@ewe] too.", "As @cite says, and @cite too."),
        ("Over\n[@lamb;\n@ewe] lines.", "Over @cite lines."),
        ("See @fig:one, [@tbl:two] and @eq-three.", "See @fig, @table and @formula."),
        ("Write to ada@kites.org [now].", "Write to ada@kites.org [now]."),
        ("A note[^1] and another^[inline].\n\n[^1]: Words.", "A note and another^[inline]."),
        ("H~2~O, 10^3^ and x<sup>2</sup>, CO<sub>2</sub><br>end<!-- no -->.", "H2O, 10^3 and x^2, CO2 end."),
        ("Wrapped\nlines  \njoin \\\nhere.", "Wrapped lines join here."),
        (r"Escaped \*stars\* &amp; &eacute;.", "Escaped *stars* & é."),
        ("Control \x01\x06marks\x07 vanish.", "Control marks vanish."),
    ],
)
def test_inline(text: str, expected: str) -> None:
    assert texts(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One.\n\n```\nx = 1\n```\n\n    indented\n\nTwo.", ["One.", "Two."]),
        ("One.\n\n| a | b |\n|--|--|\n| c | d |\n\nTable 1: Words.\n\nTwo.", ["One.", "Two."]),
        ("One.\n\n![A kite](a.png)\n\n**Figure 2.** A kite.\n\nTwo.", ["One.", "Two."]),
        ("Figure 2 shows a kite.", ["Figure 2 shows a kite."]),
        ("One.\n\n<div>\nhtml\n</div>\n\nTwo.", ["One.", "Two."]),
        ("One.\n\n$$\nE\n=\nmc^2\n$$\n\nTwo.", ["One.", "Two."]),
        ("One.\n\n\\[\na\n=\nb\n\\]\n\nTwo.", ["One.", "Two."]),
        ("- One.\n- Two.\n\n  Three.\n  1. Four.", ["One.", "Two.", "Three.", "Four."]),
        ("> One.\n>\n> > Two.", ["One.", "Two."]),
        ("One.\n\n# References\n\n1. Lamb. 2010.\n\n## Web\n\nEwe.\n\n# Appendix\n\nTwo.", ["One.", "Two."]),
    ],
)
def test_blocks(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_the_front_block() -> None:
    front = (
        "---\ntitle: Kites\nauthor:\n  - name: Ada Lamb\n  - given: Bo\n    family: Ram\n"
        "doi: 10.1234/KITE\ndate: May 2019\njournal:\n  title: Kite Letters\nlang: de-AT\n"
        "license: https://creativecommons.org/publicdomain/zero/1.0/\n---\n\nText."
    )
    read = article(front)
    assert (read.id, read.year, read.journal) == ("10.1234/kite", 2019, "Kite Letters")
    assert (read.authors, read.language, read.licence) == (("Ada Lamb", "Bo Ram"), "de-at", "CC0 1.0")


@pytest.mark.parametrize(
    "front", ["[", "a: [", "- a", "? ? ?", "&a [*a]", "a: &b [*b]", "title: [x]", "[" * 5000, "\t"]
)
def test_a_front_block_that_is_no_yaml_is_passed_by(front: str) -> None:
    assert texts(f"---\n{front}\n---\n\nText.") == ["Text."]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        ("\ufeff".encode(), "empty"),
        (b"caf\xe9", "malformed"),
        ("Kite".encode("utf-16"), "not-text"),
        (b"a\0b", "not-text"),
        (b"# Only\n\n1\n", "no-prose"),
        (b"a" * (8 << 20) + b"a", "too-large"),
    ],
)
def test_what_is_no_markdown_is_told(data: bytes, reason: str) -> None:
    [item] = read_markdown_each(data, "a.md")
    assert isinstance(item, Rejected) and item.reason == reason


def test_a_byte_order_mark_and_line_ends_are_no_text() -> None:
    [item] = read_markdown_each("\ufeff# Methods\r\n\r\nWe\r\nran.\r\n".encode(), "a.md")
    assert isinstance(item, Article)
    assert item.body[0].paragraphs[0].text == "We ran."
