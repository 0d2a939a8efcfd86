"""Articles from rows: where one ends and the next begins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sectioncls.corpora.forms import Form, LabelMap, read_articles
from sectioncls.errors import InputError
from sectioncls.schemes import load_scheme

RCT = LabelMap(load_scheme("pubmed-rct"))


def read(folder: Path, form: Form, *rows: dict[str, Any]) -> list[tuple[str, list[str]]]:
    path = folder / "sheep.jsonl"
    path.write_text("".join(f"{json.dumps({'text': 'A.', 'role': 'METHODS'} | row)}\n" for row in rows))
    articles = read_articles(path, form, RCT)
    return [(article.id, [sentence.text for sentence in article.sentences]) for article in articles]


def test_a_position_that_falls_back_begins_an_article(tmp_path: Path) -> None:
    form = Form(text="text", label="role", position="n")
    rows = [{"n": n, "text": f"{place}"} for place, n in enumerate(["1", 2, 5, 1, 1, 2.5])]
    assert read(tmp_path, form, *rows) == [
        ("sheep-00000", ["0", "1", "2"]),
        ("sheep-00001", ["3"]),
        ("sheep-00002", ["4", "5"]),
    ]
    with pytest.raises(InputError, match=r"sheep\.jsonl:2: has no number under 'n'"):
        read(tmp_path, form, {"n": 1}, {"n": "x"})


def test_id_and_position_together(tmp_path: Path) -> None:
    form = Form(text="text", label="role", article="id", position="n")
    rows = [{"id": "a", "n": 1}, {"id": "a", "n": 2}, {"id": "b", "n": 3}, {"id": "b", "n": 1}]
    assert [(name, len(texts)) for name, texts in read(tmp_path, form, *rows)] == [("a", 2), ("b", 1), ("b", 1)]


def test_rows_that_are_paragraphs(tmp_path: Path) -> None:
    form = Form(text="text", label="role", article="id", paragraphs=True)
    rows = [{"id": "a", "text": "Sheep graze. We count."}, {"id": "a", "text": "Nine."}]
    assert read(tmp_path, form, *rows) == [("a", ["Sheep graze.", "We count.", "Nine."])]
    (article,) = read_articles(tmp_path / "sheep.jsonl", form, RCT)
    assert [sentence.index for sentence in article.sentences] == [0, 1, 2]
    assert [paragraph.text for paragraph in article.paragraphs] == ["Sheep graze. We count.", "Nine."]


def test_labels_by_map_scheme_and_heading() -> None:
    labels = LabelMap(RCT.scheme, {"HOW": "method", "LEGAL": ""})
    assert [labels.label(word, "x") for word in ("HOW", "LEGAL", " Results ")] == ["method", "", "result"]
    assert labels.label("OUR METHODS AND MEANS", "x", headings=True) == "method"
    assert labels.label("POEM", "x", headings=True) == ""
    with pytest.raises(InputError, match="here: unknown label 'POEM'"):
        labels.label("POEM", "here")
    assert LabelMap(RCT.scheme, {"3": "result"}).label(3, "x") == "result"
