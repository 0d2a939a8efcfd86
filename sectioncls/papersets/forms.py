"""Which form a source has, by the names of its files and the first record of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sectioncls.corpora.openers import read_lines
from sectioncls.corpora.records import plain_name, read_records
from sectioncls.documents import XML_SUFFIXES
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets.fields import IDS
from sectioncls.papersets.rows import SOURCES, TARGETS
from sectioncls.papersets.scirepeval import shape_of

__all__ = ["FORMS", "find_files", "guess_form", "kind_of", "stem_of"]

FORMS = ("jats", "beir", "scirepeval", "specter", "edges")
_LINES = (".jsonl", ".ndjson")
_TABLES = (".tsv", ".csv")
_ARCHIVES = (".tar", ".tgz", ".txz", ".zip")
_LOOKED_AT = 2000  # files of a folder


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Give the files of sources, those of folders and of the folders in them; hidden ones and links don't count.

    Raises InputError for a folder that can't be read.
    """
    found: list[Path] = []
    for path in paths:
        found += _inside(path, deep=True) if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def guess_form(paths: list[Path]) -> str:
    """Give the form of sources. Raises UsageError naming the forms where nothing tells it."""
    files = find_files(paths)[:_LOOKED_AT]
    names = {plain_name(path).lower() for path in files}
    if {"data.json", "metadata.json"} <= names:
        return "specter"
    if "corpus.jsonl" in names:
        return "beir"
    if any(name.startswith("papers") and name.endswith(_LINES) for name in names):
        return "edges"
    if any(_holds_documents(path) for path in files):
        return "jats"
    lines = [path for path in files if Path(plain_name(path)).suffix.lower() in _LINES]
    kinds = {kind_of(path) for path in lines}
    if "scirepeval" in kinds:
        return "scirepeval"
    if "papers" in kinds:
        return "edges"
    there = paths[0] if len(paths) == 1 else f"{paths[0]} …"
    raise UsageError("the form can't be guessed from the files", there, f"--form {'|'.join(FORMS)}")


def stem_of(path: Path) -> str:
    """Give the name of a folder, or of a file without its suffixes."""
    name = path.resolve().name
    return name if path.is_dir() else name.split(".")[0] or name


def _inside(folder: Path, *, deep: bool) -> list[Path]:
    try:
        there = sorted(path for path in folder.iterdir() if not path.name.startswith(".") and not path.is_symlink())
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", folder) from error
    found = []
    for path in there:
        if path.is_file():
            found.append(path)
        elif deep and path.is_dir():
            found += _inside(path, deep=False)
    return found


def kind_of(path: Path) -> str:
    """Give what the first record of a file is: ``scirepeval``, ``papers``, ``citations``, or '' for something else."""
    suffix = Path(plain_name(path)).suffix.lower()
    try:
        if suffix in _LINES:
            return _kind_of_record(next((record for _, record in read_records(path, paths=())), {}))
        if suffix in _TABLES:
            first = next((line for _, line in read_lines(path) if line.strip()), "")
            return _kind_of_line(first.split("," if suffix == ".csv" else "\t" if "\t" in first else None))
    except InputError:  # whoever reads the file says what is wrong with it
        return ""
    return ""


def _holds_documents(path: Path) -> bool:
    """Tell whether a file is XML, packed or not, or an archive of documents."""
    plain = Path(plain_name(path))
    if path.suffix.lower() == ".zip" and plain.suffix.lower() in (*_LINES, *_TABLES, ".json"):
        return False
    return plain.suffix.lower() in (*XML_SUFFIXES, ".tar") or path.suffix.lower() in _ARCHIVES


def _kind_of_record(record: Mapping[str, Any]) -> str:
    if shape_of(record):
        return "scirepeval"
    if any(name in record for name in IDS) and ("title" in record or "abstract" in record):
        return "papers"
    ends = any(name in record for name in SOURCES) and any(name in record for name in TARGETS)
    return "citations" if ends else ""


def _kind_of_line(cells: list[str]) -> str:
    heads = {cell.strip().lower() for cell in cells}
    named = not heads.isdisjoint(SOURCES) and not heads.isdisjoint(TARGETS)
    return "citations" if named or len(cells) == 2 else ""
