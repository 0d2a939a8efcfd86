"""Articles set aside on disk while a stream is read, to be taken back sorted: memory stays constant.

What an article needs later stands in one file in the order of arrival; a SQLite table holds key and place. Both
are committed together, so that a build that was killed goes on from its last commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from sectioncls.errors import OutputError
from sectioncls.records import Rejected

__all__ = ["Packed", "Spill", "Stored", "pack", "text_digest", "unpack"]

COMMIT_SECONDS = 2.0
_SIZE_BYTES = 4
_TABLES = """
PRAGMA journal_mode = TRUNCATE;
PRAGMA synchronous = NORMAL;
PRAGMA temp_store = FILE;
CREATE TABLE IF NOT EXISTS containers (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY, container INT, key BLOB, here INT);
CREATE TABLE IF NOT EXISTS articles (document INT, id TEXT, source TEXT, place INT, digest INT, doi TEXT, text BLOB,
    near BLOB, counts TEXT, lacks TEXT, offset INT, size INT);
CREATE TABLE IF NOT EXISTS rejected (document INT, source TEXT, reason TEXT, detail TEXT, id TEXT);
DROP TABLE IF EXISTS bands;
DROP TABLE IF EXISTS pairs;
CREATE TABLE bands (key BLOB, id TEXT, number INT);
CREATE TABLE pairs (one TEXT, other TEXT, number INT, other_number INT, PRIMARY KEY (one, other)) WITHOUT ROWID;
CREATE TEMP TABLE twins (kind TEXT, key, id TEXT, PRIMARY KEY (kind, key));
"""


@dataclass(frozen=True, slots=True)
class Packed:
    """An article on its way to the spill: its keys, label counts of its sentences, and all else packed.

    ``place`` is the article's number in its file; ``lacks`` says why it is not wanted, empty if it is; ``text`` is
    a digest of its paragraphs, ``near`` their MinHash signature where one is asked for.
    """

    article_id: str
    source: str
    place: int
    counts: Mapping[str, int]
    lacks: str
    data: bytes
    doi: str = ""
    text: bytes = b""
    near: bytes = b""


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a packed article lies; ``twin`` is the smallest article with its DOI or text, and which of the two."""

    article_id: str
    source: str
    counts: Mapping[str, int]
    lacks: str
    offset: int
    size: int
    twin: tuple[str, str] | None = None
    number: int = 0


def text_digest(paragraphs: Iterable[str]) -> bytes:
    """Give 16 bytes that are equal for articles of the same words, in whatever case and white space."""
    words = " ".join("\n".join(paragraphs).casefold().split())
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def pack(value: Any) -> bytes:
    """Give a JSON-shaped value as compressed bytes, the same for the same value."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return len(data).to_bytes(_SIZE_BYTES, "big") + bytes(_codec().compress(data, asbytes=True))


def unpack(data: bytes) -> Any:
    """Give the value back."""
    size = int.from_bytes(data[:_SIZE_BYTES], "big")
    raw = _codec().decompress(data[_SIZE_BYTES:], decompressed_size=size, asbytes=True)
    return json.loads(raw.decode("utf-8", "surrogatepass"))


def _utf8(text: Any) -> Any:
    """Give a text that UTF-8 can hold: the name of a file may be any bytes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(text, str) else text


def _codec() -> Any:
    return pa.Codec("zstd", compression_level=1)


class Spill:
    """The set-aside documents, articles and rejections in a folder; a context manager that commits at a good end.

    A document is known by its container (archive or folder) and key. Opened on the folder of an interrupted build,
    it holds what was committed; every document of that time is absent until ``seen_before`` finds it again, and
    ``forget_absent`` drops those that were not: files that were changed or removed in between.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = (folder / "articles").open("a+b")
        self._keys = sqlite3.connect(folder / "keys.sqlite", isolation_level=None)
        self._keys.executescript(_TABLES)
        self._containers: dict[str, int] = {
            name: number for number, name in self._keys.execute("SELECT id, name FROM containers")
        }
        self._end: int = self._one("SELECT COALESCE(MAX(offset + size), 0) FROM articles")
        if self._file.seek(0, os.SEEK_END) < self._end:
            raise OutputError("is damaged", folder, "--overwrite to start anew")
        self._file.truncate(self._end)
        self.resumed: int = self._one("SELECT COUNT(*) FROM documents")
        """Documents that were there already."""
        self._keys.execute("BEGIN")
        if self.resumed:
            self._keys.execute("DELETE FROM rejected WHERE document IS NULL")  # verdicts of a writing that was cut off
            self._keys.execute("UPDATE documents SET here = 0")
            self._keys.execute("CREATE INDEX IF NOT EXISTS by_key ON documents (container, key, here)")
        self._committed = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:  # an error may have come in the middle of a document
                self.commit()
        finally:
            self._keys.close()
            with suppress(OSError):  # what is not committed is not missed
                self._file.close()

    def commit(self) -> None:
        """Keep all that was added, whatever happens next."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._keys.execute("COMMIT")
        self._keys.execute("BEGIN")
        self._committed = time.monotonic()

    def add(self, container: str, key: bytes, results: Iterable[Packed | Rejected]) -> None:
        """Set aside what a document gave; of an article that is not wanted only the keys."""
        document = self._keys.execute(
            "INSERT INTO documents (container, key, here) VALUES (?, ?, 1)", (self._container(container), key)
        ).lastrowid
        for result in results:
            if isinstance(result, Rejected):
                self._reject(result, document)
            else:
                self._add(result, document)
        if time.monotonic() - self._committed > COMMIT_SECONDS:
            self.commit()

    def reject(self, rejected: Rejected) -> None:
        """Set aside a rejection that no document brought."""
        self._reject(rejected, None)

    def _reject(self, rejected: Rejected, document: int | None) -> None:
        row = (_utf8(rejected.source), rejected.reason, _utf8(rejected.detail), _utf8(rejected.article_id))
        self._keys.execute("INSERT INTO rejected VALUES (?, ?, ?, ?, ?)", (document, *row))

    def _add(self, packed: Packed, document: int | None) -> None:
        data = b"" if packed.lacks else packed.data
        self._keys.execute(
            "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document,
                _utf8(packed.article_id),
                _utf8(packed.source),
                packed.place,
                zlib.crc32(packed.data),  # only orders articles of one name and place, whichever came first
                packed.doi or None,
                packed.text or None,
                packed.near or None,
                json.dumps(dict(packed.counts)),
                packed.lacks,
                self._end,
                len(data),
            ),
        )
        self._file.write(data)
        self._end += len(data)

    def seen_before(self, container: str, key: bytes) -> bool:
        """Tell whether an earlier call of this build has set the document aside; each copy of it counts once."""
        if not self.resumed:
            return False
        found = self._keys.execute(
            "SELECT id FROM documents WHERE container = ? AND key = ? AND here = 0 LIMIT 1",
            (self._container(container), key),
        ).fetchone()
        if found is None:
            return False
        self._keys.execute("UPDATE documents SET here = 1 WHERE id = ?", found)
        return True

    def keys_of(self, container: str) -> list[bytes]:
        """Give the keys of a container's documents that were set aside by an earlier call."""
        if not self.resumed:
            return []
        rows = self._keys.execute(
            "SELECT key FROM documents WHERE container = ? AND here = 0", (self._container(container),)
        )
        return [key for (key,) in rows]

    def forget_absent(self) -> None:
        """Drop what came from documents that are no longer there as they were."""
        if not self.resumed:
            return
        for table in ("articles", "rejected"):
            self._keys.execute(f"DELETE FROM {table} WHERE document IN (SELECT id FROM documents WHERE here = 0)")
        self._keys.execute("DELETE FROM documents WHERE here = 0")

    def counts(self) -> dict[str, int]:
        """Give the number of documents by container, sorted."""
        rows = self._keys.execute(
            "SELECT name, COUNT(*) FROM documents JOIN containers ON containers.id = container GROUP BY name"
        )
        return dict(sorted(rows))

    def found(self, filtered: Iterable[str] = ()) -> int:
        """Give the number of articles that were read, those rejected for one of the ``filtered`` reasons included."""
        reasons = list(filtered)
        marks = ", ".join("?" * len(reasons))
        left_out: int = self._one(f"SELECT COUNT(*) FROM rejected WHERE reason IN ({marks})", reasons)
        articles: int = self._one("SELECT COUNT(*) FROM articles")
        return articles + left_out

    def match_twins(self) -> None:
        """Find the articles with one DOI or one text under different ids; ``articles`` then tells of them."""
        for kind in ("doi", "text"):
            self._keys.execute(
                f"INSERT INTO twins SELECT '{kind}', {kind}, MIN(id) FROM articles"
                f" WHERE lacks = '' AND {kind} IS NOT NULL GROUP BY {kind} HAVING COUNT(DISTINCT id) > 1"
            )

    def articles(self) -> Iterator[Stored]:
        """Give the articles sorted by id, then source."""
        match = "(SELECT id FROM temp.twins WHERE kind = '{0}' AND key = articles.{0})"
        matches = ", ".join(match.format(kind) for kind in ("doi", "text"))
        rows = self._keys.execute(
            f"SELECT rowid, id, source, counts, lacks, offset, size, doi, {matches} FROM articles"
            " ORDER BY id, source, place, digest"
        )
        for number, article_id, source, counts, lacks, offset, size, doi, same_doi, same_text in rows:
            twin = None
            if same_doi is not None and same_doi != article_id:
                twin = (same_doi, f"DOI {doi}")
            elif same_text is not None and same_text != article_id:
                twin = (same_text, "text")
            yield Stored(article_id, source, json.loads(counts), lacks, offset, size, twin, number)

    def signature(self, stored: Stored) -> bytes:
        """Give the MinHash signature of an article, nothing where it has none."""
        signed: bytes | None = self._one("SELECT near FROM articles WHERE rowid = ?", (stored.number,))
        return signed or b""

    def add_bands(self, stored: Stored, keys: Iterable[bytes]) -> None:
        """Set the bands of an article's signature aside."""
        rows = ((key, stored.article_id, stored.number) for key in keys)
        self._keys.executemany("INSERT INTO bands VALUES (?, ?, ?)", rows)

    def bands(self) -> Iterator[tuple[bytes, str, int]]:
        """Give (key, id, number) of all bands, sorted."""
        yield from self._keys.execute("SELECT key, id, number FROM bands ORDER BY key, id")

    def propose(self, pairs: Iterable[tuple[Any, ...]]) -> None:
        """Set pairs of articles aside, each (id, number, other's id, other's number), the same pair once."""
        self._keys.executemany(
            "INSERT OR IGNORE INTO pairs (one, number, other, other_number) VALUES (?, ?, ?, ?)", pairs
        )

    def proposed(self) -> Iterator[tuple[str, str, bytes, bytes]]:
        """Give (id, other's id, signature, other's signature) of the pairs, sorted."""
        yield from self._keys.execute(
            "SELECT one, other, a.near, b.near FROM pairs JOIN articles a ON a.rowid = number"
            " JOIN articles b ON b.rowid = other_number ORDER BY one, other"
        )

    def load(self, stored: Stored) -> Any:
        """Give the packed value of an article."""
        self._file.seek(stored.offset)
        return unpack(self._file.read(stored.size))

    def rejections(self) -> Iterator[Rejected]:
        """Give the rejections sorted by source, then reason and id."""
        rows = self._keys.execute("SELECT source, reason, detail, id FROM rejected ORDER BY source, reason, id, detail")
        for source, reason, detail, article_id in rows:
            yield Rejected(source, reason, detail, article_id)

    def _container(self, name: str) -> int:
        name = _utf8(name)
        if name not in self._containers:
            number = self._keys.execute("INSERT INTO containers (name) VALUES (?)", (name,)).lastrowid
            assert number is not None
            self._containers[name] = number
        return self._containers[name]

    def _one(self, query: str, values: Iterable[Any] = ()) -> Any:
        return self._keys.execute(query, tuple(values)).fetchone()[0]
