"""Which form a source has."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sectioncls.errors import UsageError
from sectioncls.papersets.forms import find_files, guess_form, kind_of, stem_of

PAPER = '{"id": "1", "title": "A"}\n'


@pytest.mark.parametrize(
    ("files", "form"),
    [
        ({"data.json": "{}", "metadata.json": "{}"}, "specter"),
        ({"corpus.jsonl": PAPER, "qrels/test.tsv": "q\t1\t1\n"}, "beir"),
        ({"papers.jsonl": PAPER, "x.xml": "<article/>"}, "edges"),
        ({"papers_1.jsonl": PAPER}, "edges"),
        ({"a.nxml": "<article/>", "index.tsv": "a\tb\n"}, "jats"),
        ({"inner/a.xml": "<article/>"}, "jats"),
        ({"a.tar.xz": ""}, "jats"),
        ({"a.zip": ""}, "jats"),
        ({"a.xml.gz": ""}, "jats"),
        ({"fos.jsonl": '{"corpus_id": 1, "title": "A", "labels_text": ["B"]}\n'}, "scirepeval"),
        ({"s.jsonl": '{"query": "q", "candidates": []}\n'}, "scirepeval"),
        ({"t.jsonl": '{"query": {}, "pos": {}, "neg": {}}\n'}, "scirepeval"),
        ({"sheep.jsonl": PAPER, "graph.tsv": "a\tb\n"}, "edges"),
    ],
)
def test_guesses(tmp_path: Path, files: dict[str, str], form: str) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert guess_form([tmp_path]) == form


def test_packed_names(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as handle:
        handle.write(PAPER)
    assert guess_form([tmp_path]) == "beir"
    assert guess_form([tmp_path / "corpus.jsonl.gz"]) == "beir"


def test_what_can_not_be_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n')
    (tmp_path / "b.jsonl").write_text("?")
    (tmp_path / "c.foo").write_text("?")
    with pytest.raises(UsageError, match=r"can't be guessed .*--form jats\|beir\|scirepeval\|specter\|edges"):
        guess_form([tmp_path])


def test_files(tmp_path: Path) -> None:
    for name in ("a.tsv", ".hidden.tsv", "in/b.tsv", "in/deep/c.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "a.tsv")
    assert [path.name for path in find_files([tmp_path, tmp_path / "a.tsv"])] == ["a.tsv", "b.tsv"]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.jsonl", PAPER, "papers"),
        ("a.jsonl", '{"src": "a", "dst": "b"}\n', "citations"),
        ("a.jsonl", "", ""),
        ("a.jsonl", "[1]\n", ""),
        ("a.tsv", "a\tb\n", "citations"),
        ("a.tsv", "src\tdst\tx\n", "citations"),
        ("a.tsv", "a\tb\tc\n", ""),
        ("a.csv", "a,b\n", "citations"),
        ("a.md", "a b", ""),
    ],
)
def test_kinds(tmp_path: Path, name: str, text: str, kind: str) -> None:
    (tmp_path / name).write_text(text)
    assert kind_of(tmp_path / name) == kind


def test_stems(tmp_path: Path) -> None:
    (tmp_path / "flock.v2").mkdir()
    assert stem_of(tmp_path / "flock.v2") == "flock.v2"
    assert stem_of(tmp_path / "papers.jsonl.gz") == "papers"
