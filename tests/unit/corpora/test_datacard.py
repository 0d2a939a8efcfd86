"""The data card that every corpus carries."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import datasets
import yaml

from sectioncls.corpora import create_corpus, open_corpus
from sectioncls.records import Sentence
from sectioncls.schemes import load_scheme


def sentence(article: str, index: int, text: str, label: str) -> Sentence:
    return Sentence(article_id=article, index=index, paragraph=-1, text=text, start=0, end=len(text), label=label)


def corpus(folder: Path, name: str = "sheep | <b>\n: x") -> Path:
    with create_corpus(
        folder, name=name, scheme=load_scheme("pubmed-rct"), command="sectioncls x", licence="CC-BY-4.0"
    ) as writer:
        writer.add("train", [sentence("a", 0, "We count sheep.", "method")], language="en", licence="CC0")
        writer.add("test", [sentence("b", i, f"Nine {i}.", "result") for i in range(2)], language="de")
        writer.dropped("conflict", 1234)
        writer.note("a note\nof two lines")
    return folder


def test_header_and_tables(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "c")
    info = open_corpus(folder).info
    assert "README.md" in info.files
    _, header, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    said = yaml.safe_load(header)
    assert said["license"] == "cc-by-4.0"
    assert said["language"] == ["de", "en"]
    assert said["size_categories"] == ["n<1K"]
    assert said["configs"][0]["data_files"] == [
        {"split": "train", "path": "train.parquet"},
        {"split": "test", "path": "test.parquet"},
    ]
    lines = body.splitlines()
    for line in (
        "| sentences | 1 | 2 |",
        "| `method` | 1 | 0 |",
        "| `result` | 0 | 2 |",
        "| conflict | 1,234 |",
        "| CC0 | 1 |",
        "| de | 2 |",
        "- a note of two lines",
        "$ sectioncls x",
        f"| all | {info.fingerprint} |",
    ):
        assert line in lines, line
    assert "<b>" not in body
    row = json.dumps(["train", "a", 0, "We count sheep.", "method"]).encode() + b"\n"
    assert f"| train | {hashlib.sha256(row).hexdigest()} |" in lines


def test_the_same_bytes_again(tmp_path: Path) -> None:
    one, two = corpus(tmp_path / "c"), corpus(tmp_path / "d")
    assert (one / "README.md").read_bytes() == (two / "README.md").read_bytes()


def test_dataset_libraries_read_it(tmp_path: Path) -> None:
    found = datasets.load_dataset(str(corpus(tmp_path / "c", "sheep")), cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in found.items()} == {"train": 1, "test": 2}
