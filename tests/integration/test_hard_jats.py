"""Whole documents against their expected reading: our own cases, and the hard cases of the shared corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sectioncls.cli.read import read
from sectioncls.documents import labelled_paragraphs, read_documents
from sectioncls.records import Article, Rejected

OWN = Path(__file__).resolve().parents[1] / "data" / "jats"
HARD = Path(__file__).resolve().parents[3] / "shared" / "data" / "jats" / "hard"


def reading(item: Article) -> dict[str, Any]:
    """An article in the form of an expectation."""
    return {
        "title": item.title,
        "paragraphs": [
            {"path": list(paragraph.path), "label": label, "text": paragraph.text}
            for paragraph, label, _ in labelled_paragraphs(item)
        ],
    }


def expected(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "title": article["title"],
            "paragraphs": [
                {key: paragraph[key] for key in ("path", "label", "text")} for paragraph in article["paragraphs"]
            ],
        }
        for article in case.get("articles", [case])
    ]


def check(file: Path) -> None:
    case = json.loads(file.with_suffix(".expect.json").read_text(encoding="utf-8"))
    items = list(read_documents([file]))
    if case["status"] == "reject":
        assert [item.reason for item in items if isinstance(item, Rejected)] == [case["reason"]]
        assert len(items) == 1
        return
    assert all(isinstance(item, Article) for item in items), items
    found = [reading(item) for item in items if isinstance(item, Article)]
    assert found == expected(case)
    texts = [text for one in found for text in (one["title"], *(row["text"] for row in one["paragraphs"]))]
    for string in case.get("forbid", []):
        assert not any(string in text for text in texts), string


@pytest.mark.parametrize("file", sorted(OWN.glob("*.xml")), ids=lambda file: file.stem)
def test_own_case(file: Path) -> None:
    check(file)


@pytest.mark.shared
@pytest.mark.parametrize("file", sorted(HARD.glob("*.xml")), ids=lambda file: file.stem)
def test_hard_case(file: Path, shared: Path) -> None:
    assert shared in file.parents
    check(file)


def test_the_verb_prints_one_json_line_for_each_article(capsys: pytest.CaptureFixture[str]) -> None:
    read([OWN / "wrapped.xml", OWN / "stub.xml"], json_lines=True, quiet=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["status"] for row in rows] == ["ok", "ok", "reject"]
    assert rows[0]["id"] == "wrapped#1"
    assert rows[1]["id"] == "PMC12"
    assert rows[0]["paragraphs"][0]["label_source"] == "sec-type:results"
    assert rows[2]["reason"] == "no-body"
    assert rows[2]["source"] == str(OWN / "stub.xml")


def test_the_verb_prints_an_outline(capsys: pytest.CaptureFixture[str]) -> None:
    read([OWN / "prose.xml", OWN / "cut.xml"], json_lines=False, quiet=False)
    printed = capsys.readouterr()
    assert "PMC0000001  Bees & Tilia: a first count" in printed.out
    assert "[method] It worked." in printed.out
    assert "rejected, malformed" in printed.out
    assert "articles read: 1, documents rejected: 1" in printed.err


@pytest.mark.shared
def test_real_articles_of_an_archive(shared: Path) -> None:
    items = list(read_documents([shared / "jats" / "pmc_xml_2.tar.xz"]))
    assert sorted(item.id for item in items if isinstance(item, Article)) == ["PMC6267847", "PMC6299956"]
    for item in items:
        assert isinstance(item, Article)
        rows = list(labelled_paragraphs(item))
        assert [paragraph.node for paragraph, _, _ in rows] == list(range(len(rows)))
        assert "method" in {label for _, label, _ in rows}
        assert item.title and item.year and item.authors and item.references and item.licence
