"""Articles set aside on disk while a stream is read, to be taken back sorted: memory stays constant.

What an article needs later stands in one file in the order of arrival; a SQLite table holds key and place.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sectioncls.records import Rejected

__all__ = ["Packed", "Spill", "Stored", "pack", "unpack"]


@dataclass(frozen=True, slots=True)
class Packed:
    """An article on its way to the spill: its key, label counts of its sentences, and all else packed.

    ``place`` is the article's number in its file; ``lacks`` says why it is not wanted, empty if it is.
    """

    article_id: str
    source: str
    place: int
    counts: Mapping[str, int]
    lacks: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a packed article lies."""

    article_id: str
    source: str
    counts: Mapping[str, int]
    lacks: str
    offset: int
    size: int


def pack(value: Any) -> bytes:
    """Give a JSON-shaped value as compressed bytes, the same for the same value."""
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8"), 1)


def unpack(data: bytes) -> Any:
    """Give the value back."""
    return json.loads(zlib.decompress(data))


class Spill:
    """The set-aside articles and rejections; a context manager that closes its files."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / "articles").open("w+b")
        self._keys = sqlite3.connect(folder / "keys.sqlite")
        self._end = 0
        self._keys.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;"
            "CREATE TABLE articles (id TEXT, source TEXT, place INT, digest INT, counts TEXT, lacks TEXT,"
            " offset INT, size INT);"
            "CREATE TABLE rejected (source TEXT, reason TEXT, detail TEXT, id TEXT);"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._keys.close()
        self._file.close()

    def add(self, packed: Packed) -> None:
        """Set an article aside; of one that is not wanted only the key."""
        data = b"" if packed.lacks else packed.data
        self._keys.execute(
            "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                packed.article_id,
                packed.source,
                packed.place,
                zlib.crc32(packed.data),  # only orders articles of one name and place, whichever came first
                json.dumps(dict(packed.counts)),
                packed.lacks,
                self._end,
                len(data),
            ),
        )
        self._file.write(data)
        self._end += len(data)

    def reject(self, rejected: Rejected) -> None:
        """Set a rejection aside."""
        self._keys.execute(
            "INSERT INTO rejected VALUES (?, ?, ?, ?)",
            (rejected.source, rejected.reason, rejected.detail, rejected.article_id),
        )

    def articles(self) -> Iterator[Stored]:
        """Give the articles sorted by id, then source."""
        rows = self._keys.execute(
            "SELECT id, source, counts, lacks, offset, size FROM articles ORDER BY id, source, place, digest"
        )
        for article_id, source, counts, lacks, offset, size in rows:
            yield Stored(article_id, source, json.loads(counts), lacks, offset, size)

    def load(self, stored: Stored) -> Any:
        """Give the packed value of an article."""
        self._file.seek(stored.offset)
        return unpack(self._file.read(stored.size))

    def rejections(self) -> Iterator[Rejected]:
        """Give the rejections sorted by source, then reason and id."""
        rows = self._keys.execute("SELECT source, reason, detail, id FROM rejected ORDER BY source, reason, id, detail")
        for source, reason, detail, article_id in rows:
            yield Rejected(source, reason, detail, article_id)
