"""Tables of row numbers on their way into Parquet: each text is held once, what is said twice stands once."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sectioncls.corpora.rowgroups import ROWS_A_GROUP
from sectioncls.papersets.splits import SPLITS

__all__ = [
    "Facts",
    "Names",
    "Table",
    "counts_by_split",
    "first_of_each",
    "ranking_table",
    "split_column",
    "text_table",
    "topic_tables",
    "write_table",
]

Rows = NDArray[np.int64]
Column = NDArray[np.float64] | tuple[pa.Array, NDArray[Any]]
Table = dict[str, Column]
"""Columns by name: numbers, or (texts, the place of each row's text among them)."""


class Names:
    """Texts in the order in which they came, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Give the number of a text, the next one for a new text."""
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def texts(self) -> list[str]:
        """The texts; the position is the number."""
        return list(self._numbers)

    def array(self) -> pa.Array:
        """Give the texts as Arrow holds them."""
        return pa.array(self._numbers, pa.string())

    def ranks(self) -> Rows:
        """Give the place that each text has in the alphabet."""
        texts = self.texts
        ranks = np.empty(len(texts), dtype=np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return ranks


class Facts:
    """Rows of numbers, each with a value, in the order in which they came."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._numbers = array("q")
        self._values = array("d")

    def add(self, *numbers: int, value: float = 0.0) -> None:
        """Add a row."""
        self._numbers.extend(numbers)
        self._values.append(value)

    def rows(self) -> Rows:
        """Give all rows, (n, width)."""
        return np.array(self._numbers, dtype=np.int64).reshape(-1, self._width)

    def distinct(self, *, highest: bool = False) -> tuple[Rows, NDArray[np.float64], int]:
        """Give the different rows, sorted, their values, and how many were given again.

        The value is the first that a row was given with, or the highest.
        """
        rows, values = self.rows(), np.array(self._values, dtype=np.float64)
        order = np.argsort(-values, kind="stable") if highest else np.arange(len(rows))
        kept = order[first_of_each(rows[order])]
        return rows[kept], values[kept], len(rows) - len(kept)


def first_of_each(rows: Rows) -> Rows:
    """Give where each different row of (n, k) numbers stands first, in the order of the rows' numbers."""
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    order = np.lexsort(rows.T[::-1])  # stable: equal rows stay as they came
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order[new].astype(np.int64)


def counts_by_split(codes: NDArray[Any]) -> dict[str, int]:
    """Give {split: number of rows} for the numbers that rows' splits have."""
    return {name: int(np.sum(codes == code)) for code, name in enumerate(SPLITS)}


def split_column(codes: NDArray[Any]) -> Column:
    """Give the column of splits."""
    return pa.array(SPLITS), codes


def text_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Give rows of text as a table."""
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return {name: (pa.array(values, pa.string()), np.arange(len(values))) for name, values in columns.items()}


def topic_tables(
    ids: pa.Array,
    splits: NDArray[np.int8],
    known: Mapping[str, Mapping[str, str]],
    triples: Rows,
    collections: Names,
    topics: Names,
) -> tuple[Table, Table, dict[str, dict[str, int]]]:
    """Give the tables of topics and of which paper has which, both sorted, and the counts of each collection.

    ``known`` is {collection: {topic: definition}}, ``triples`` are different (collection, paper row, topic).
    """
    names, texts = collections.texts, topics.texts
    definitions = {collection: dict(inner) for collection, inner in known.items()}
    used = first_of_each(triples[:, [0, 2]])
    for collection, topic in triples[used][:, [0, 2]].tolist():
        definitions.setdefault(names[collection], {}).setdefault(texts[topic], "")
    rows = [
        (collection, topic, definition)
        for collection, inner in sorted(definitions.items())
        for topic, definition in sorted(inner.items())
    ]
    places = {(collection, topic): place for place, (collection, topic, _) in enumerate(rows)}
    places_of = np.array([places[names[a], texts[b]] for a, _, b in triples.tolist()], dtype=np.int64)
    set_of = np.array([collections.number(row[0]) for row in rows], dtype=np.int64)
    ranks = collections.ranks()
    order = np.lexsort((places_of, triples[:, 1], ranks[triples[:, 0]]))
    places_of, papers, sets = places_of[order], triples[order, 1], triples[order, 0]
    table: Table = {
        "collection": (collections.array(), sets),
        "paper": (ids, papers),
        "topic": (pa.array([row[1] for row in rows], pa.string()), places_of),
        "split": split_column(splits[papers]),
    }
    counts = {}
    for collection, inner in sorted(definitions.items()):
        mine = sets == collections.number(collection)
        counts[collection] = {
            "topics": int(np.sum(set_of == collections.number(collection))),
            "defined": sum(bool(definition) for definition in inner.values()),
            "papers": len(np.unique(papers[mine])),
            "pairs": int(mine.sum()),
        }
    return text_table(("collection", "name", "definition"), rows), table, counts


def ranking_table(
    ids: pa.Array, rows: Rows, grades: NDArray[np.float64], tasks: Names, queries: Names
) -> tuple[Table, dict[str, dict[str, dict[str, int]]]]:
    """Give the table of judgements, those of one query in a row, and {task: {split: counts}}.

    ``rows`` are different (task, split, query, paper row), each with its grade.
    """
    order = np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], tasks.ranks()[rows[:, 0]]))
    rows, grades = rows[order], grades[order]
    table: Table = {
        "task": (tasks.array(), rows[:, 0]),
        "query": (queries.array(), rows[:, 2]),
        "paper": (ids, rows[:, 3]),
        "score": grades,
        "split": split_column(rows[:, 1]),
    }
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for number, task in sorted(enumerate(tasks.texts), key=lambda item: item[1]):
        counts[task] = {}
        for code, split in enumerate(SPLITS):
            mine = (rows[:, 0] == number) & (rows[:, 1] == code)
            if mine.any():
                asked, positives = len(np.unique(rows[mine, 2])), int(np.sum(grades[mine] > 0))
                counts[task][split] = {"queries": asked, "pairs": int(mine.sum()), "positives": positives}
    return table, counts


def write_table(path: Path, table: Table, digest: hashlib._Hash) -> int:
    """Write a table as Parquet and give its rows; its name and cells go into the digest, texts by what they say."""
    columns: dict[str, pa.Array] = {}
    digest.update(f"\n{path.name}\n".encode())
    for head, column in table.items():
        digest.update(f"{head}\n".encode())
        if isinstance(column, tuple):
            values, places = column
            columns[head] = values.take(pa.array(places.astype(np.int64)))
            digest.update(_digests(values)[places].tobytes())
        else:
            columns[head] = pa.array(column)
            digest.update(np.ascontiguousarray(column, dtype="<f8").tobytes())
    written = pa.table(columns)
    pq.write_table(written, path, compression="zstd", row_group_size=ROWS_A_GROUP)
    return int(written.num_rows)


def _digests(values: pa.Array) -> NDArray[np.uint64]:
    """Give 8 bytes for each text, so that rows are hashed without building their texts."""
    hashed = (hashlib.blake2b(str(value).encode(), digest_size=8).digest() for value in values.to_pylist())
    return np.frombuffer(b"".join(hashed), dtype="<u8")
