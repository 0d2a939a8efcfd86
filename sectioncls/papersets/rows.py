"""Rows of the small tables of paper sets: citations, judgements, links; with file and line in every error."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sectioncls.corpora.openers import read_lines
from sectioncls.corpora.records import plain_name, read_records
from sectioncls.errors import InputError

__all__ = ["SOURCES", "TARGETS", "edge_rows", "judgement_rows", "number_of", "table_rows"]

SOURCES = ("src", "source", "citing", "citing_id", "from")
TARGETS = ("dst", "target", "cited", "cited_id", "to")
_QUERY_HEADS = ("query-id", "query_id", "qid", "query")


def table_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Give (``file:line``, row) of a table whose head names its columns. Raises InputError where one is missing."""
    lines = _cells(path)
    _, head = next(lines)
    missing = [column for column in columns if column not in head]
    if missing:
        raise InputError(f"lacks the column {', '.join(missing)} (columns: {', '.join(head)})", f"{path}:1")
    for where, cells in lines:
        if len(cells) != len(head):
            raise InputError(f"has {len(cells)} cells, {len(head)} were expected ({', '.join(head)})", where)
        yield where, dict(zip(head, cells, strict=True))


def edge_rows(path: Path, remarks: list[str]) -> Iterator[tuple[str, str, str, str | None]]:
    """Give (``file:line``, citing id, cited id, split or None) of a file of citations.

    The file is a table whose head names the two (``src dst``, ``citing cited``, …), a table of two columns without a
    head, or JSON lines. Of a table without a head that has more columns the first two are read; ``remarks`` says so.
    """
    if Path(plain_name(path)).suffix.lower() in (".jsonl", ".ndjson", ".json"):
        for where, record in read_records(path, paths=()):
            src, dst = (_end(record, names, where) for names in (SOURCES, TARGETS))
            split = record.get("split")
            yield where, src, dst, split if isinstance(split, str) else None
        return
    lines = _cells(path)
    where, first = next(lines)
    if len(first) < 2:
        raise InputError("has 1 cell, two were expected (citing, cited)", where)
    heads = [cell.strip().lower() for cell in first]
    one, other = (next((heads.index(name) for name in names if name in heads), None) for names in (SOURCES, TARGETS))
    place = heads.index("split") if "split" in heads else None
    if one is None or other is None:
        one, other, place = 0, 1, None
        if len(first) > 2:
            remarks.append(
                f"{path.name} has {len(first)} columns and no head: the first two are read, citing and cited"
            )
        yield where, first[0].strip(), first[1].strip(), None
    for where, cells in lines:
        if len(cells) != len(first):
            raise InputError(f"has {len(cells)} cells, {len(first)} were expected", where)
        src, dst = cells[one].strip(), cells[other].strip()
        if not (src and dst):
            raise InputError("has an empty id", where)
        yield where, src, dst, None if place is None else cells[place].strip() or None


def judgement_rows(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Give (``file:line``, query, paper, score) of a table of judgements.

    Three columns with or without a head (``query-id corpus-id score``), or TREC's four without one.
    """
    width = 0
    for where, cells in _cells(path):
        if not width:
            width = len(cells)
            if width not in (3, 4):
                raise InputError(f"has {width} cells, three were expected (query, document, score)", where)
            if cells[0].strip().lower() in _QUERY_HEADS:
                continue
        if len(cells) != width:
            raise InputError(f"has {len(cells)} cells, {width} were expected", where)
        query, paper, score = cells[0].strip(), cells[-2].strip(), cells[-1]
        if not (query and paper):
            raise InputError("has an empty id", where)
        yield where, query, paper, number_of(score, "score", where)


def number_of(text: str, name: str, where: str) -> float:
    """Give the finite number that a cell holds. Raises InputError for anything else."""
    try:
        number = float(text)
        if number - number == 0:  # neither NaN nor infinite
            return number
    except ValueError:
        pass
    raise InputError(f"has a {name} that is no number ({text[:40]!r})", where)


def _cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Give the cells of each line that is not blank: parted by tabs, in ``.csv`` by commas, else by white space."""
    commas = Path(plain_name(path)).suffix.lower() == ".csv"
    parted: str | None = None
    first = True
    for number, line in read_lines(path):
        if not line.strip():
            continue
        if first:
            parted = "\t" if "\t" in line else None
            first = False
        yield f"{path}:{number}", _quoted(line, f"{path}:{number}") if commas else line.split(parted)
    if first:
        raise InputError("holds no row", path)


def _quoted(line: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except (csv.Error, StopIteration) as error:
        raise InputError(f"is no sound row of CSV: {error}", where) from error


def _end(record: Mapping[str, Any], names: Sequence[str], where: str) -> str:
    """Give the id of one end of a citation."""
    value = next((record[name] for name in names if name in record), None)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise InputError(f"has no id under {' or '.join(names)}", where)
