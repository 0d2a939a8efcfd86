"""Downloads that end whole or not at all.

Bytes go to ``NAME.part`` beside the target, which is renamed when size and checksum are right. A call that was cut
off goes on where it stopped (HTTP Range), provided that the server still has the same bytes or a checksum will tell.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from sectioncls.errors import InputError, OutputError
from sectioncls.fetch.web import BROKEN_OFF, NoRangeError, PassingError, Patience, check_address, open_url, words
from sectioncls.staging import disk_errors

__all__ = ["LARGEST", "LOCK", "Download", "fetch_file", "folder_lock", "right_bytes"]

LARGEST = 8 * 2**30
"""Bytes at which a file of unknown size is given up."""
LOCK = ".fetch.lock"
_CHUNK = 1 << 18
_PROGRESS = 1 << 20
_WEB_PAGE = (b"<!doctype html", b"<html")


@dataclass(frozen=True, slots=True)
class Download:
    """A file to fetch: its address, and what is known of its bytes (hex digests).

    ``git_blob`` is the SHA-1 that git gives a file: of ``blob LENGTH``, a zero byte and the bytes.
    """

    url: str
    bytes: int | None = None
    sha256: str | None = None
    git_blob: str | None = None
    md5: str | None = None

    @property
    def checked(self) -> bool:
        """Whether a checksum will tell if the bytes are the right ones."""
        return bool(self.sha256 or self.git_blob or self.md5)


def fetch_file(
    wanted: Download,
    target: Path,
    *,
    overwrite: bool = False,
    patience: Patience | None = None,
    watch: Callable[[int], None] = lambda here: None,
) -> bool:
    """Fetch one file to ``target``; give False when it was there already.

    ``watch`` is told again and again how many bytes of the file are here. Raises InputError when the server can't
    be reached or sends anything but the file, OutputError when the place is taken or full. Whatever happens,
    ``target`` is whole or absent.
    """
    check_address(wanted.url)
    if target.exists() and not overwrite:
        if not right_bytes(target, wanted):
            todo = "--overwrite replaces it"
            raise OutputError("is there already, with other bytes than were expected", target, todo)
        watch(_size(target))
        return False
    patience = patience or Patience()
    part = target.with_name(f"{target.name}.part")
    with disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        failures = 0
        while not _is_whole(wanted, part):
            before = _size(part)
            try:
                _receive(wanted, part, patience.timeout, watch)
                break
            except PassingError as error:
                here = _size(part)
                failures = 1 if here - before >= _PROGRESS else failures + 1
                todo = "run it again: it goes on where it stopped" if here else "try again later"
                patience.wait(error, wanted.url, failures, todo)
        _accept(wanted, part, target)
    return True


def right_bytes(path: Path, wanted: Download) -> bool:
    """Say whether a file has the size and checksums asked for; without any, whether it holds anything."""
    size = path.stat().st_size
    if wanted.bytes is not None and size != wanted.bytes:
        return False
    return size > 0 and _wrong_sum(path, wanted) is None


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold a folder against other downloads for the length of the block. Raises OutputError when it is held.

    The lock goes with the process that holds it, however that ends; only its empty file may stay behind.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / LOCK).open("a+")
    with handle:
        if not _locked(handle, folder / LOCK):
            todo = "wait for it, or choose another -o"
            raise OutputError("another download into this folder is running", folder, todo)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                (folder / LOCK).unlink()


def _locked(handle: IO[str], path: Path) -> bool:
    """Lock an open file and say whether that worked, and whether it is still the file of that name."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(handle.fileno()), path.stat())
    except OSError:
        return False


def _receive(wanted: Download, part: Path, timeout: float, watch: Callable[[int], None]) -> None:
    """Bring ``part`` to its full length, going on from what is there. Raises PassingError, InputError."""
    have, headers = _resumable(wanted, part)
    try:
        with open_url(wanted.url, headers, timeout) as answer:
            start = have if answer.status == 206 else 0
            if answer.status == 206 and _range_start(answer) != have:
                _discard(part)
                raise PassingError("sends another part of the file than was asked for")
            total = _announced(answer, start)
            _check_offer(wanted, answer, total)
            _keep_validator(part, wanted.url, answer)
            got = _copy(wanted, answer, part, start, watch)
    except BROKEN_OFF as error:
        raise PassingError(words(error)) from error
    except NoRangeError as error:
        _discard(part)
        raise PassingError(error.what) from error
    whole = wanted.bytes if wanted.bytes is not None else total
    if got == 0:
        raise PassingError("sent nothing (0 bytes)")
    if whole is not None and got < whole:
        raise PassingError(f"sent {got:,} of {whole:,} bytes and stopped")


def _copy(wanted: Download, answer: Any, part: Path, start: int, watch: Callable[[int], None]) -> int:
    """Write the body behind the first ``start`` bytes of ``part`` and give the length of the whole."""
    limit = LARGEST if wanted.bytes is None else wanted.bytes
    got = start
    with part.open("r+b" if start else "wb") as handle:
        handle.truncate(start)
        handle.seek(start)
        while chunk := answer.read1(_CHUNK):
            if got == 0 and _is_web_page(chunk, wanted.url):
                raise InputError("sent a web page instead of the file", wanted.url, "open it in a browser to see why")
            got += len(chunk)
            if got > limit:
                break
            handle.write(chunk)
            handle.flush()
            watch(got)
    if got > limit:
        _discard(part)
        raise InputError(f"sends more than the {limit:,} bytes expected: not kept", wanted.url, "it is another file")
    return got


def _accept(wanted: Download, part: Path, target: Path) -> None:
    """Rename a whole file to its target; discard it and raise InputError when its checksum is not the wanted one."""
    wrong = _wrong_sum(part, wanted)
    if wrong:
        kind, should, found = wrong
        _discard(part)
        raise InputError(
            f"its {kind} is {found}, {should} was expected: not kept",
            wanted.url,
            "it was changed at its source or damaged on its way: try again, or correct the card",
        )
    part.replace(target)
    _validator(part).unlink(missing_ok=True)


def _is_whole(wanted: Download, part: Path) -> bool:
    """Say whether all bytes came before the last call was cut off."""
    return wanted.checked and wanted.bytes == _size(part) and _wrong_sum(part, wanted) is None


def _wrong_sum(path: Path, wanted: Download) -> tuple[str, str, str] | None:
    """Give (kind, wanted, found) of the first checksum that differs, None when all are right."""
    digests = []
    for kind, algorithm, value in (
        ("sha256", "sha256", wanted.sha256),
        ("git blob id", "sha1", wanted.git_blob),
        ("md5", "md5", wanted.md5),
    ):
        if value is not None:
            digests.append((kind, value.lower(), hashlib.new(algorithm, usedforsecurity=False)))
    for kind, _, digest in digests:
        if kind == "git blob id":
            digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as handle:
        while digests and (chunk := handle.read(1 << 20)):
            for _, _, digest in digests:
                digest.update(chunk)
    for kind, value, digest in digests:
        if digest.hexdigest() != value:
            return kind, value, digest.hexdigest()
    return None


def _resumable(wanted: Download, part: Path) -> tuple[int, dict[str, str]]:
    """Give the number of bytes that may be kept and the headers that ask for the rest."""
    have = _size(part)
    if have == 0 or (wanted.bytes is not None and have >= wanted.bytes):
        return 0, {}
    try:
        kept = json.loads(_validator(part).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = None
    if not isinstance(kept, dict) or kept.get("url") != wanted.url:
        return 0, {}
    headers = {"Range": f"bytes={have}-"}
    if kept.get("validator"):
        headers["If-Range"] = str(kept["validator"])
    elif not wanted.checked:
        return 0, {}
    return have, headers


def _keep_validator(part: Path, url: str, answer: Any) -> None:
    """Note beside the part what will tell whether the server still has the same bytes."""
    etag = answer.headers.get("ETag", "")
    validator = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
    _validator(part).write_text(json.dumps({"url": url, "validator": validator}), encoding="utf-8")


def _check_offer(wanted: Download, answer: Any, total: int | None) -> None:
    """Raise InputError when the headers show already that this is not the file."""
    if total is None or total == 0:
        return
    if wanted.bytes is not None and total != wanted.bytes:
        page = " (a web page)" if answer.headers.get_content_type() == "text/html" else ""
        what = f"offers {total:,} bytes{page}, {wanted.bytes:,} were expected"
        raise InputError(what, wanted.url, "it is another file: see the address, or correct the card")
    if total > LARGEST:
        raise InputError(f"offers {total:,} bytes, {LARGEST:,} are the most that is fetched", wanted.url)


def _announced(answer: Any, start: int) -> int | None:
    """Give the length of the whole file as the headers tell it, None when they don't."""
    length = answer.headers.get("Content-Length", "")
    return start + int(length) if length.isdecimal() else None


def _range_start(answer: Any) -> int | None:
    """Give the first byte of a partial answer."""
    first = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdecimal() else None


def _is_web_page(head: bytes, url: str) -> bool:
    """Say whether the first bytes are those of a web page that was not asked for."""
    page = head[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_WEB_PAGE)
    return page and not urlsplit(url).path.endswith((".html", ".htm"))


def _validator(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _validator(part).unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
