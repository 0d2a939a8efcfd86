"""Records of foreign files and the paths into them."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from sectioncls.corpora import records as room
from sectioncls.corpora.records import lookup, read_records
from sectioncls.errors import InputError


def read(path: Path, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(where.removeprefix(str(path)), dict(record)) for where, record in read_records(path, paths=(), **options)]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", 1),
        ("b.c", "x"),
        ("b.list.1", 20),
        ("b.list.9", None),
        ("parts.text", ["one", "two", None]),
        ("parts.meta.id", [1, None, None]),
        ("dotted.key", "whole"),
        ("a.b", None),
        ("none", None),
        ("none.x", None),
    ],
)
def test_lookup(path: str, value: Any) -> None:
    record = {
        "a": 1,
        "b": {"c": "x", "list": [10, 20]},
        "parts": [{"text": "one", "meta": {"id": 1}}, {"text": "two"}, {}],
        "dotted.key": "whole",
    }
    assert lookup(record, path) == value


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,text\n1,"a, b"\n\n2,"say ""x"""\n3,"two\nlines"\n')
    assert read(tmp_path / "a.csv") == [
        (":2", {"id": "1", "text": "a, b"}),
        (":4", {"id": "2", "text": 'say "x"'}),
        (":6", {"id": "3", "text": "two\nlines"}),
    ]
    (tmp_path / "b.txt").write_text('1\tA "quote\n2\tB\n')
    assert read(tmp_path / "b.txt", columns=("id", "text"))[0] == (":1", {"id": "1", "text": 'A "quote'})
    (tmp_path / "c.txt").write_text("A|B|C\n")
    assert read(tmp_path / "c.txt", columns=("a", "b", "c"), delimiter="|")[0][1] == {"a": "A", "b": "B", "c": "C"}
    (tmp_path / "b.txt").write_text("1\tA\n2\tB\tC\n")
    with pytest.raises(InputError, match=r"b\.txt:2: has 3 cells, 2 were expected \(id, text\)"):
        read(tmp_path / "b.txt", columns=("id", "text"))
    (tmp_path / "a.csv").write_text('id,text\n1,"a" b\n')
    with pytest.raises(InputError, match=r"a\.csv:2: is no sound table"):
        read(tmp_path / "a.csv")


def test_one_json_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json.xz"
    file.write_bytes(lzma.compress(json.dumps({"x": {"t": 1}, "y": {"t": 2}}).encode()))
    assert read(file) == [(":record x", {"_key": "x", "t": 1}), (":record y", {"_key": "y", "t": 2})]
    file.write_bytes(lzma.compress(b'[{"t": 1}, 3]'))
    with pytest.raises(InputError, match="record 1: is not a JSON object"):
        read(file)
    file.write_bytes(lzma.compress(b"[\xff]"))
    with pytest.raises(InputError, match="is not UTF-8"):
        read(file)
    monkeypatch.setattr(room, "LARGEST_JSON", 10)
    file.write_bytes(lzma.compress(b" " * 100))
    with pytest.raises(InputError, match="write it as JSON lines"):
        read(file)


def test_unknown_forms(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("x")
    with pytest.raises(InputError, match="is of no known form"):
        read(tmp_path / "a.xlsx")
