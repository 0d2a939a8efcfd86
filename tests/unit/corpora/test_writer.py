"""A whole article at once gives the bytes that its sentences give one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from sectioncls.corpora import create_corpus, writer
from sectioncls.errors import InputError
from sectioncls.records import Sentence
from sectioncls.schemes import load_scheme

SCHEME = load_scheme("pmc-sents")


def articles(number: int) -> list[tuple[str, str, list[list[object]]]]:
    """Give (id, split, cut paragraphs) of articles with quotes, signs and empty paragraphs among them."""
    draw = random.Random(2)
    found = []
    for n in range(number):
        paragraphs: list[list[object]] = []
        for node in range(draw.randrange(1, 6)):
            words = draw.choices(['"sheep"', "graze\\", "überall,", "数 10.5", "a\tb", "🐑."], k=draw.randrange(2, 30))
            text = " ".join(words)
            cut = draw.randrange(1, len(text)) if len(text) > 1 else 1
            cuts = [] if draw.random() < 0.2 else [[0, cut], [cut, len(text)]][: 1 + (cut < len(text))]
            paragraphs.append([node, "p", ["Methods", "2.1"], text, draw.choice(SCHEME.labels), "title:Methods", cuts])
        found.append((f"PMC{n}", draw.choice(["train", "dev", "test"]), paragraphs))
    return found


def test_article_at_once_or_by_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.corpora.rowgroups.ROWS_A_GROUP", 100)  # articles across the borders of groups
    for way in ("once", "single"):
        with create_corpus(tmp_path / way, name="c", scheme=SCHEME, command="x", grouped=True) as corpus:
            for name, split, paragraphs in articles(120):
                if way == "once":
                    corpus.add_article(split, name, paragraphs, language="en", licence="CC0")
                    continue
                cuts = [(part, start, end) for part in paragraphs for start, end in part[6]]
                sentences = [
                    Sentence(name, index, part[0], part[3][start:end], start, end, tuple(part[2]), part[4],
                             label_source=part[5])
                    for index, (part, start, end) in enumerate(cuts)
                ]  # fmt: skip
                if sentences:
                    corpus.add(split, sentences, language="en", licence="CC0")
    once, single = tmp_path / "once", tmp_path / "single"
    names = sorted(path.name for path in single.iterdir())
    assert sorted(path.name for path in once.iterdir()) == names
    for name in names:
        assert (once / name).read_bytes() == (single / name).read_bytes(), name
    assert json.loads((once / "corpus.json").read_text())["sentences"] > 400


def test_lines_of_the_fingerprint_are_json() -> None:
    for _, split, paragraphs in articles(20):
        for part in paragraphs:
            row = [split, 'PMC"1"', 3, part[3], part[4]]
            assert writer._line(*row) == json.dumps(row, ensure_ascii=False) + "\n"  # type: ignore[arg-type]


def test_wrong_labels_are_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"PMC1: label 'poem' is not in pmc-sents"),
        create_corpus(tmp_path / "c", name="c", scheme=SCHEME, command="x") as corpus,
    ):
        corpus.add_article("train", "PMC1", [[0, "p", [], "Text.", "poem", "none", [[0, 5]]]])
