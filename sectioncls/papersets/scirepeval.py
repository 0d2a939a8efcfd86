"""Records in the shapes of SciRepEval's training data (arXiv 2211.13308): one file a task, told by its first record.

::

    {"corpus_id", "title", "abstract", "labels", "labels_text"}      topics, the collection is called after the file
    {"corpus_id", "title", "abstract", "descriptor", "qualifier"}    the same
    {"query": TEXT, "candidates": [{paper, "score"}]}                search
    {"query": {paper}, "candidates": [{paper, "score"}]}             papers by one author
    {"query": {paper}, "pos": {paper}, "neg": {paper}}               SPECTER's triplets
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sectioncls.corpora.records import plain_name, read_records
from sectioncls.errors import InputError
from sectioncls.papersets.fields import FieldRules, describe, text_of
from sectioncls.papersets.rows import number_of
from sectioncls.papersets.splits import split_of_paper, split_of_query
from sectioncls.papersets.writer import PaperSetWriter

__all__ = ["read_scirepeval", "shape_of"]

Shape = Literal["topics", "search", "authors", "triplets"]
SAME_AUTHOR = "same_author"
TRIPLETS = "specter"
_LABEL_FIELDS = ("labels_text", "descriptor", "labels")
_MARKS = frozenset({"score", "labels", "labels_text", "descriptor", "qualifier"})


def shape_of(record: Mapping[str, Any]) -> Shape | None:
    """Give which of the shapes a record has, None for none of them."""
    query = record.get("query")
    if isinstance(query, str) and isinstance(record.get("candidates"), list):
        return "search"
    if isinstance(query, dict):
        if isinstance(record.get("candidates"), list):
            return "authors"
        return "triplets" if isinstance(record.get("pos"), dict) and isinstance(record.get("neg"), dict) else None
    has_label = any(record.get(name) is not None for name in ("labels_text", "descriptor"))
    return "topics" if has_label and "corpus_id" in record else None


@dataclass(slots=True)
class _Intake:
    """Writes the papers that records hold inside them, each once."""

    writer: PaperSetWriter
    name: str
    rules: FieldRules
    seed: int
    unread: Counter[str] = field(default_factory=Counter)
    texts: dict[str, bytes] = field(default_factory=dict)

    def paper(self, record: Any, where: str) -> str:
        """Write a paper if it is new, and give its id."""
        if not isinstance(record, dict):
            raise InputError("holds no object where a paper is expected", where)
        found = describe(
            {key: value for key, value in record.items() if key not in _MARKS}, where, self.rules, self.unread
        )
        paper = found.paper
        text = hashlib.blake2b(f"{paper.title}\n{paper.abstract}".encode(), digest_size=8).digest()
        known = self.texts.setdefault(paper.id, text)
        if known != text:
            self.writer.dropped("papers given again with another text")
        if self.writer.row(paper.id) is None:
            split = split_of_paper(paper.title, f"{self.name}|{paper.id}", self.seed)
            if self.writer.add_paper(paper, split, found.keywords):
                for target, value in found.targets:
                    self.writer.add_target(target, paper.id, value)
        return paper.id


def read_scirepeval(files: list[Path], writer: PaperSetWriter, *, name: str, rules: FieldRules, seed: int) -> None:
    """Write what the files hold; ``labels_NAME.jsonl`` beside them defines topics.

    Papers are put into splits by the hash of their title, judgements by their query's. Raises InputError with file and
    line for a malformed record, and when no file holds records of a known shape.
    """
    intake = _Intake(writer, name, rules, seed)
    others = []
    shapes = []
    for path in files:
        stem, suffix = Path(plain_name(path)).stem, Path(plain_name(path)).suffix
        if suffix not in (".jsonl", ".ndjson"):
            others.append(path.name)
        elif stem.startswith("labels_"):
            for where, record in read_records(path, paths=()):
                label = text_of(record.get("name"), "name", where)
                writer.add_topic(
                    stem.removeprefix("labels_"), label, text_of(record.get("definition"), "definition", where)
                )
        else:
            shapes.append(_read_file(path, stem, intake))
    if not shapes:
        raise InputError("holds no records of SciRepEval's shapes", name)
    writer.note(f"papers were put into splits by the hash of their title with seed {seed}")
    if intake.unread:
        counts = ", ".join(f"{field} ({count})" for field, count in sorted(intake.unread.items()))
        writer.note(f"fields of papers that are not read: {counts}")
    if others:
        writer.note(f"files that are not read: {', '.join(sorted(others))}")


def _read_file(path: Path, stem: str, intake: _Intake) -> Shape:
    """Read a file of one shape."""
    shape: Shape | None = None
    for number, (where, record) in enumerate(read_records(path, paths=())):
        shape = shape or shape_of(record)
        if shape is None or shape_of(record) != shape:
            raise InputError(f"is no record of {shape or 'a known shape'}", where, "see docs/guides/papersets.md")
        if shape == "topics":
            paper = intake.paper(record, where)
            for topic in _labels(record, where):
                intake.writer.add_paper_topic(stem, paper, topic)
        elif shape == "triplets":
            query, positive, negative = (intake.paper(record[key], where) for key in ("query", "pos", "neg"))
            intake.writer.add_task(TRIPLETS)
            split = intake.writer.split_of(query) or "train"
            intake.writer.add_judgement(TRIPLETS, query, positive, 1.0, split)
            intake.writer.add_judgement(TRIPLETS, query, negative, 0.0, split)
        else:
            _read_candidates(record, where, shape, f"{stem}-{number + 1}", intake)
    if shape is None:
        raise InputError("holds no record", path)
    return shape


def _read_candidates(record: Mapping[str, Any], where: str, shape: Shape, name: str, intake: _Intake) -> None:
    """Read a query with its judged papers."""
    writer = intake.writer
    task = SAME_AUTHOR if shape == "authors" else "search"
    writer.add_task(task, "papers" if shape == "authors" else "texts")
    if shape == "authors":
        query = intake.paper(record["query"], where)
        split = writer.split_of(query) or "train"
    else:
        query = name
        split = split_of_query(name, intake.seed)
        writer.add_query(query, text_of(record["query"], "query", where), split)
    for candidate in record["candidates"]:
        paper = intake.paper(candidate, where)
        score = number_of(str(candidate.get("score")), "score", where)
        writer.add_judgement(task, query, paper, max(score, 0.0), split)


def _labels(record: Mapping[str, Any], where: str) -> Iterator[str]:
    """Give the topics of a record by name."""
    value: Any = next((record[name] for name in _LABEL_FIELDS if record.get(name) is not None), [])
    for label in value if isinstance(value, list) else [value]:
        if isinstance(label, int) and not isinstance(label, bool):
            label = str(label)
        if words := " ".join(text_of(label, "label", where).split()):
            yield words
