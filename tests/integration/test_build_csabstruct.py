"""CSAbstruct from both published forms, and what goes wrong with bad files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from sectioncls.cli import app
from sectioncls.corpora import Corpus, build_csabstruct, open_corpus
from sectioncls.errors import InputError, OutputError

LABELS = ("background", "objective", "method", "result", "other")
GOOD = {
    "abstract_id": 0,
    "sentences": ["Sheep graze.", "We count sheep.", "All rights reserved."],
    "labels": ["background", "method", "other"],
    "confs": [1.0, 0.6, 0.4],
}
CONFLICT = GOOD | {"labels": ["background", "method", "result"]}


def official(folder: Path, **splits: list[Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split, records in splits.items():
        lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
        (folder / f"{split}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def paper(folder: Path, src: Path) -> Path:
    """Write the paper's form of official files by a naive rule."""
    folder.mkdir()
    for file in src.glob("*.jsonl"):
        rows = [
            (text, label)
            for record in map(json.loads, file.read_text().splitlines())
            for text, label in zip(record["sentences"], record["labels"], strict=True)
        ]
        labels = defaultdict(set)
        for text, label in rows:
            labels[text].add(label)
        frame = pd.DataFrame(
            [
                {"id": n, "sentence": text, "subject_label": label, "label_id": LABELS.index(label)}
                for n, (text, label) in enumerate(rows)
                if len(labels[text]) == 1
            ]
        )
        frame.to_parquet(folder / f"csabstruct_{file.stem}.parquet")
    return folder


def rows(corpus: Corpus, split: str) -> list[tuple[str, int, str, str]]:
    part = corpus.split(split)
    names = [part.label_names[label] for label in part.labels]
    return list(zip(part.article_ids, part.index.tolist(), part.texts, names, strict=True))


def test_official_form(tmp_path: Path) -> None:
    src = official(tmp_path / "src", train=[GOOD, CONFLICT], test=[GOOD])
    corpus = build_csabstruct(src, tmp_path / "c", command="x")
    assert rows(corpus, "train") == [
        (f"train-0000{n}", i, text, label)
        for n, record in enumerate([GOOD, CONFLICT])
        for i, (text, label) in enumerate(zip(record["sentences"], record["labels"], strict=True))
    ]
    assert corpus.split("train").confidence.tolist() == GOOD["confs"] * 2
    assert corpus.info.articles == {"train": 2, "test": 1}
    assert corpus.info.has_articles
    assert any(text.startswith("train: 1 texts with two labels in 2 rows, kept") for text in corpus.info.notes)
    assert "no dev split" in corpus.info.notes


def test_both_forms_give_the_same_corpus(tmp_path: Path) -> None:
    src = official(tmp_path / "src", train=[GOOD, CONFLICT, GOOD], dev=[CONFLICT], test=[GOOD])
    dropped = build_csabstruct(src, tmp_path / "c", command="x", conflicts="paper")
    assert dropped.info.dropped == {"conflict": 3}
    parquet = paper(tmp_path / "paper", src)
    given_back = build_csabstruct(parquet, tmp_path / "d", command="x", abstracts=src)
    assert given_back.info.fingerprint == dropped.info.fingerprint
    for split in dropped.splits:
        assert given_back.to_pandas(split).equals(dropped.to_pandas(split))
    bare = build_csabstruct(parquet, tmp_path / "e", command="x")
    assert not bare.info.has_articles
    assert "intervals fall back to sentences" in bare.info.notes[0]
    assert [row[2:] for row in rows(bare, "train")] == [row[2:] for row in rows(dropped, "train")]
    assert len(set(bare.split("train").article_ids)) == len(bare.split("train"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{no json", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"labels": []}', "lacks a list under 'sentences'"),
        ('{"sentences": ["A."], "labels": "method"}', "lacks a list under 'labels'"),
        ('{"sentences": ["A."], "labels": []}', "has 1 sentences, 0 labels"),
        ('{"sentences": ["A."], "labels": ["method"], "confs": []}', "and 0 confs"),
        ('{"sentences": ["A."], "labels": ["method"], "confs": ["x"]}', "confidence 'x'"),
        ('{"sentences": ["A."], "labels": ["poem"]}', "unknown label 'poem'"),
        ('{"sentences": ["A."], "labels": [3]}', "unknown label 3"),
        ('{"sentences": [" "], "labels": ["method"]}', "a sentence is empty"),
        ('{"sentences": ["\\ud800"], "labels": ["method"]}', "surrogate"),
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_bad_lines_are_named_and_nothing_is_written(tmp_path: Path, line: str, message: str) -> None:
    src = official(tmp_path / "src", train=[GOOD, line, GOOD])
    with pytest.raises(InputError, match=message) as caught:
        build_csabstruct(src, tmp_path / "c", command="x")
    assert caught.value.where == f"{src / 'train.jsonl'}:2"
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        build_csabstruct(tmp_path / "nowhere", tmp_path / "c", command="x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no file named like train\.jsonl"):
        build_csabstruct(tmp_path / "empty", tmp_path / "c", command="x")
    (tmp_path / "empty" / "train.jsonl").touch()
    with pytest.raises(InputError, match="is empty"):
        build_csabstruct(tmp_path / "empty", tmp_path / "c", command="x")
    src = official(tmp_path / "src", train=[GOOD])
    with pytest.raises(InputError, match="leave --abstracts out"):
        build_csabstruct(src, tmp_path / "c", command="x", abstracts=src)


def test_parquet_that_does_not_fit(tmp_path: Path) -> None:
    src = official(tmp_path / "src", train=[GOOD])
    parquet = paper(tmp_path / "paper", src)
    other = official(tmp_path / "other", train=[GOOD | {"sentences": ["A.", "B.", "C."]}])
    with pytest.raises(InputError, match=r"row 0: is not sentence 0 of .*name the matching --abstracts"):
        build_csabstruct(parquet, tmp_path / "c", command="x", abstracts=other)
    file = parquet / "csabstruct_train.parquet"
    frame = pd.read_parquet(file)
    frame.assign(label_id=[0, 3, 4]).to_parquet(file)
    with pytest.raises(InputError, match="row 1: label 'method' bears the id 3"):
        build_csabstruct(parquet, tmp_path / "c", command="x")
    frame.drop(columns="id").to_parquet(file)
    with pytest.raises(InputError, match="lacks the column id"):
        build_csabstruct(parquet, tmp_path / "c", command="x")


def test_the_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    official(tmp_path / "my src", train=[GOOD, CONFLICT], dev=[GOOD], test=[GOOD])
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["build-csabstruct", "my src", "--drop-conflicts", "paper"])
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:4] == ["split", "articles", "sentences", "background"]
    assert lines[1][:3] == ["train", "2", "4"]
    assert lines[-1] == ["left", "out:", "2", "(conflict)"]
    assert "train: 1 texts with two labels in 2 rows, removed" in result.stderr
    corpus = open_corpus("corpora/csabstruct")
    assert corpus.info.command == "sectioncls build-csabstruct 'my src' --drop-conflicts paper"
    result = CliRunner().invoke(app, ["build-csabstruct", "my src"])
    assert isinstance(result.exception, OutputError)


@pytest.mark.shared
def test_the_rule_gives_the_papers_rows(tmp_path: Path, shared: Path) -> None:
    src = shared / "sentences" / "csabstruct_official"
    corpus = build_csabstruct(src, tmp_path / "c", command="x", conflicts="paper")
    whole = build_csabstruct(src, tmp_path / "w", command="x")
    fewer = {split: len(whole.split(split)) - len(corpus.split(split)) for split in corpus.splits}
    assert fewer == {"train": 83, "dev": 2, "test": 0}
    assert corpus.info.articles == {"train": 1668, "dev": 295, "test": 226}
    for split in corpus.splits:
        frame = pd.read_parquet(shared / "sentences" / "paper_csabstruct" / f"csabstruct_{split}.parquet")
        part = corpus.split(split)
        assert list(part.texts) == frame["sentence"].tolist()
        assert part.labels.tolist() == frame["label_id"].tolist()
    given_back = build_csabstruct(shared / "sentences" / "paper_csabstruct", tmp_path / "d", command="x", abstracts=src)
    assert given_back.info.fingerprint == corpus.info.fingerprint
