"""The folder ``NAME.building`` beside a corpus that is being built: what a killed build goes on from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sectioncls.errors import OutputError
from sectioncls.staging import check_output, disk_errors

__all__ = ["note_part", "work_folder"]

_FORMAT = 1
_SETTINGS = "settings.json"
_LOCK = "lock"
_PART = "part"
_FILES = frozenset((_SETTINGS, _LOCK, _PART, "articles", "keys.sqlite", "keys.sqlite-journal"))


@contextmanager
def work_folder(out: Path, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> Iterator[Path]:
    """Give the locked work folder of the corpus ``out``; it goes when the block ends well, and stays otherwise.

    ``settings`` are all that decides the bytes of the corpus; ``resume`` goes on in a folder of the same settings
    and starts one where there is none. ``overwrite`` starts anew in one that is left over. Raises OutputError when
    the folder is left over or in use by another build, or was begun with other settings.
    """
    check_output(out, overwrite=overwrite)
    folder = out.with_name(f"{out.name}.building")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError("exists and is not a folder", folder, "choose another -o")
    with _locked(folder, out):
        _prepare(folder, {"format": _FORMAT} | dict(settings), resume=resume, overwrite=overwrite)
        try:
            with disk_errors(folder):
                yield folder
        except BaseException as error:
            if not _worth_keeping(folder):
                shutil.rmtree(folder)
            elif isinstance(error, OutputError):
                todo = f"{error.todo}; --resume goes on" if error.todo else "--resume goes on"
                raise OutputError(error.what, error.where, todo) from error
            raise
        shutil.rmtree(folder)


def note_part(folder: Path, part: Path) -> None:
    """Write down where the corpus is being written, so that the next call can sweep up what a killed one left."""
    (folder / _PART).write_text(part.name, encoding="utf-8")


@contextmanager
def _locked(folder: Path, out: Path) -> Iterator[None]:
    """Hold the folder for this process; the system lets go of it when the process dies."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise OutputError("is being built by another process", out, "wait for it, or choose another -o") from None
    try:
        yield
    finally:
        lock.release()


def _prepare(folder: Path, settings: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Make the folder one of these settings: as it is, or empty. Raises OutputError when neither may be."""
    strangers = sorted({file.name for file in folder.iterdir()} - _FILES)
    if strangers:
        (folder / _LOCK).unlink()
        raise OutputError(f"holds files that are not ours ({strangers[0]})", folder, "choose another -o")
    path = folder / _SETTINGS
    if path.exists() and not (resume or overwrite):
        raise OutputError("a build was cut off here", folder, "--resume to go on, --overwrite to start anew")
    _sweep_part(folder)
    if path.exists() and resume:
        _compare(path, settings)
    else:
        _clear(folder)
        path.write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _compare(path: Path, settings: dict[str, Any]) -> None:
    """Raise OutputError unless the build was begun with these settings."""
    try:
        begun = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OutputError("is damaged", path, "--overwrite to start anew") from error
    wanted = json.loads(json.dumps(settings))
    for key in sorted(
        begun.keys() | wanted.keys(), key=lambda key: (key == "command", key)
    ):  # the option's own name first
        if begun.get(key) != wanted.get(key):
            what = f"was begun with another {key} ({begun.get(key)!r}, now {wanted.get(key)!r})"
            raise OutputError(what, path.parent, "resume with the same, or --overwrite to start anew")


def _worth_keeping(folder: Path) -> bool:
    """Tell whether any article was set aside."""
    articles = folder / "articles"
    return articles.exists() and articles.stat().st_size > 0


def _clear(folder: Path) -> None:
    """Empty the folder, its lock aside."""
    for name in _FILES - {_LOCK}:
        (folder / name).unlink(missing_ok=True)


def _sweep_part(folder: Path) -> None:
    """Remove the half-written corpus that a killed call left beside its output."""
    note = folder / _PART
    if not note.exists():
        return
    name = note.read_text(encoding="utf-8")
    if name == Path(name).name and name.startswith(f".{folder.stem}.") and name.endswith(".part"):
        shutil.rmtree(folder.with_name(name), ignore_errors=True)
    note.unlink()
