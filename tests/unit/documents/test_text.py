from __future__ import annotations

from pathlib import Path

import pytest

from sectioncls.documents import labelled_paragraphs
from sectioncls.documents.text import read_text_each
from sectioncls.records import Article, Rejected

DATA = Path(__file__).resolve().parents[2] / "data" / "documents"


def article(text: str) -> Article:
    [item] = read_text_each(text.encode(), "notes/kites.txt")
    assert isinstance(item, Article), item
    return item


def rows(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(paragraph.path, paragraph.text) for paragraph, _, _ in labelled_paragraphs(article(text))]


def texts(text: str) -> list[str]:
    return [found for _, found in rows(text)]


def test_a_whole_file() -> None:
    text = (DATA / "trial.txt").read_text(encoding="utf-8")
    read = article(text)
    assert read.title == "Kites and the fear of sheep"
    assert rows(text) == [
        (
            ("Abstract",),
            "Sheep fear kites. We flew kites over experimental hills that were well-known. "
            "Well-known hills are well-known.",
        ),
        (("1 Introduction",), "Sheep graze on hills and run from kites."),
        (("2 Methods", "2.1 The sheep"), "We counted:"),
        (("2 Methods", "2.1 The sheep"), "ewes in the north,"),
        (("2 Methods", "2.1 The sheep"), "rams in the south."),
        (("3 Results",), "All ran [1]."),
    ]
    assert [label for _, label, _ in labelled_paragraphs(read)][1:] == ["background", *["method"] * 3, "result"]
    assert read.references == ("doi:10.1234/abc",)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("We ran. They ran.\n\nAll ran.", [(), ()]),
        ("Methods\n\nWe ran.\n\nResults\n\nAll ran.", [("Methods",), ("Results",)]),
        ("METHODS\nWe ran.\n\nRESULTS\nAll ran.", [("METHODS",), ("RESULTS",)]),
        ("Materials and methods:\nWe ran.", [("Materials and methods",)]),
        ("Methods\n\nSheep and hills\n\nWe ran.", [("Methods", "Sheep and hills")]),
        ("2. Methods\n\nWe ran.\n\n2.1. Sheep\n\nThey ran.", [("2. Methods",), ("2. Methods", "2.1. Sheep")]),
        ("II. METHODS\nWe ran.", [("II. METHODS",)]),
        # no headings: a stop, a small letter, too long, a wrapped line
        ("We ran there.\n\nand so on\n\nThey ran.", [(), (), ()]),
        ("We ran and ran and ran and ran and ran and ran and ran and ran and ran\nand stopped.", [()]),
        ("The results of the\ntrial were fine.", [()]),
        ("Methods were fine and we\nran.", [()]),
    ],
)
def test_headings(text: str, paths: list[tuple[str, ...]]) -> None:
    assert [path for path, _ in rows(text)] == paths


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("On kites\nand sheep\n\nWe ran.", "On kites and sheep"),
        ("We ran.\n\nThey ran.", ""),
        ("Methods\n\nWe ran.", ""),
        ("1 Methods\n\nWe ran.", ""),
        ("ON KITES\n\nWe ran.", "ON KITES"),
        ("on kites\n\nWe ran.", ""),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert article(text).title == title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("An exper-\nimental kite.", "An experimental kite."),
        ("A well-known kite, a well-\nknown one.", "A well-known kite, a well-known one."),
        ("The SARS-\nCoV kite of 10-\n20 m.", "The SARS-CoV kite of 10-20 m."),
        ("A kite -\nand more.", "A kite - and more."),
    ],
)
def test_hyphens_at_line_ends(text: str, expected: str) -> None:
    assert texts(text) == [expected]


def test_lists_and_indented_paragraphs() -> None:
    assert texts("We saw:\n- a kite that\n  flew,\n- a ram.") == ["We saw:", "a kite that flew,", "a ram."]
    assert texts("We ran\nfar.\n   They ran\ntoo.") == ["We ran far.", "They ran too."]
    assert texts("We saw 3 - 2\n- 1 rams.") == ["We saw 3 - 2 - 1 rams."]
    assert texts("One.\fTwo.\r\n\r\nThree.") == ["One. Two.", "Three."]


def test_what_is_no_text_is_told() -> None:
    for data, reason in ((b"", "empty"), (b"\x89PNG\0", "not-text"), (b"\xff", "malformed"), (b"12\n\n34", "no-prose")):
        [item] = read_text_each(data, "a.txt")
        assert isinstance(item, Rejected) and item.reason == reason
