"""What ``predict`` reads: documents of every format, and JSONL of abstracts or sentences, as one stream of articles."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sectioncls.documents import ALL_SUFFIXES, Document, find_documents, open_documents, read_each
from sectioncls.errors import InputError
from sectioncls.records import Article, Rejected

__all__ = ["Given", "read_given"]

_LONGEST_LINE = 16 << 20  # characters


@dataclass(frozen=True, slots=True)
class Given:
    """One article to label: an Article, or a text or list of sentences from JSONL; ``id`` names it in the output."""

    id: str
    source: str
    content: Article | str | Sequence[str]


def read_given(
    paths: Iterable[Path], *, sub_articles: bool = False, grobid_url: str | None = None
) -> Iterator[Given | Rejected]:
    """Give every article of files, folders, archives, JSONL files and ``-`` (standard input), or why it is left out.

    A line of JSONL is a string, or an object with ``sentences`` (a list) or ``text`` or ``abstract``, and perhaps
    ``id``. Raises InputError for a path that is missing or unreadable.
    """
    for path in paths:
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            yield from _json_lines(path)
            continue
        documents: Iterator[Document | Rejected] = (
            open_documents("-", sys.stdin.buffer) if str(path) == "-" else find_documents([path], suffixes=ALL_SUFFIXES)
        )
        for document in documents:
            if isinstance(document, Rejected):
                yield document
                continue
            for item in read_each(document, sub_articles=sub_articles, grobid_url=grobid_url):
                yield item if isinstance(item, Rejected) else Given(item.id, item.source, item)


def _json_lines(path: Path) -> Iterator[Given | Rejected]:
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as stream:
            for number, line in _lines(stream):
                source = f"{path}:{number}"
                if line is None:
                    yield Rejected(source, "too-large", f"more than {_LONGEST_LINE} characters in a line")
                elif line.strip():
                    yield _given(line, source)
    except UnicodeDecodeError as error:
        yield Rejected(str(path), "malformed", f"not UTF-8: {error.reason} at byte {error.start}")
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}", path, "check the path") from error


def _lines(stream: IO[str]) -> Iterator[tuple[int, str | None]]:
    """Give each line with its number; None for one that is too long, of which the rest is read away."""
    number = 0
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        if len(line) < _LONGEST_LINE or line.endswith("\n"):
            yield number, line
            continue
        while (rest := stream.readline(_LONGEST_LINE)) and not rest.endswith("\n"):
            pass
        yield number, None


def _given(line: str, source: str) -> Given | Rejected:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Rejected(source, "malformed", "the line is not JSON")
    if isinstance(value, str):
        return Given(source, source, value)
    if not isinstance(value, dict):
        return Rejected(source, "malformed", "the line is neither a string nor an object")
    name = value.get("id")
    name = str(name) if isinstance(name, str | int) and not isinstance(name, bool) else source
    for key in ("sentences", "text", "abstract"):
        content: Any = value.get(key)
        if isinstance(content, str) and key != "sentences":
            return Given(name, source, content)
        if isinstance(content, list) and all(isinstance(part, str) for part in content):
            return Given(name, source, content)
    return Rejected(source, "malformed", "the object has no sentences (a list), text or abstract", name)
