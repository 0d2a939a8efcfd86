"""The files that a build reads: listed here, opened by whoever reads them, known again when a build goes on."""

from __future__ import annotations

import hashlib
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sectioncls.documents import Document, find_documents, walk_files
from sectioncls.errors import InputError
from sectioncls.records import Rejected

__all__ = [
    "Item",
    "Meter",
    "Source",
    "Watched",
    "container_of",
    "key_of",
    "list_sources",
    "open_source",
    "total_size",
    "unfold",
]

_BULK = (".gz", ".xz", ".tar", ".zip", ".tgz", ".txz")
_BULK_SIZE = 8 << 20  # a plain file that is larger may be a set of records


@dataclass(frozen=True, slots=True)
class Source:
    """A regular file of one document or many; ``changed`` is when it was written, in nanoseconds."""

    name: str
    size: int
    changed: int

    @property
    def is_bulk(self) -> bool:
        """Tell whether the file may hold many documents, as an archive does."""
        return self.size > _BULK_SIZE or self.name.lower().endswith(_BULK)


Item = Source | Document | Rejected


class Meter:
    """A stream of items that tells how far it has come; iterated once.

    ``size`` is the bytes of all its files, 0 where nobody knows.
    """

    def __init__(self, items: Iterable[Item], size: int = 0) -> None:
        self._items = items
        self._size = size
        self._passed = 0
        self.skipped = 0
        """Documents that need no reading."""

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            yield item
            self._passed += item.size if isinstance(item, Source) else 0

    def expected(self, done: int) -> int | None:
        """Give how many documents will have been read when ``done`` have been, None while nothing can be said."""
        if not self._size or not self._passed:
            return None
        return max(done, round((done + self.skipped) * self._size / self._passed) - self.skipped)


class Watched:
    """The containers of the documents as they are done; ``expected`` gives how many there will be, as far as known."""

    def __init__(self, done: Iterable[str], meter: Meter) -> None:
        self._done = done
        self._meter = meter
        self._count = 0

    def __iter__(self) -> Iterator[str]:
        for container in self._done:
            self._count += 1
            yield container

    def expected(self) -> int | None:
        """Give the number of documents that will be done at the end, None while nothing can be said."""
        return self._meter.expected(self._count)


def list_sources(paths: Iterable[str | Path]) -> Iterator[Source | Rejected]:
    """Give the files that find_documents would read, in its order, without opening them.

    An archive that is named twice is given once, links are not followed. Raises InputError for a path that is
    missing or unreadable.
    """
    bulk: set[str] = set()
    for path in map(Path, paths):
        for item in _walk(path) if path.is_dir() else _named(path):
            if isinstance(item, Source) and item.is_bulk:
                if item.name in bulk:
                    continue
                bulk.add(item.name)
            yield item


def total_size(paths: Iterable[str | Path]) -> int:
    """Give the bytes of the files that list_sources gives."""
    return sum(item.size for item in list_sources(paths) if isinstance(item, Source))


def open_source(source: Source) -> Iterator[Document | Rejected]:
    """Give the documents of a file, or why there are none."""
    try:
        yield from find_documents([Path(source.name)])
    except InputError as error:
        yield Rejected(source.name, "unreadable", error.what)


def unfold(items: Iterable[Item]) -> Iterator[Item]:
    """Give the items with each archive replaced by what it holds: one stream of bytes has one reader."""
    for item in items:
        if isinstance(item, Source) and item.is_bulk:
            yield from open_source(item)
        else:
            yield item


def container_of(item: Item) -> str:
    """Give the archive or folder that an item came from."""
    name = item.source if isinstance(item, Rejected) else item.name
    outer, bang, _ = name.partition("!")
    return outer if bang else str(Path(name).parent)


def key_of(item: Item) -> bytes:
    """Give 16 bytes that are others when the item is another or has changed."""
    if isinstance(item, Source):
        words = f"{item.name}\0{item.size}\0{item.changed}"
    elif isinstance(item, Document):
        words = f"{item.name}\0{len(item.data)}\0{zlib.crc32(item.data)}"
    else:
        words = f"{item.source}\0{item.reason}\0{item.detail}"
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _named(path: Path) -> Iterator[Source | Rejected]:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise InputError("is neither a file nor a folder", path)
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path, "check the path") from error
    yield Source(str(path), about.st_size, about.st_mtime_ns)


def _walk(folder: Path) -> Iterator[Source | Rejected]:
    for found in walk_files(folder):
        yield found if isinstance(found, Rejected) else _found(found)


def _found(path: Path) -> Source | Rejected:
    try:
        about = path.lstat()
    except OSError as error:
        return Rejected(str(path), "unreadable", error.strerror or str(error))
    return Source(str(path), about.st_size, about.st_mtime_ns)
