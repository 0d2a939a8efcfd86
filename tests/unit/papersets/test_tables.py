"""Rows of numbers: what stands twice, and how tables are written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sectioncls.papersets.tables import Facts, Names, counts_by_split, first_of_each, text_table, write_table


def test_first_of_each_against_a_loop() -> None:
    rows = np.random.default_rng(0).integers(0, 4, (200, 3))
    first: dict[tuple[int, ...], int] = {}
    for place, row in enumerate(rows.tolist()):
        first.setdefault(tuple(row), place)
    assert first_of_each(rows).tolist() == [first[row] for row in sorted(first)]
    assert len(first_of_each(np.empty((0, 2), dtype=np.int64))) == 0


def test_facts() -> None:
    facts = Facts(2)
    for row, value in (((3, 1), 1.0), ((0, 2), 5.0), ((3, 1), 4.0)):
        facts.add(*row, value=value)
    rows, values, again = facts.distinct()
    assert (rows.tolist(), values.tolist(), again) == ([[0, 2], [3, 1]], [5.0, 1.0], 1)
    assert facts.distinct(highest=True)[1].tolist() == [5.0, 4.0]
    assert facts.rows().tolist() == [[3, 1], [0, 2], [3, 1]]


def test_names() -> None:
    names = Names()
    assert [names.number(text) for text in ("wool", "bell", "wool")] == [0, 1, 0]
    assert names.texts == ["wool", "bell"]
    assert names.ranks().tolist() == [1, 0]


def test_writing(tmp_path: Path) -> None:
    table = {"who": (pa.array(["a", "b"]), np.array([1, 0, 1])), "value": np.array([0.5, 1.0, 2.0])}
    digest = hashlib.sha256()
    assert write_table(tmp_path / "t.parquet", table, digest) == 3
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == {"who": ["b", "a", "b"], "value": [0.5, 1.0, 2.0]}
    same, other = hashlib.sha256(), hashlib.sha256()
    write_table(tmp_path / "t.parquet", {**table, "who": (pa.array(["b", "a"]), np.array([0, 1, 0]))}, same)
    write_table(tmp_path / "t.parquet", {**table, "who": (pa.array(["b", "a"]), np.array([1, 0, 1]))}, other)
    assert digest.hexdigest() == same.hexdigest() != other.hexdigest()


def test_counts_and_texts() -> None:
    assert counts_by_split(np.array([0, 2, 2])) == {"train": 1, "dev": 0, "test": 2}
    table = text_table(("a", "b"), [("x", "y"), ("z", "w")])
    assert table["b"][0].to_pylist() == ["y", "w"]
