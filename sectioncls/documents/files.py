"""Finding documents in files, folders and archives: streaming, bounded, without following links.

Nothing is unpacked to disk. Bytes are counted as they really come; a declared size is never trusted.
"""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self, cast

from sectioncls.documents.pubmed import set_head, split_records
from sectioncls.documents.streams import Bounded, Budget, TooLarge
from sectioncls.documents.xml import MAX_BYTES
from sectioncls.errors import DocumentRejected, InputError
from sectioncls.records import Rejected

__all__ = ["ALL_SUFFIXES", "XML_SUFFIXES", "Document", "find_documents", "open_documents", "walk_files"]

XML_SUFFIXES = (".nxml", ".tei", ".xml")
"""Names of XML documents end so."""
ALL_SUFFIXES = (*XML_SUFFIXES, ".markdown", ".md", ".pdf", ".txt")
"""Names of all documents that we read end so."""

_PACKED = (".gz", ".xz")
_ARCHIVES = (".tar", ".zip", ".tgz", ".txz")
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile)
_NAME_TYPES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_LONGEST_NAME = 1 << 20
_HEAD = 4096
_PIPE = 16 << 20  # the size that is taken for a pipe's, which tells none
_INVALID_HEADER: type[Exception] = cast(Any, tarfile).InvalidHeaderError
_TRUNCATED_HEADER: type[Exception] = cast(Any, tarfile).TruncatedHeaderError


@dataclass(frozen=True, slots=True)
class Document:
    """One document as bytes; ``name`` is its path, or ``archive!member``, with ``#n`` for a record of a PubMed set."""

    name: str
    data: bytes


def find_documents(paths: Iterable[Path], *, suffixes: tuple[str, ...] = XML_SUFFIXES) -> Iterator[Document | Rejected]:
    """Give every document of files, folders (sorted, with what is below) and archives, or why it was left out.

    In folders and archives documents are known by their ``suffixes``, also inside ``.gz .xz .tar .tar.gz .tgz
    .tar.xz .zip``; a file that is named itself is read whatever its name. Each record of a PubMed set is a document
    of its own, so a set may be of any size. Raises InputError for a path that is missing or unreadable.
    """
    for path in map(Path, paths):
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror or error}", path, "check the path") from error
        if stat.S_ISDIR(mode):
            yield from _folder(path, suffixes)
        elif stat.S_ISREG(mode):
            try:
                with path.open("rb"):
                    pass
            except OSError as error:
                raise InputError(f"can't be read: {error.strerror or error}", path) from error
            yield from _file(path, suffixes)
        else:
            raise InputError("is neither a file nor a folder", path)


def open_documents(name: str, stream: IO[bytes]) -> Iterator[Document | Rejected]:
    """Give the documents of an open stream, such as standard input: one, or those of a tar or a PubMed set."""
    try:
        bounded = Bounded(stream, _PIPE)
        if bounded.peek(4) == b"PK\x03\x04":
            yield Rejected(name, "unreadable", "a zip archive can't be read from a pipe")
        else:
            yield from _stream(name, bounded, ALL_SUFFIXES)
    except _BROKEN as error:
        yield Rejected(name, "unreadable", _words(error))
    except TooLarge as error:
        yield Rejected(name, "too-large", str(error))


def walk_files(folder: Path, suffixes: tuple[str, ...] = XML_SUFFIXES) -> Iterator[Path | Rejected]:
    """Give every document and archive below a folder, sorted, or why one is not opened: links are not followed."""

    def refused(error: OSError) -> None:
        failures.append(Rejected(str(error.filename), "unreadable", error.strerror or str(error)))

    failures: list[Rejected] = []
    for place, folders, files in os.walk(folder, onerror=refused):
        yield from failures
        failures.clear()
        folders.sort()
        for name in folders:
            if Path(place, name).is_symlink():
                yield Rejected(str(Path(place, name)), "unreadable", "a link, which is not followed")
        for name in sorted(files):
            path = Path(place, name)
            if not _wanted(name, suffixes):
                continue
            if path.is_symlink():
                yield Rejected(str(path), "unreadable", "a link, which is not followed")
            elif not path.is_file():
                yield Rejected(str(path), "unreadable", "not a regular file")
            else:
                yield path
    yield from failures


def _folder(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Document | Rejected]:
    for found in walk_files(folder, suffixes):
        if isinstance(found, Rejected):
            yield found
        else:
            yield from _file(found, suffixes)


def _wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    """Tell whether a name promises a document or an archive of them."""
    name = name.lower()
    return not name.startswith("._") and name.endswith((*suffixes, *_PACKED, *_ARCHIVES))


def _file(path: Path, suffixes: tuple[str, ...]) -> Iterator[Document | Rejected]:
    """Give the documents of one regular file; its first bytes tell what it is."""
    name = str(path)
    try:
        with path.open("rb") as stream:
            if stream.read(4) == b"PK\x03\x04":
                yield from _zip(path, suffixes)
                return
            stream.seek(0)
            size = os.fstat(stream.fileno()).st_size
            yield from _stream(name, Bounded(stream, size), suffixes)
    except _BROKEN as error:
        yield Rejected(name, "unreadable", _words(error))
    except TooLarge as error:
        yield Rejected(name, "too-large", str(error))


def _stream(name: str, stream: Bounded, suffixes: tuple[str, ...]) -> Iterator[Document | Rejected]:
    """Give the documents of an unpacked stream: a tar, a set of records, or one document."""
    head = stream.peek(_HEAD)
    if head[257:262] == b"ustar" or (name.lower().endswith((".tar", ".tgz", ".txz", ".tar.gz", ".tar.xz")) and head):
        yield from _tar(name, stream, suffixes)
    else:
        yield from _documents(name, stream)


def _tar(name: str, stream: Bounded, suffixes: tuple[str, ...]) -> Iterator[Document | Rejected]:
    with tarfile.open(fileobj=cast(Any, stream), mode="r|", tarinfo=_Member) as archive:
        for member in archive:
            cast(Any, archive).members = []  # the list would grow with the archive
            inner = f"{name}!{member.name}"
            if member.isdir() or not _wanted(PurePosixPath(member.name).name, suffixes):
                continue
            refusal = _refusal(member.name, link=not member.isreg())
            if refusal:
                yield Rejected(inner, "unreadable", refusal)
                continue
            content = archive.extractfile(member)
            if content is not None:
                yield from _member(inner, content, member.size)


class _Member(tarfile.TarInfo):
    """A member of an archive; a damaged header is an error, where tarfile would end without a word."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Give the member of a header block; raises tarfile.ReadError."""
        try:
            member = super().frombuf(buf, encoding, errors)
        except (_INVALID_HEADER, _TRUNCATED_HEADER) as error:
            raise tarfile.ReadError(f"a damaged archive: {error}") from error
        if member.type in _NAME_TYPES and member.size > _LONGEST_NAME:
            raise tarfile.ReadError("a name of more than a mebibyte")
        return member


def _zip(path: Path, suffixes: tuple[str, ...]) -> Iterator[Document | Rejected]:
    budget = Budget(path.stat().st_size)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            inner = f"{path}!{member.filename}"
            if member.is_dir() or not _wanted(PurePosixPath(member.filename).name, suffixes):
                continue
            refusal = _refusal(member.filename, link=stat.S_ISLNK(member.external_attr >> 16))
            if member.flag_bits & 1:
                refusal = "encrypted"
            if refusal:
                yield Rejected(inner, "unreadable", refusal)
                continue
            try:
                with archive.open(member) as content:
                    for document in _member(inner, content, member.compress_size):
                        budget.spend(len(document.data) if isinstance(document, Document) else MAX_BYTES)
                        yield document
            except (*_BROKEN, NotImplementedError, RuntimeError) as error:
                yield Rejected(inner, "unreadable", _words(error))


def _refusal(name: str, *, link: bool) -> str | None:
    """Give why a member of an archive is not opened, None when it may be."""
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        return "a name that leads outside of the archive"
    if link:
        return "a link or device, which is not followed"
    if name.lower().endswith((*_ARCHIVES, ".tar.gz", ".tar.xz")):
        return "an archive inside an archive"
    return None


def _member(name: str, content: IO[bytes], size: int) -> Iterator[Document | Rejected]:
    """Give the documents of a member of an archive, which may be packed itself."""
    try:
        yield from _documents(name, Bounded(content, size))
    except TooLarge as error:
        yield Rejected(name, "too-large", str(error))
    except (zlib.error, lzma.LZMAError, EOFError) as error:
        yield Rejected(name, "unreadable", _words(error))


def _documents(name: str, stream: Bounded) -> Iterator[Document | Rejected]:
    """Give a stream as one document, or as one for each record of the PubMed set that it holds."""
    if set_head(stream.peek(_HEAD)) is None:
        yield _document(name, stream)
        return
    try:
        for number, record in enumerate(split_records(stream), start=1):
            yield Document(f"{name}#{number}", record)
    except DocumentRejected as error:
        yield Rejected(name, error.reason, error.detail)


def _document(name: str, stream: Bounded) -> Document | Rejected:
    pieces: list[bytes] = []
    size = 0
    while piece := stream.read(1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            return Rejected(name, "too-large", f"more than {MAX_BYTES >> 20} MiB")
    return Document(name, b"".join(pieces))


def _words(error: BaseException) -> str:
    strerror = getattr(error, "strerror", None)
    return " ".join(str(strerror or error or type(error).__name__).split())
