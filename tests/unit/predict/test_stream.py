from __future__ import annotations

import csv
import json
from dataclasses import dataclass

import pyarrow.parquet as pq
import pytest

from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.predict import Given, label_stream, read_given
from sectioncls.predict.label import sentences_of
from sectioncls.records import Rejected


@dataclass(frozen=True)
class Parrot:
    """A model that says `method` of what has the word method, `result` else; it counts the articles it saw."""

    seen: list

    def predict_each(self, articles, *, min_prob=0.0, splitter="scisplit"):
        from dataclasses import replace

        for article in articles:
            self.seen.append(article)
            sentences = sentences_of(article, splitter)
            yield [
                replace(s, label="method" if "method" in s.text else "result", prob=0.75, label_source="model")
                for s in sentences
            ]


GIVEN = [
    Given("a", "x.xml", ["A method of sheep.", "They slept."]),
    Rejected("y.xml", "malformed", "no XML"),
    Given("b", "=z.jsonl:1", ["=1+1, a method"]),
    Given("c", "z.jsonl:2", []),
]
SETTINGS = {"model": "parrot"}


@pytest.fixture
def parrot():
    return Parrot([])


def read(path):
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    return pq.read_table(path).to_pylist()


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_one_row_a_sentence_in_every_format(parrot, tmp_path, suffix):
    out = tmp_path / f"o{suffix}"
    done = label_stream(parrot, GIVEN, out, settings=SETTINGS)
    assert (done.articles, done.sentences, done.labels) == (3, 3, {"method": 2, "result": 1})
    assert done.rejected == {"malformed": 1}
    rows = read(out)
    assert [(row["article_id"], int(row["index"]), row["label"], float(row["prob"])) for row in rows] == [
        ("a", 0, "method", 0.75),
        ("a", 1, "result", 0.75),
        ("b", 0, "method", 0.75),
    ]
    assert rows[2]["text"] == ("'=1+1, a method" if suffix == ".csv" else "=1+1, a method")
    assert read(tmp_path / "o.rejected.jsonl") == [
        {"source": "y.xml", "reason": "malformed", "detail": "no XML", "article_id": None}
    ]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([out.name, "o.rejected.jsonl"])


def test_an_interrupted_call_goes_on_with_the_same_bytes(parrot, tmp_path):
    many = [Given(str(i), "s", [f"method {i}.", "End."]) for i in range(300)]
    label_stream(parrot, many, tmp_path / "whole.jsonl", settings=SETTINGS)

    def cut():
        yield from many[:200]
        raise KeyboardInterrupt

    out = tmp_path / "parts.jsonl"
    with pytest.raises(KeyboardInterrupt):
        label_stream(parrot, cut(), out, settings=SETTINGS)
    assert not out.exists()
    log = tmp_path / "parts.jsonl.labelling" / "done.jsonl"
    kept = len(log.read_text(encoding="utf-8").splitlines())
    assert kept >= 128
    with log.open("a", encoding="utf-8") as stream:
        stream.write('{"id": "half a li')  # a kill in the middle of a line
    with pytest.raises(OutputError, match="--resume"):
        label_stream(parrot, many, out, settings=SETTINGS)
    with pytest.raises(InputError, match="model"):
        label_stream(parrot, many, out, settings={"model": "other"}, resume=True)
    parrot.seen.clear()
    label_stream(parrot, many, out, settings=SETTINGS, resume=True)
    assert len(parrot.seen) == 300 - kept
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_what_is_there_is_left_alone(parrot, tmp_path):
    out = tmp_path / "o.jsonl"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="exists"):
        label_stream(parrot, GIVEN, out, settings=SETTINGS)
    with pytest.raises(UsageError, match="one of"):
        label_stream(parrot, GIVEN, tmp_path / "o.txt", settings=SETTINGS)
    strange = tmp_path / "p.jsonl.labelling"
    strange.mkdir()
    (strange / "diary.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="not a folder"):
        label_stream(parrot, GIVEN, tmp_path / "p.jsonl", settings=SETTINGS, overwrite=True)
    assert out.read_text(encoding="utf-8") == "mine"


def test_json_lines_are_read(tmp_path):
    lines = [
        '"Sheep sleep. They do."',
        '{"id": "a", "sentences": ["One.", "Two."]}',
        '{"id": 7, "abstract": "Text."}',
        "",
        '{"id": "b", "text": ["One."]}',
        "not json",
        "[1]",
        '{"id": "c", "sentences": "no list"}',
        '{"id": "d", "sentences": [1]}',
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    found = list(read_given([path]))
    assert [(item.id, item.content) for item in found if isinstance(item, Given)] == [
        (f"{path}:1", "Sheep sleep. They do."),
        ("a", ["One.", "Two."]),
        ("7", "Text."),
        ("b", ["One."]),
    ]
    assert [item.source for item in found if isinstance(item, Rejected)] == [f"{path}:{n}" for n in (6, 7, 8, 9)]


def test_lines_that_never_end_are_refused_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr("sectioncls.predict.sources._LONGEST_LINE", 50)
    path = tmp_path / "x.jsonl"
    path.write_text('"' + "a" * 500 + '"\n"short"\n', encoding="utf-8")
    found = list(read_given([path]))
    assert [getattr(item, "reason", "") for item in found] == ["too-large", ""]


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError):
        list(read_given([tmp_path / "no.jsonl"]))
    with pytest.raises(InputError):
        list(read_given([tmp_path / "no.xml"]))


def test_documents_of_several_formats(tmp_path, demo):
    text = tmp_path / "note.txt"
    text.write_text("Methods\n\nWe shore sheep. They slept.\n", encoding="utf-8")
    found = list(read_given([demo / "jats" / "demo-01.xml", text]))
    assert found[0].id == "PMC9900001"
    assert [s.text for s in sentences_of(found[1].content)] == ["We shore sheep.", "They slept."]
