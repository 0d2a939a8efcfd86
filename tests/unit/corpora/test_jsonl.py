"""Sets with labels of their own: splits, ids, labels, and what is refused."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sectioncls.corpora import Corpus
from sectioncls.corpora.forms import Form, LabelMap
from sectioncls.corpora.jsonl import build_jsonl, find_files, own_labels
from sectioncls.corpora.splits import split_of_article
from sectioncls.errors import InputError, OutputError
from sectioncls.schemes import LabelScheme, load_scheme

RCT = LabelMap(load_scheme("pubmed-rct"))
ARTICLE = {"id": "sheep-1", "sentences": ["Sheep graze.", "We count sheep."], "labels": ["BACKGROUND", "METHODS"]}
OTHER = {"id": "sheep-2", "sentences": ["There were nine."], "labels": ["RESULTS"]}


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records))
    return path


def build(src: Path, out: Path, form: Form | None = None, labels: LabelMap = RCT, **options: Any) -> Corpus:
    form = form or Form(article="id")
    return build_jsonl(find_files(src), out, name="sheep", form=form, labels=labels, command="x", **options)


def rows(corpus: Corpus, split: str) -> list[tuple[str, int, str, str]]:
    frame = corpus.to_pandas(split)
    return list(zip(frame.article_id, frame["index"], frame.text, frame.label, strict=True))


def test_articles_by_the_names_of_files(tmp_path: Path) -> None:
    write(tmp_path / "s" / "train.jsonl", ARTICLE, "", OTHER)
    (tmp_path / "s" / "my_validation-set.jsonl.gz").write_bytes(gzip.compress(json.dumps(OTHER).encode()))
    corpus = build(tmp_path / "s", tmp_path / "c")
    assert rows(corpus, "train") == [
        ("sheep-1", 0, "Sheep graze.", "background"),
        ("sheep-1", 1, "We count sheep.", "method"),
        ("sheep-2", 0, "There were nine.", "result"),
    ]
    assert rows(corpus, "dev") == [("sheep-2", 0, "There were nine.", "result")]
    assert corpus.info.articles == {"train": 2, "dev": 1}
    assert corpus.info.has_articles
    assert "no test split" in corpus.info.notes


def test_the_same_bytes_again(tmp_path: Path) -> None:
    write(tmp_path / "s" / "train.jsonl", ARTICLE, OTHER)
    for name in ("c", "d"):
        build(tmp_path / "s", tmp_path / name)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("c", "d"))
    assert one == two


def test_every_form_gives_the_same_rows(tmp_path: Path) -> None:
    flat = [
        {"id": record["id"], "text": text, "role": label}
        for record in (ARTICLE, OTHER)
        for text, label in zip(record["sentences"], record["labels"], strict=True)
    ]
    form = Form(article="id", text="text", label="role")
    write(tmp_path / "a.jsonl", *flat)
    (tmp_path / "b.json").write_text(json.dumps(flat))
    for name, dialect in (("c.csv", "excel"), ("d.tsv", "excel-tab")):
        with (tmp_path / name).open("w", newline="") as handle:
            table = csv.DictWriter(handle, list(flat[0]), dialect=dialect, lineterminator="\n")
            table.writeheader()
            table.writerows(flat)
    pd.DataFrame(flat).to_parquet(tmp_path / "e.parquet")
    (tmp_path / "f.json").write_text(json.dumps({"x": ARTICLE, "y": OTHER}))
    want = {split: rows(build(tmp_path / "f.json", tmp_path / "o", Form(article="id")), split) for split in ("train",)}
    assert len(want["train"]) == 3
    for name in ("a.jsonl", "b.json", "c.csv", "d.tsv", "e.parquet"):
        corpus = build(tmp_path / name, tmp_path / f"o-{name}", form)
        assert {split: rows(corpus, split) for split in corpus.splits} == want, name


def test_without_a_split_the_id_decides(tmp_path: Path) -> None:
    records = [OTHER | {"id": f"sheep-{number}"} for number in range(60)]
    want: dict[str, list[str]] = defaultdict(list)
    for record in records:
        want[split_of_article(str(record["id"]), 3)].append(str(record["id"]))
    corpus = build(write(tmp_path / "all.jsonl", *records), tmp_path / "c", seed=3)
    assert {split: [row[0] for row in rows(corpus, split)] for split in corpus.splits} == want
    assert corpus.splits == ("train", "dev", "test")
    assert any("60 articles were put into splits by a hash" in text for text in corpus.info.notes)


def test_the_split_of_the_record(tmp_path: Path) -> None:
    file = write(tmp_path / "train.jsonl", ARTICLE | {"set": "Val"}, OTHER | {"set": None}, OTHER | {"set": "test"})
    corpus = build(file, tmp_path / "c", Form(article="id", split="set"))
    assert [(split, len(rows(corpus, split))) for split in corpus.splits] == [("train", 1), ("dev", 2), ("test", 1)]
    write(file, ARTICLE | {"set": "tune1"})
    with pytest.raises(InputError, match="'tune1' is no split"):
        build(file, tmp_path / "d", Form(article="id", split="set"))


def test_ids_that_come_back(tmp_path: Path) -> None:
    file = write(tmp_path / "train.jsonl", OTHER, ARTICLE, OTHER, OTHER)
    corpus = build(file, tmp_path / "c")
    assert [row[:2] for row in rows(corpus, "train")] == [
        *(("sheep-2", 0), ("sheep-1", 0), ("sheep-1", 1)),
        *(("sheep-2#2", 0), ("sheep-2#3", 0)),
    ]
    assert any(text.startswith("2 articles bear an id") for text in corpus.info.notes)
    flat = [{"id": name, "text": "A.", "role": "METHODS"} for name in ("a", "a", "b", "a")]
    corpus = build(write(file, *flat), tmp_path / "d", Form(article="id", text="text", label="role"))
    assert [row[:2] for row in rows(corpus, "train")] == [("a", 0), ("a", 1), ("b", 0), ("a", 2)]
    assert corpus.info.articles == {"train": 2}


def test_rows_of_no_article(tmp_path: Path) -> None:
    flat = [{"text": f"Sheep {number}.", "role": "METHODS"} for number in range(3)]
    corpus = build(write(tmp_path / "train.jsonl", *flat), tmp_path / "c", Form(text="text", label="role"))
    assert not corpus.info.has_articles
    assert [row[:2] for row in rows(corpus, "train")] == [(f"train-0000{number}", 0) for number in range(3)]
    assert any("intervals fall back to sentences" in text for text in corpus.info.notes)


def test_conflicts(tmp_path: Path) -> None:
    twice = {"id": "sheep-3", "sentences": ["Sheep graze.", "Nine."], "labels": ["RESULTS", "RESULTS"]}
    write(tmp_path / "s" / "train.jsonl", ARTICLE, twice)
    write(tmp_path / "s" / "test.jsonl", ARTICLE)
    kept = build(tmp_path / "s", tmp_path / "c")
    assert any(text.startswith("train: 1 texts with two labels in 2 rows, kept") for text in kept.info.notes)
    dropped = build(tmp_path / "s", tmp_path / "d", conflicts="paper")
    assert [row[2] for row in rows(dropped, "train")] == ["We count sheep.", "Nine."]
    assert len(rows(dropped, "test")) == 2
    assert dropped.info.dropped == {"conflict": 2}


def test_several_labels_keep_their_list(tmp_path: Path) -> None:
    record = ARTICLE | {"labels": [["RESULTS", "BACKGROUND"], []]}
    file = write(tmp_path / "train.jsonl", record)
    with pytest.raises(InputError, match=r"train\.jsonl:1: has a list of labels .*--several"):
        build(file, tmp_path / "c")
    with pytest.raises(InputError, match=r"train\.jsonl:1: has no label .*--unlabelled"):
        build(file, tmp_path / "c", Form(article="id", several=True))
    corpus = build(file, tmp_path / "c", Form(article="id", several=True, unlabelled=""))
    frame = corpus.to_pandas("train")
    assert [(row.label, list(row.labels), row["index"]) for _, row in frame.iterrows()] == [
        ("background", ["background", "result"], 0)
    ]
    assert corpus.info.dropped == {"no-label": 1}
    corpus = build(file, tmp_path / "d", Form(article="id", several=True, unlabelled="objective"))
    assert [row[3] for row in rows(corpus, "train")] == ["background", "objective"]


def test_votes(tmp_path: Path) -> None:
    votes = [["RESULTS", "METHODS", "METHODS"], ["RESULTS", "METHODS"]]
    file = write(tmp_path / "train.jsonl", ARTICLE | {"votes": votes})
    frame = build(file, tmp_path / "c", Form(article="id", label=None, votes="votes")).to_pandas("train")
    assert list(frame.label) == ["method", "result"]
    assert [list(labels) for labels in frame.labels] == [["method", "result"], ["result", "method"]]
    assert list(frame.confidence) == [2 / 3, 0.5]
    frame = build(file, tmp_path / "d", Form(article="id", votes="votes")).to_pandas("train")
    assert list(frame.label) == ["background", "method"]
    assert list(frame.confidence) == [0, 0.5]
    assert "labels" not in frame


def test_confidence_path_licence_language(tmp_path: Path) -> None:
    record = ARTICLE | {"sure": [1, "0.5"], "under": ["Abstract > Aims", ["Body", "Methods"]], "terms": "CC-BY-4.0"}
    form = Form(article="id", confidence="sure", path="under", licence="terms")
    corpus = build(write(tmp_path / "train.jsonl", record), tmp_path / "c", form, language="en")
    frame = corpus.to_pandas("train")
    assert list(frame.confidence) == [1.0, 0.5]
    assert [list(path) for path in frame.path] == [["Abstract", "Aims"], ["Body", "Methods"]]
    assert set(frame.licence) == {"CC-BY-4.0"}
    assert set(frame.language) == {"en"}


def test_paragraphs_are_cut_and_kept(tmp_path: Path) -> None:
    record = {
        "id": "x",
        "parts": ["Sheep graze. We ask why.", "We counted."],
        "heads": ["AIMS", "OUR METHOD"],
        "end": "Nine.",
    }
    form = Form(
        article="id", text="parts", label="heads", paragraphs=True, headings=True, also=(("end", "CONCLUSIONS"),)
    )
    corpus = build(write(tmp_path / "train.jsonl", record), tmp_path / "c", form)
    frame = corpus.to_pandas("train")
    assert list(frame.text) == ["Sheep graze.", "We ask why.", "We counted.", "Nine."]
    assert list(frame.label) == ["objective", "objective", "method", "conclusion"]
    assert list(frame.label_source) == ["title:AIMS", "title:AIMS", "title:OUR METHOD", "title:CONCLUSIONS"]
    paragraphs = {row.node: row.text for row in pd.read_parquet(tmp_path / "c" / "paragraphs.parquet").itertuples()}
    for row in frame.itertuples():
        assert paragraphs[row.node][row.start : row.end] == row.text


def test_own_labels(tmp_path: Path) -> None:
    file = write(tmp_path / "train.jsonl", ARTICLE | {"labels": ["Prior Work", "aim"]}, OTHER | {"labels": [7]})
    form = Form(article="id")
    labels = own_labels(find_files(file), form, "sheep")
    assert labels.scheme == LabelScheme("sheep", ("7", "aim", "prior-work")) or labels.scheme.labels == (
        "7",
        "aim",
        "prior-work",
    )
    assert [row[3] for row in rows(build(file, tmp_path / "c", labels=labels), "train")] == ["prior-work", "aim", "7"]
    write(file, ARTICLE | {"labels": ["C+", "C-"]})
    with pytest.raises(InputError, match=r"labels 'C\+' and 'C-' would both be called c"):
        own_labels(find_files(file), form, "sheep")
    write(file, *({"id": "x", "sentences": ["A."], "labels": [f"role {number}"]} for number in range(300)))
    with pytest.raises(InputError, match=r"train\.jsonl:201: has more than 200 labels"):
        own_labels(find_files(file), form, "sheep")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ("[" * 100_000, "is not JSON"),
        (ARTICLE | {"labels": ["METHODS"]}, "has 2 sentences and 1 values under 'labels'"),
        (ARTICLE | {"labels": "METHODS"}, "has no list under 'labels'"),
        (ARTICLE | {"labels": ["METHODS", "POEM"]}, "unknown label 'POEM'"),
        (ARTICLE | {"labels": ["METHODS", None]}, "has no label"),
        (ARTICLE | {"labels": ["METHODS", True]}, "unknown label 'True'"),
        (ARTICLE | {"labels": ["METHODS", {"a": 1}]}, "unknown label"),
        (ARTICLE | {"sentences": ["A.", " "]}, "a sentence is empty"),
        (ARTICLE | {"sentences": ["A.", 3]}, "a sentence is empty or not text"),
        (ARTICLE | {"sentences": ["A.", "\ud800"]}, "surrogate"),
        (ARTICLE | {"sentences": None}, "a sentence is empty or not text"),
        ({"sentences": ["A."], "labels": ["METHODS"]}, "has no article id under 'id'"),
        (ARTICLE | {"id": ["x"]}, "has no article id"),
        (ARTICLE | {"id": "\udc00"}, "surrogate"),
        (ARTICLE | {"sure": [2, 1]}, "confidence 2 is not a number from 0 to 1"),
        (ARTICLE | {"sure": ["x", 1]}, "confidence 'x'"),
        (ARTICLE | {"sure": [1, 1], "terms": 3}, "'terms' leads to something that is no text"),
    ],
)
def test_bad_records_are_named_and_nothing_is_written(tmp_path: Path, record: Any, message: str) -> None:
    form = Form(article="id", licence="terms", confidence="sure" if "sure" in record else None)
    good = ARTICLE | {"sure": [1, 1]}
    src = write(tmp_path / "src" / "train.jsonl", good, record, good)
    with pytest.raises(InputError, match=message) as caught:
        build(src, tmp_path / "c", form)
    assert caught.value.where == f"{src}:2"
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        find_files(tmp_path / "none")
    with pytest.raises(InputError, match="holds no file of a known form"):
        find_files(tmp_path)
    file = write(tmp_path / "train.jsonl", ARTICLE)
    write(tmp_path / "train.csv", "a")
    with pytest.raises(InputError, match=r"holds train\.csv and train\.jsonl"):
        find_files(tmp_path)
    with pytest.raises(InputError, match=r"holds no test\.jsonl"):
        find_files(tmp_path, {"train.jsonl": "train", "test.jsonl": "test"})
    build(file, tmp_path / "c")
    with pytest.raises(OutputError, match="exists already"):
        build(file, tmp_path / "c")
    build(file, tmp_path / "c", overwrite=True)


def test_files_of_a_card_may_be_packed(tmp_path: Path) -> None:
    (tmp_path / "all.jsonl.gz").write_bytes(gzip.compress(json.dumps(ARTICLE).encode()))
    assert find_files(tmp_path, {"all.jsonl": "train"}) == [(tmp_path / "all.jsonl.gz", "train")]
    assert find_files(tmp_path / "all.jsonl.gz", {"all.jsonl": "train"}) == [(tmp_path / "all.jsonl.gz", "train")]
