"""Writing that never leaves half a file: write aside, rename when whole.

A folder of ours holds a manifest (``corpus.json``, ``run.json``, ``sectioncls.json``, ``index.json``);
``--overwrite`` replaces a folder only when it holds one and no file that the manifest does not list under ``files``.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sectioncls.errors import OutputError

__all__ = ["MANIFESTS", "check_output", "disk_errors", "folder_files", "staged_file", "staged_folder", "write_json"]

MANIFESTS = ("corpus.json", "run.json", "sectioncls.json", "index.json")


def check_output(path: Path, *, overwrite: bool) -> None:
    """Raise OutputError unless ``path`` may be written: it is absent, empty, or ours and ``overwrite`` is set."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise OutputError("exists and is not a folder", path, "choose another -o")
    if not path.exists() or not any(path.iterdir()):
        return
    if not overwrite:
        raise OutputError("exists already", path, "choose another -o, or --overwrite")
    listed = _listed_files(path)
    if listed is None:
        raise OutputError("is not a folder that sectioncls made; --overwrite leaves it alone", path)
    strangers = sorted(set(folder_files(path)) - listed - set(MANIFESTS))
    if strangers:
        raise OutputError(f"holds files that are not ours ({strangers[0]}); --overwrite leaves it alone", path)


def folder_files(path: Path) -> list[str]:
    """Give the relative names of all files in a folder, sorted; a manifest keeps them under ``files``."""
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if not file.is_dir())


def _listed_files(path: Path) -> set[str] | None:
    """Give the files that the folder's manifest lists, None where there is no manifest of ours."""
    for name in MANIFESTS:
        try:
            manifest = json.loads((path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict) and isinstance(manifest.get("files"), list):
            return {str(file) for file in manifest["files"]}
    return None


@contextmanager
def staged_folder(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give an empty folder beside ``path`` that becomes ``path`` when the block ends well, and vanishes otherwise.

    Raises OutputError when ``path`` is taken (see check_output) or can't be written.
    """
    check_output(path, overwrite=overwrite)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
    try:
        with disk_errors(path):
            yield aside
            _open_up(aside)
            old = None
            if path.exists():
                old = aside.with_suffix(".old")
                path.rename(old)
            aside.rename(path)
            if old is not None:
                shutil.rmtree(old)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """Give a file name beside ``path`` that replaces ``path`` when the block ends well, and vanishes otherwise."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    aside = Path(name)
    try:
        with disk_errors(path):
            yield aside
            aside.chmod(0o666 & ~_umask())
            aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all."""
    with staged_file(path) as aside:
        aside.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the disk's own errors into one line about ``path``; any other error passes."""
    try:
        yield
    except Exception as error:
        # safetensors, written in Rust, tells of a full disk in an exception of its own, in words.
        code = error.errno if isinstance(error, OSError) else None
        if code in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in str(error):
            raise OutputError("no space left on the disk", path, "free some, then run again") from error
        if code in (errno.EACCES, errno.EROFS, errno.EPERM):
            raise OutputError("can't be written", path, "check its permissions") from error
        raise


def _open_up(folder: Path) -> None:
    """Give folder and files the usual rights: safetensors and mkdtemp leave theirs to the owner alone."""
    mask = _umask()
    folder.chmod(0o777 & ~mask)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
