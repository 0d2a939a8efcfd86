"""What an audit keeps of each sentence: numbers and hashes, never the text; and the reading that gives them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sectioncls.corpora import Corpus
from sectioncls.corpora.writer import CORE_FIELDS
from sectioncls.errors import InputError

__all__ = ["Array", "Batch", "Rows", "RowsReader", "cells", "digests", "normalised", "read_batches"]

Array = npt.NDArray[Any]

ROWS_A_BATCH = 16_384


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of one split as Arrow columns; ``first`` is the number of its first row in the whole corpus."""

    split: str
    first: int
    columns: pa.RecordBatch

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def values(self, column: str) -> list[Any]:
        """Give a column as Python values."""
        found: list[Any] = self.columns.column(column).to_pylist()
        return found


def read_batches(corpus: Corpus, columns: Sequence[str] | None = None) -> Iterator[Batch]:
    """Give the rows of a corpus, train before dev before test, in batches (all columns where none are named).

    Raises InputError when a file can't be read, lacks a column, or holds no value in one of those named.
    """
    first = 0
    for split in corpus.splits:
        path = corpus.path / f"{split}.parquet"
        try:
            with pq.ParquetFile(path) as file:
                for name in columns or CORE_FIELDS:
                    if name not in file.schema_arrow.names:
                        raise InputError(f"lacks the column {name}", path, "build the corpus again")
                    if file.schema_arrow.field(name).type != CORE_FIELDS[name]:
                        raise InputError(f"has no {CORE_FIELDS[name]} under {name}", path, "build the corpus again")
                for part in file.iter_batches(ROWS_A_BATCH, columns=None if columns is None else list(columns)):
                    hollow = [name for name in columns or () if part.column(name).null_count]
                    if hollow:
                        raise InputError(f"has rows without {', '.join(hollow)}", path, "build the corpus again")
                    yield Batch(split, first, part)
                    first += part.num_rows
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"can't be read as Parquet: {error}", path, "build the corpus again") from error


def cells(corpus: Corpus, rows: Iterable[int], columns: Sequence[str]) -> dict[int, tuple[Any, ...]]:
    """Give the cells of some rows, by their number in the whole corpus."""
    wanted = np.unique(np.fromiter(rows, dtype=np.int64))
    found: dict[int, tuple[Any, ...]] = {}
    if not len(wanted):
        return found
    for batch in read_batches(corpus, columns):
        low, high = np.searchsorted(wanted, [batch.first, batch.first + len(batch)])
        if low < high:
            part = batch.columns.take(pa.array(wanted[low:high] - batch.first))
            values = zip(*(part.column(name).to_pylist() for name in columns), strict=True)
            found.update(zip(wanted[low:high].tolist(), values, strict=True))
    return found


def normalised(text: str) -> str:
    """Give a text without what makes no sentence another one: case and the amount of white space."""
    return " ".join(text.casefold().split())


def digests(texts: Iterable[str]) -> npt.NDArray[np.uint64]:
    """Give 64 bits of a hash for each text: ten million different ones collide with a chance of 3 in a million."""
    found = (hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(found), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The sentences of a corpus as parallel arrays, in the order of its files, train before dev before test.

    ``split`` is a position in ``splits``, ``article`` one in ``article_ids``, ``label`` one in ``labels``,
    ``index`` the place in the article. ``text`` is a position in ``hashes``, the hashes of the different
    normalised texts, sorted; ``first_row`` is the first row of each. ``words`` counts words as white space parts
    them, ``letters`` says whether there is a letter at all.
    """

    splits: tuple[str, ...]
    labels: tuple[str, ...]
    article_ids: tuple[str, ...]
    has_articles: bool
    split: Array
    article: Array
    index: Array
    label: Array
    text: Array
    hashes: Array
    first_row: Array
    words: Array
    letters: Array

    def __len__(self) -> int:
        return len(self.split)

    def of(self, split: int) -> npt.NDArray[np.bool_]:
        """Give the mask of a split's rows."""
        return np.asarray(self.split == split)

    def splits_of_texts(self) -> npt.NDArray[np.uint8]:
        """Give for each text the set of splits in which it stands, as bits."""
        bits = np.zeros(len(self.first_row), dtype=np.uint8)
        np.bitwise_or.at(bits, self.text, np.left_shift(1, self.split).astype(np.uint8))
        return bits


class RowsReader:
    """Takes the batches of a corpus one by one and gives its Rows in the end."""

    COLUMNS = ("article_id", "index", "text", "label")

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._articles: dict[str, int] = {}
        self._parts: dict[str, list[Array]] = {
            name: [] for name in ("split", "article", "index", "label", "text", "words", "letters")
        }

    def add(self, batch: Batch) -> tuple[list[str], Array]:
        """Keep what is needed of a batch; give its texts normalised, and their hashes."""
        labels = pc.index_in(batch.columns.column("label"), value_set=pa.array(self._corpus.labels))
        if labels.null_count:
            raise InputError("has a label outside the scheme", self._corpus.path / f"{batch.split}.parquet")
        texts = [normalised(text) for text in batch.values("text")]
        hashes = digests(texts)
        number = self._articles.setdefault
        articles = np.array([number(name, len(self._articles)) for name in batch.values("article_id")], dtype=np.int32)
        found = {
            "split": np.full(len(batch), self._corpus.splits.index(batch.split), dtype=np.int8),
            "article": articles,
            "index": batch.columns.column("index").to_numpy().astype(np.int32),
            "label": labels.to_numpy().astype(np.int16),
            "text": hashes,
            "words": np.array([text.count(" ") + 1 if text else 0 for text in texts], dtype=np.int32),
            "letters": np.array([any(map(str.isalpha, text)) for text in texts], dtype=np.bool_),
        }
        for name, values in found.items():
            self._parts[name].append(values)
        return texts, hashes

    def rows(self) -> Rows:
        """Give all rows that were added."""
        whole = {name: np.concatenate(parts) if parts else np.zeros(0, np.int64) for name, parts in self._parts.items()}
        hashes, first_row, text = np.unique(whole.pop("text"), return_index=True, return_inverse=True)
        return Rows(
            splits=self._corpus.splits,
            labels=self._corpus.labels,
            article_ids=tuple(self._articles),
            has_articles=self._corpus.info.has_articles,
            text=text.astype(np.int32),
            hashes=hashes,
            first_row=first_row,
            **whole,
        )
