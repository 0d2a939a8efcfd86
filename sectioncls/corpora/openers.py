"""Reading lines from plain, .gz, .xz, .zip and .7z files, with file and line number in every error."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from sectioncls.errors import InputError

__all__ = ["COMPRESSIONS", "find_split_files", "open_bytes", "read_lines", "source_path"]

COMPRESSIONS = (".gz", ".xz", ".bz2", ".zip", ".7z")
LONGEST_LINE = 16 * 2**20
_FREE = 64 << 20  # unpacked bytes that need no justification
_RATIO = 200  # most that a packed byte may become, beyond that
_SPLIT_STEMS = {
    "train": "train",
    "dev": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
}
_BROKEN = (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile, NotImplementedError)


def source_path(path: str | Path) -> Path:
    """Give the path on, or raise InputError when nothing is there or it can't be looked at."""
    path = Path(path)
    try:
        path.stat()
    except FileNotFoundError as error:
        raise InputError("does not exist", path) from error
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path) from error
    return path


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Give the unpacked bytes of a file as a stream; archives must hold exactly one file.

    Raises InputError for a file that is missing, unreadable, empty or broken, also while it is read.
    """
    source_path(path)
    try:
        if path.is_file() and path.stat().st_size == 0:
            raise InputError("is empty", path)
        with _unpacked(path) as handle:
            yield handle
    except _BROKEN as error:
        raise InputError(f"is cut off or broken: {error}", path, "fetch it again") from error
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path) from error


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Give the stream for the file's last suffix."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        with gzip.open(path) as handle:
            yield cast("IO[bytes]", handle)
    elif suffix == ".xz":
        with lzma.open(path) as handle:
            yield cast("IO[bytes]", handle)
    elif suffix == ".bz2":
        with bz2.open(path) as handle:
            yield cast("IO[bytes]", handle)
    elif suffix == ".zip":
        with zipfile.ZipFile(path) as archive, _zip_member(path, archive) as handle:
            yield handle
    elif suffix == ".7z":
        with _seven_zip_member(path) as handle:
            yield handle
    else:
        with path.open("rb") as handle:
            yield handle


def _zip_member(path: Path, archive: zipfile.ZipFile) -> IO[bytes]:
    """Give the only file of a zip archive; system droppings (``__MACOSX``) don't count."""
    members = [
        member for member in archive.infolist() if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise InputError(f"holds {len(members)} files, one was expected", path, "unpack it first")
    if members[0].flag_bits & 1:
        raise InputError("is encrypted", path)
    return archive.open(members[0])


@contextmanager
def _seven_zip_member(path: Path) -> Iterator[IO[bytes]]:
    """Give the only file of a 7z archive, unpacked into a temporary folder that goes away afterwards."""
    try:
        import py7zr
    except ImportError as error:
        raise InputError("is a 7z archive", path, "pip install 'sectioncls[7z]', or unpack it first") from error
    with tempfile.TemporaryDirectory(prefix="sectioncls-") as folder:
        try:
            with py7zr.SevenZipFile(path) as archive:
                members = [member for member in archive.list() if not member.is_directory]
                if len(members) != 1:
                    raise InputError(f"holds {len(members)} files, one was expected", path, "unpack it first")
                archive.extract(path=folder, targets=[members[0].filename])
        except (py7zr.exceptions.ArchiveError, py7zr.exceptions.PasswordRequired) as error:
            raise InputError(f"is cut off or broken: {error}", path, "fetch it again") from error
        target = Path(folder) / members[0].filename
        if target.is_symlink() or not target.is_file():
            raise InputError("holds no plain file", path)
        with target.open("rb") as handle:
            yield handle


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Give (line number from 1, line without its end) for each line of a UTF-8 file, packed or not.

    Only LF and CRLF end a line. Raises InputError with ``file:line`` for bytes that are not UTF-8, for a line
    beyond 16 MiB, for a file that unpacks to more than its size can justify, and for an empty file.
    """
    number = 0
    left = _FREE + _RATIO * source_path(path).stat().st_size
    with open_bytes(path) as handle:
        while raw := handle.readline(LONGEST_LINE + 1):
            number += 1
            if len(raw) > LONGEST_LINE:
                raise InputError("has a line beyond 16 MiB", f"{path}:{number}")
            left -= len(raw)
            if left < 0:
                raise InputError(f"unpacks to more than {_RATIO} times its size", f"{path}:{number}", "unpack it first")
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError("is not UTF-8", f"{path}:{number}") from error
            yield number, line.removesuffix("\n").removesuffix("\r")
    if number == 0:
        raise InputError("is empty", path)


def find_split_files(src: Path, *, prefix: str = "", suffix: str, todo: str) -> dict[str, Path]:
    """Give {split: file} for the files of a folder that are named after a split, train first.

    A name counts as ``<prefix><split>[_anything]<suffix>[.gz|.xz|.bz2|.zip|.7z]`` (archives may leave
    ``suffix`` out); of a plain and a packed file with one stem the plain one is taken. A file given as
    ``src`` is the split that it is named after, otherwise train. Raises InputError when there is none, or two
    for one split.
    """
    source_path(src)
    if src.is_file():
        return {_split_of(src.name, prefix, suffix) or "train": src}
    try:
        files = sorted(file for file in src.iterdir() if file.is_file())
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", src) from error
    found: dict[str, dict[str, Path]] = {}
    for file in files:
        split = _split_of(file.name, prefix, suffix)
        if split is not None:
            stem = _unpacked_name(file.name).removesuffix(suffix)
            found.setdefault(split, {}).setdefault(stem, file)
    if not found:
        raise InputError(f"holds no file named like {prefix}train{suffix}", src, todo)
    for split, choices in found.items():
        if len(choices) > 1:
            names = " and ".join(file.name for file in choices.values())
            raise InputError(f"holds more than one {split} file: {names}", src, "name one file, or move one away")
    return {split: next(iter(found[split].values())) for split in ("train", "dev", "test") if split in found}


def _unpacked_name(name: str) -> str:
    """Give the name without its packing suffix."""
    return Path(name).stem if Path(name).suffix.lower() in COMPRESSIONS else name


def _split_of(name: str, prefix: str, suffix: str) -> str | None:
    """Give the split that a file is named after, None when its name says nothing or is of another kind."""
    stem = _unpacked_name(name)
    if stem.endswith(suffix):
        stem = stem.removesuffix(suffix)
    elif not name.lower().endswith((".zip", ".7z")) or "." in stem:
        return None
    if not stem.startswith(prefix):
        return None
    return _SPLIT_STEMS.get(stem.removeprefix(prefix).split("_")[0].lower())
