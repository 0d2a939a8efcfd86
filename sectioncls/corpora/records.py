"""Records of foreign sets: JSON lines, one JSON value, tables as text, Parquet; and the values inside them.

A path such as ``meta.ids.0`` leads into a record, part by part: a key of an object, a place in a list, or, where a
list meets a word, that key of each of its items.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sectioncls.corpora.openers import COMPRESSIONS, open_bytes, read_lines, source_path
from sectioncls.corpora.tables import read_rows
from sectioncls.errors import InputError

__all__ = ["SUFFIXES", "lookup", "plain_name", "read_records"]

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".parquet")
LARGEST_JSON = 512 * 2**20
KEY = "_key"
"""Under this name a record of one big JSON object keeps the key that it stood under."""


def read_records(
    path: Path, *, paths: Iterable[str], columns: Sequence[str] = (), delimiter: str | None = None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give (``file:line``, record) for each record of a file, packed or not; the name tells the form.

    ``paths`` are those that will be looked up (Parquet reads no other column). Tables as text have a head line
    unless ``columns`` names their columns. Raises InputError for what can't be read.
    """
    suffix = Path(plain_name(path)).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        yield from _json_lines(path)
    elif suffix == ".json":
        yield from _one_json(path)
    elif suffix == ".parquet":
        names = sorted({part.partition(".")[0] for part in paths})
        for where, values in read_rows(path, names):
            yield where, dict(zip(names, values, strict=True))
    elif suffix in (".csv", ".tsv", ".txt"):
        yield from _table(path, columns, delimiter or ("," if suffix == ".csv" else "\t"))
    else:
        raise InputError("is of no known form", path, f"one of {' '.join(SUFFIXES)}, packed or not")


def lookup(record: Any, path: str) -> Any:
    """Give what a path leads to in a record, None where it leads nowhere."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    head, _, rest = path.partition(".")
    if isinstance(record, Mapping):
        value = record.get(head)
    elif isinstance(record, list) and head.isdecimal():
        value = record[int(head)] if int(head) < len(record) else None
    elif isinstance(record, list):
        return [lookup(item, path) for item in record]
    else:
        return None
    return lookup(value, rest) if rest else value


def plain_name(path: Path) -> str:
    """Give a file's name without the suffix of its packing."""
    return path.stem if path.suffix.lower() in COMPRESSIONS else path.name


def _json_lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the objects of a file with one a line; blank lines don't count."""
    for number, line in read_lines(path):
        if line.strip():
            where = f"{path}:{number}"
            yield where, _object(_parsed(line, where), where)


def _one_json(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the objects of one JSON list, or of one JSON object of objects, which keep their key under ``_key``."""
    source_path(path)
    with open_bytes(path) as handle:
        data = handle.read(LARGEST_JSON + 1)
    if len(data) > LARGEST_JSON:
        raise InputError("is one JSON value beyond 512 MiB", path, "write it as JSON lines (.jsonl)")
    try:
        value = _parsed(data.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", path) from error
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield f"{path}:record {number}", _object(item, f"{path}:record {number}")
    else:
        for key, item in _object(value, str(path)).items():
            yield f"{path}:record {key}", {KEY: key, **_object(item, f"{path}:record {key}")}


def _table(path: Path, columns: Sequence[str], delimiter: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the rows of a table as text; only cells of CSV may be quoted."""
    lines = read_lines(path)
    numbers = [0]

    def texts() -> Iterator[str]:
        for number, line in lines:
            numbers[0] = number
            yield f"{line}\n"

    csv.field_size_limit(2**24)
    if delimiter == ",":
        rows = csv.reader(texts(), strict=True)
    else:
        rows = csv.reader(texts(), delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    try:
        for row in rows:
            if not row or row == [""]:
                continue
            if not columns:
                columns = row
                continue
            if len(row) != len(columns):
                there = f"has {len(row)} cells, {len(columns)} were expected ({', '.join(columns)})"
                raise InputError(there, f"{path}:{numbers[0]}")
            yield f"{path}:{numbers[0]}", dict(zip(columns, row, strict=True))
    except csv.Error as error:
        raise InputError(f"is no sound table: {error}", f"{path}:{numbers[0]}") from error


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("is not JSON", where) from error


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError("is not a JSON object", where)
    return value
