"""SPECTER's citation JSON: ``data.json`` {paper: {other: {"count": 5}}} and ``metadata.json`` {paper: record}.

A count of 5 says that the paper cites the other; smaller ones (1) name papers that a cited paper cites and the paper
does not: its hard negatives. ``train.txt``, ``val.txt`` and ``test.txt`` list the papers of the splits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sectioncls.corpora.openers import read_lines
from sectioncls.corpora.records import KEY, plain_name, read_records
from sectioncls.errors import InputError
from sectioncls.papersets.fields import FieldRules, describe
from sectioncls.papersets.splits import known_split, split_of_paper
from sectioncls.papersets.writer import PaperSetWriter

__all__ = ["CITED", "read_specter"]

CITED = 5
"""From this count on a paper is cited."""


def read_specter(files: list[Path], writer: PaperSetWriter, *, name: str, rules: FieldRules, seed: int) -> None:
    """Write the papers of metadata.json and the citations of data.json.

    Raises InputError when one of the two is missing, or for a record of another shape.
    """
    named = {plain_name(path).lower(): path for path in files}
    missing = [wanted for wanted in ("data.json", "metadata.json") if wanted not in named]
    if missing:
        raise InputError(f"holds no {' and no '.join(missing)}", name)
    splits = _splits(named)
    hashed = 0
    unread: Counter[str] = Counter()
    for where, record in read_records(named["metadata.json"], paths=()):
        key = str(record[KEY])
        found = describe({**record, "id": key}, where, rules, unread)
        split = splits.get(key)
        placed = split or split_of_paper(found.paper.title, f"{name}|{key}", seed)
        if writer.add_paper(found.paper, placed, found.keywords):
            hashed += split is None
            for collection, topic in found.topics:
                writer.add_paper_topic(collection, key, topic)
            for target, value in found.targets:
                writer.add_target(target, key, value)
    if hashed:
        writer.note(f"{hashed} papers were put into splits by the hash of their title with seed {seed}")
    unread.pop(KEY, None)
    if unread:
        counts = ", ".join(f"{field} ({count})" for field, count in sorted(unread.items()))
        writer.note(f"fields of papers that are not read: {counts}")
    _read_counts(named["data.json"], writer)
    read = {"data.json", "metadata.json", "train.txt", "val.txt", "dev.txt", "test.txt"}
    if others := sorted(path.name for path in files if plain_name(path).lower() not in read):
        writer.note(f"files that are not read: {', '.join(others)}")


def _splits(named: Mapping[str, Path]) -> dict[str, str]:
    """Give {paper: split} of the lists; a paper that stands in two is an error."""
    splits: dict[str, str] = {}
    for file in ("train.txt", "val.txt", "dev.txt", "test.txt"):
        if file not in named:
            continue
        split = known_split(file.removesuffix(".txt")) or "train"
        for number, line in read_lines(named[file]):
            paper = line.strip()
            if paper and splits.setdefault(paper, split) != split:
                raise InputError(f"{paper} is in {splits[paper]} and in {split}", f"{named[file]}:{number}")
    return splits


def _read_counts(path: Path, writer: PaperSetWriter) -> None:
    """Add the citations; where no pair has the count of one, every pair is taken for one."""
    top = max((_count(value, where) for where, _, _, value in _pairs(path)), default=0)
    least = CITED if top >= CITED else 1
    if top < CITED:
        writer.note(f"no pair has a count of {CITED}: every pair with a count is taken for a citation")
    uncited = 0
    for where, paper, other, value in _pairs(path):
        if _count(value, where) >= least:
            writer.add_citation(paper, other)
        else:
            uncited += 1
    if uncited:
        writer.note(f"{uncited} pairs with a count below {least} are no citations (papers that a cited paper cites)")


def _pairs(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    for where, record in read_records(path, paths=()):
        for other, value in record.items():
            if other != KEY:
                yield where, str(record[KEY]), other, value


def _count(value: Any, where: str) -> float:
    """Give the count of a pair. Raises InputError where there is none."""
    count = value.get("count") if isinstance(value, dict) else value
    if isinstance(count, bool) or not isinstance(count, int | float):
        raise InputError("has a pair without a count", where, 'as {"count": 5}')
    return count
