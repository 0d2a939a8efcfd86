"""Rows of small tables, with file and line in every error."""

from __future__ import annotations

from pathlib import Path

import pytest

from sectioncls.errors import InputError
from sectioncls.papersets.rows import edge_rows, judgement_rows, table_rows


def edges(path: Path, text: str) -> tuple[list[tuple[str, str, str | None]], list[str]]:
    path.write_text(text)
    remarks: list[str] = []
    return [(src, dst, split) for _, src, dst, split in edge_rows(path, remarks)], remarks


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.tsv", "src\tdst\tsource\tsplit\na\tb\tx\tdev\nb\tc\tx\t\n"),
        ("e.tsv", "split\tciting\tcited\ndev\ta\tb\n\tb\tc\n"),
        ("e.csv", 'from,to,split\na,"b",dev\nb,c,\n'),
        ("e.jsonl", '{"src":"a","dst":"b","split":"dev"}\n{"source":"b","target":"c"}\n'),
    ],
)
def test_heads(tmp_path: Path, name: str, text: str) -> None:
    assert edges(tmp_path / name, text) == ([("a", "b", "dev"), ("b", "c", None)], [])


def test_no_head(tmp_path: Path) -> None:
    assert edges(tmp_path / "e.tsv", "a\tb\r\n\nb\tc\r\n") == ([("a", "b", None), ("b", "c", None)], [])
    assert edges(tmp_path / "e.txt", "a b\nb  c\n") == ([("a", "b", None), ("b", "c", None)], [])
    found, remarks = edges(tmp_path / "e.tsv", "1\t2\t5\n2\t3\t5\n")
    assert found == [("1", "2", None), ("2", "3", None)]
    assert remarks == ["e.tsv has 3 columns and no head: the first two are read, citing and cited"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("e.tsv", "a\tb\nc\n", "e.tsv:2: has 1 cells, 2 were expected"),
        ("e.tsv", "a\tb\n\tc\n", "e.tsv:2: has an empty id"),
        ("e.tsv", "a\n", "e.tsv:1: has 1 cell"),
        ("e.tsv", "\n \n", "e.tsv: holds no row"),
        ("e.csv", 'src,dst\na,"b\n', "e.csv:2: is no sound row of CSV"),
        ("e.jsonl", '{"src":"a"}\n', "e.jsonl:1: has no id under dst"),
        ("e.jsonl", '{"src":"a","dst":["b"]}\n', "e.jsonl:1: has no id under dst"),
    ],
)
def test_malformed_edges(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        edges(tmp_path / name, text)


def test_judgements(tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    for text in ("query-id\tcorpus-id\tscore\nq\t1\t2\n", "q\t1\t2\n", "q 0 1 2\n"):
        path.write_text(text)
        assert [row[1:] for row in judgement_rows(path)] == [("q", "1", 2.0)]
    for text, words in (
        ("q\t1\tgood\n", "q.tsv:1: has a score that is no number"),
        ("q\t1\t1\nq\t1\tnan\n", "q.tsv:2: has a score that is no number"),
        ("q\t1\n", "q.tsv:1: has 2 cells, three were expected"),
        ("q\t1\t1\nq\t1\n", "q.tsv:2: has 2 cells, 3 were expected"),
        ("q\t\t1\n", "q.tsv:1: has an empty id"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            list(judgement_rows(path))


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a\tb\n1\t2\n")
    assert list(table_rows(path, ("b",))) == [(f"{path}:2", {"a": "1", "b": "2"})]
    with pytest.raises(InputError, match=r"t.tsv:1: lacks the column c \(columns: a, b\)"):
        list(table_rows(path, ("c",)))
    path.write_text("a\tb\n1\n")
    with pytest.raises(InputError, match=r"t\.tsv:2: has 1 cells"):
        list(table_rows(path, ("a",)))
