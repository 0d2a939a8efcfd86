"""The corpus folder: what is written comes back, in our reader and in others'."""

from __future__ import annotations

import errno
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sectioncls.corpora import create_corpus, only_corpus, open_corpus, require_trainable
from sectioncls.errors import InputError, OutputError
from sectioncls.records import Paragraph, Rejected, Sentence
from sectioncls.schemes import load_scheme

SCHEME = load_scheme("csabstruct")


def sentences(split: str, labels: list[str]) -> list[Sentence]:
    return [
        Sentence(
            article_id=f"{split}-{number // 3}",
            index=number % 3,
            paragraph=number,
            text=f"=Sheep number {number}, café {split}.",
            start=0,
            end=10,
            path=("Abstract", "Aims") if number % 2 else (),
            label=label,
            confidence=number / 10,
            label_source="title:Aims",
        )
        for number, label in enumerate(labels)
    ]


ROWS = {
    "train": sentences("train", ["background", "objective", "method", "result", "other", "method", "result"]),
    "dev": sentences("dev", ["objective", "method"]),
    "test": sentences("test", ["result", "other", "background"]),
}


def write(path: Path, rows: dict[str, list[Sentence]] = ROWS, **options: object) -> Path:
    with create_corpus(path, name="sheep", scheme=SCHEME, command="x", extra=("confidence",), **options) as writer:
        for split, part in rows.items():
            writer.add(split, part, language="en", licence="CC0")
    return path


def test_rows_come_back(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "c"))
    assert corpus.name == "sheep"
    assert corpus.labels == SCHEME.labels
    assert corpus.splits == ("train", "dev", "test")
    for name, rows in ROWS.items():
        split = corpus.split(name)
        assert len(split) == len(rows)
        assert split.texts == tuple(row.text for row in rows)
        assert [split.label_names[label] for label in split.labels] == [row.label for row in rows]
        assert split.article_ids == tuple(row.article_id for row in rows)
        assert split.index.tolist() == [row.index for row in rows]
        assert split.confidence is not None
        assert split.confidence.tolist() == [row.confidence for row in rows]
        assert split.labels.dtype == np.int64
        assert split.index.dtype == np.int32


def test_rows_can_be_chosen(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "c"))
    split, rows = corpus.split("train"), ROWS["train"]
    chosen = split.at([3, 0])
    for picked, row in enumerate((rows[3], rows[0])):
        assert (chosen.texts[picked], chosen.index[picked]) == (row.text, row.index)
        assert chosen.label_names[chosen.labels[picked]] == row.label
        assert chosen.paths is not None and chosen.paths[picked] == row.path
        assert chosen.confidence is not None and chosen.confidence[picked] == row.confidence
    bare = open_corpus(write(tmp_path / "bare", {"train": [replace(row, path=()) for row in rows]}))
    assert bare.split("train").paths is None


def test_others_read_the_same(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "c"))
    frame = pd.read_parquet(corpus.path / "train.parquet")
    assert frame.equals(corpus.to_pandas("train"))
    assert frame["text"].tolist() == [row.text for row in ROWS["train"]]
    assert [tuple(path) for path in frame["path"]] == [row.path for row in ROWS["train"]]
    assert set(frame["language"]) == {"en"}
    sets = corpus.to_datasets()
    for name, rows in ROWS.items():
        feature = sets[name].features["label"]
        assert feature.names == list(SCHEME.labels)
        assert [feature.int2str(label) for label in sets[name]["label"]] == [row.label for row in rows]
        assert sets[name]["text"][:] == [row.text for row in rows]


def test_info_counts_what_pandas_counts(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "c"))
    for name in corpus.splits:
        frame = corpus.to_pandas(name)
        counts = {label: int((frame["label"] == label).sum()) for label in SCHEME.labels}
        assert corpus.info.counts[name] == counts
        assert corpus.info.articles[name] == frame["article_id"].nunique()
        words = frame["text"].str.split().str.len()
        assert corpus.info.lengths[name]["mean_words"] == pytest.approx(words.mean(), abs=1e-4)
        assert corpus.info.lengths[name]["max_words"] == words.max()
    assert corpus.info.sentences == sum(map(len, ROWS.values()))


def test_fingerprint_is_that_of_the_rows(tmp_path: Path) -> None:
    digests = b""
    for name, rows in ROWS.items():
        lines = (json.dumps([name, r.article_id, r.index, r.text, r.label], ensure_ascii=False) for r in rows)
        digests += hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).digest()
    first = open_corpus(write(tmp_path / "a")).info.fingerprint
    assert first == hashlib.sha256(digests).hexdigest()
    other = ROWS | {"dev": list(reversed(ROWS["dev"]))}
    assert open_corpus(write(tmp_path / "b", other)).info.fingerprint != first
    turned = dict(reversed(ROWS.items()))
    assert open_corpus(write(tmp_path / "d", turned)).info.fingerprint == first


def test_same_rows_same_bytes(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one"), write(tmp_path / "two")
    names = sorted(file.name for file in one.iterdir())
    assert names == ["README.md", "corpus.json", "dev.parquet", "test.parquet", "train.parquet"]
    assert names == list(open_corpus(one).info.files)
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in names)


def test_row_groups_do_not_depend_on_how_rows_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sectioncls.corpora.rowgroups.ROWS_A_GROUP", 3)
    whole = write(tmp_path / "whole")
    with create_corpus(tmp_path / "single", name="sheep", scheme=SCHEME, command="x", extra=("confidence",)) as writer:
        for split, rows in ROWS.items():
            for row in rows:
                writer.add(split, [row], language="en", licence="CC0")
    file = pq.ParquetFile(whole / "train.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [3, 3, 1]
    for name in ("train.parquet", "corpus.json"):
        assert (whole / name).read_bytes() == (tmp_path / "single" / name).read_bytes()


def test_grouped_articles_are_counted_without_a_set(tmp_path: Path) -> None:
    plain = open_corpus(write(tmp_path / "a")).info.articles
    assert open_corpus(write(tmp_path / "b", grouped=True)).info.articles == plain


def test_paragraphs_rejections_and_notes(tmp_path: Path) -> None:
    rejected = Rejected("a.xml", "malformed", "line 3", None)
    with create_corpus(tmp_path / "c", name="n", scheme=SCHEME, command="x", notes=["first"]) as writer:
        writer.add("train", ROWS["train"])
        writer.add_paragraphs("train-0", [Paragraph("Some text.", "p", ("Aims",), 4)])
        writer.reject(rejected)
        writer.dropped("conflict", 2)
        writer.dropped("nothing", 0)
        writer.note("second")
    info = open_corpus(tmp_path / "c").info
    assert info.dropped == {"conflict": 2, "malformed": 1}
    assert info.notes[:2] == ("first", "second")
    assert "no dev and no test split" in info.notes
    table = pq.read_table(tmp_path / "c" / "paragraphs.parquet").to_pylist()
    assert table == [{"article_id": "train-0", "node": 4, "kind": "p", "path": ["Aims"], "text": "Some text."}]
    line = (tmp_path / "c" / "rejected.jsonl").read_text()
    assert json.loads(line) == {
        "source": "a.xml",
        "reason": "malformed",
        "detail": "line 3",
        "article_id": None,
    }


def test_csv_cells_are_guarded(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "c"))
    corpus.to_csv("train", tmp_path / "train.csv")
    frame = pd.read_csv(tmp_path / "train.csv")
    assert frame["text"].tolist() == [f"'{row.text}" for row in ROWS["train"]]
    assert frame["path"].fillna("").tolist() == [" > ".join(row.path) for row in ROWS["train"]]


def test_nothing_is_left_when_writing_fails(tmp_path: Path) -> None:
    def broken() -> object:
        yield ROWS["train"][0]
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        create_corpus(tmp_path / "c", name="n", scheme=SCHEME, command="x") as writer,
    ):
        writer.add("train", broken())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
    with pytest.raises(OutputError, match="no space left"):
        write(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_label_outside_the_scheme_and_empty_corpus(tmp_path: Path) -> None:
    bad = [Sentence("a", 0, -1, "Text.", 0, 5, label="conclusion")]
    with pytest.raises(InputError, match="'conclusion' is not in csabstruct"):
        write(tmp_path / "c", {"train": bad})
    with pytest.raises(InputError, match="no sentence"):
        write(tmp_path / "c", {"train": []})
    assert list(tmp_path.iterdir()) == []


def test_overwrite_only_what_is_ours(tmp_path: Path) -> None:
    path = write(tmp_path / "c")
    with pytest.raises(OutputError, match="exists already"):
        write(path)
    write(path, {"train": ROWS["train"]}, overwrite=True)
    assert open_corpus(path).splits == ("train",)
    (path / "mine.txt").write_text("keep")
    with pytest.raises(OutputError, match="not ours"):
        write(path, overwrite=True)
    assert (path / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no corpus.json"),
        ("{", "not JSON"),
        ("[]", "format 1"),
        ('{"format": 2}', "format 1"),
        ('{"format": 1}', "lacks name"),
    ],
)
def test_what_is_no_corpus(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "corpus.json").write_text(content)
    with pytest.raises(InputError, match=message):
        open_corpus(tmp_path)


def test_missing_things_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        open_corpus(tmp_path / "nowhere")
    path = write(tmp_path / "c", {"train": ROWS["train"], "test": ROWS["test"]})
    with pytest.raises(InputError, match=r"no split 'dev' \(splits: train, test\)"):
        open_corpus(path).split("dev")
    (path / "test.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="can't be read as Parquet"):
        open_corpus(path).split("test")
    (path / "test.parquet").unlink()
    with pytest.raises(InputError, match=r"test\.parquet: is missing"):
        open_corpus(path)


def test_only_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no corpus"):
        only_corpus(tmp_path)
    one = write(tmp_path / "one")
    assert only_corpus(tmp_path) == one
    write(tmp_path / "two")
    with pytest.raises(InputError, match="holds 2 corpora: one, two"):
        only_corpus(tmp_path)


def test_require_trainable(tmp_path: Path) -> None:
    whole = open_corpus(write(tmp_path / "whole"))
    assert require_trainable(whole, ["train"]) == ()
    remarks = require_trainable(whole)
    assert remarks == (
        "dev has no sentence labelled background, result, other",
        "test has no sentence labelled objective, method",
    )
    assert set(remarks) <= set(whole.info.notes)
    single = open_corpus(write(tmp_path / "single", {"train": sentences("train", ["method"] * 4)}))
    with pytest.raises(InputError, match=r"only one label \(method\)"):
        require_trainable(single)
    lacking = open_corpus(write(tmp_path / "lacking", {"train": ROWS["train"]}))
    with pytest.raises(InputError, match=r"no dev split \(splits: train\)"):
        require_trainable(lacking)
    poor = {"train": ROWS["train"], "test": sentences("test", ["other"])}
    with pytest.raises(InputError, match=r"only one label in test \(other\)"):
        require_trainable(open_corpus(write(tmp_path / "poor", poor)), ["train", "test"])
