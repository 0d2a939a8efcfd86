"""What is kept of each sentence."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sectioncls.audit.rows import ROWS_A_BATCH, RowsReader, cells, digests, normalised, read_batches
from sectioncls.errors import InputError

SPLITS = {
    "train": {"a": [("Sheep  graze.", "method"), ("12.5", "other")], "b": [("sheep graze.", "result")]},
    "test": {"a": [("SHEEP GRAZE.", "method")], "c": [("Hay.", "objective")]},
}


def test_rows(make_corpus) -> None:
    corpus = make_corpus(SPLITS)
    reader = RowsReader(corpus)
    for batch in read_batches(corpus, RowsReader.COLUMNS):
        reader.add(batch)
    rows = reader.rows()
    assert len(rows) == 5
    assert rows.splits == ("train", "test")
    assert rows.split.tolist() == [0, 0, 0, 1, 1]
    assert [rows.article_ids[number] for number in rows.article] == ["a", "a", "b", "a", "c"]
    assert rows.index.tolist() == [0, 1, 0, 0, 0]
    assert [rows.labels[number] for number in rows.label] == ["method", "other", "result", "method", "objective"]
    assert rows.text[0] == rows.text[2] == rows.text[3] != rows.text[1] != rows.text[4]
    assert rows.first_row[rows.text].tolist() == [0, 1, 0, 0, 4]
    assert rows.words.tolist() == [2, 1, 2, 2, 1]
    assert rows.letters.tolist() == [True, False, True, True, True]
    assert rows.splits_of_texts()[rows.text].tolist() == [3, 1, 3, 3, 2]


def test_cells_by_row_number_across_batches(make_corpus) -> None:
    many = {"train": {"a": [(f"Sheep {number}.", "method") for number in range(ROWS_A_BATCH + 5)]}, "test": {"b": []}}
    many["test"]["b"] = [("Hay.", "other")]
    corpus = make_corpus(many)
    wanted = [0, ROWS_A_BATCH - 1, ROWS_A_BATCH, ROWS_A_BATCH + 5]
    assert cells(corpus, wanted, ("text", "article_id")) == {
        0: ("Sheep 0.", "a"),
        ROWS_A_BATCH - 1: (f"Sheep {ROWS_A_BATCH - 1}.", "a"),
        ROWS_A_BATCH: (f"Sheep {ROWS_A_BATCH}.", "a"),
        ROWS_A_BATCH + 5: ("Hay.", "b"),
    }
    assert cells(corpus, [], ("text",)) == {}


def test_normalised() -> None:
    assert normalised(" The\tSHEEP \n graze. ") == "the sheep graze."
    assert digests([normalised("Straße")]) == digests([normalised("STRASSE")])
    assert len(np.unique(digests(map(str, range(10_000))))) == 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop_columns("text"), "lacks the column text"),
        (lambda table: table.set_column(3, "text", pa.array([1, 2, 3])), "has no string under text"),
        (lambda table: table.set_column(3, "text", pa.array(["A.", None, "B."])), "has rows without text"),
    ],
)
def test_files_that_are_not_a_corpus(make_corpus, change, message: str) -> None:
    corpus = make_corpus(SPLITS)
    file = corpus.path / "train.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    with pytest.raises(InputError, match=message):
        list(read_batches(corpus, RowsReader.COLUMNS))


def test_a_file_that_is_cut_off(make_corpus) -> None:
    corpus = make_corpus(SPLITS)
    file = corpus.path / "test.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="can't be read as Parquet"):
        list(read_batches(corpus))


def test_a_label_outside_the_scheme(make_corpus) -> None:
    corpus = make_corpus(SPLITS)
    file = corpus.path / "train.parquet"
    table = pq.read_table(file)
    pq.write_table(table.set_column(4, "label", pa.array(["method", "poem", "other"])), file)
    reader = RowsReader(corpus)
    with pytest.raises(InputError, match="label outside the scheme"):
        reader.add(next(iter(read_batches(corpus, RowsReader.COLUMNS))))
