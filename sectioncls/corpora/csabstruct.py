"""CSAbstruct in its official JSONL form and in the Parquet form of arXiv 2404.00224.

The official file numbers every abstract 0, so abstracts are numbered here (``train-00012``). The paper's
Parquet keeps the row number in the flattened official file as ``id``; with the official file at hand each row
gets its abstract, its place in it and its confidence back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sectioncls.corpora.conflicts import ConflictRule
from sectioncls.corpora.corpus import Corpus
from sectioncls.corpora.labelled import Rows, build_labelled, known_label, sound_text, source_sentence
from sectioncls.corpora.openers import find_split_files, read_lines, source_path
from sectioncls.corpora.tables import read_rows
from sectioncls.errors import InputError
from sectioncls.records import Sentence
from sectioncls.schemes import LabelScheme, load_scheme

__all__ = ["build_csabstruct", "read_csabstruct_jsonl", "read_csabstruct_parquet"]

LICENCE = "Apache-2.0"
NO_ABSTRACTS = (
    "the rows do not say which abstract they come from, so intervals fall back to sentences "
    "(--abstracts OFFICIAL gives the abstracts back)"
)


def build_csabstruct(
    src: str | Path,
    out: str | Path,
    *,
    command: str,
    name: str = "csabstruct",
    conflicts: ConflictRule = "keep",
    abstracts: str | Path | None = None,
    overwrite: bool = False,
) -> Corpus:
    """Give the corpus built from a folder with ``{train,dev,test}.jsonl`` or ``csabstruct_*.parquet``.

    ``abstracts`` is the folder with the official JSONL from which Parquet rows get their abstract.
    """
    scheme = load_scheme("csabstruct")
    if _is_parquet(source_path(src)):
        official = None if abstracts is None else _jsonl_files(Path(abstracts))
        splits = _parquet_splits(Path(src), official, scheme)
        has_articles = official is not None
    elif abstracts is not None:
        raise InputError("is the official form and has its abstracts", src, "leave --abstracts out")
    else:
        splits = {split: partial(_jsonl_rows, file, split, scheme) for split, file in _jsonl_files(Path(src)).items()}
        has_articles = True
    return build_labelled(
        splits,
        out,
        name=name,
        scheme=scheme,
        command=command,
        conflicts=conflicts,
        overwrite=overwrite,
        licence=LICENCE,
        notes=() if has_articles else (NO_ABSTRACTS,),
        extra=("confidence",) if has_articles else (),
        has_articles=has_articles,
    )


def read_csabstruct_jsonl(path: Path, split: str, scheme: LabelScheme) -> Iterator[tuple[str, Sentence]]:
    """Give (``file:line``, sentence) for each sentence of an official file, abstracts numbered by line.

    Raises InputError for a line that is no JSON object, lacks a key, or has unequal numbers of sentences,
    labels and confidences.
    """
    for number, (line_number, line) in enumerate(read_lines(path)):
        where = f"{path}:{line_number}"
        sentences, labels, confidences = _record(line, where)
        for index, (text, label, confidence) in enumerate(zip(sentences, labels, confidences, strict=True)):
            yield (
                where,
                source_sentence(
                    f"{split}-{number:05d}",
                    index,
                    sound_text(text, where),
                    known_label(label, scheme, where),
                    _confidence(confidence, where),
                ),
            )


def read_csabstruct_parquet(
    path: Path, split: str, scheme: LabelScheme, official: Path | None = None
) -> Iterator[Sentence]:
    """Give the sentences of one of the paper's Parquet files, in order.

    With ``official``, a row is the official sentence whose number its ``id`` is; without, each row is an
    article of its own. Raises InputError when a column is missing, when label and label id disagree, or when
    a row does not fit the official file.
    """
    known = None
    if official is not None:
        known = [sentence for _, sentence in read_csabstruct_jsonl(official, split, scheme)]
    columns = ("id", "sentence", "subject_label", "label_id")
    for where, (number, raw, raw_label, label_id) in read_rows(path, columns):
        text, label = sound_text(raw, where), known_label(raw_label, scheme, where)
        if not isinstance(number, int):
            raise InputError(f"id {number!r} is not a number", where)
        if scheme.labels.index(label) != label_id:
            raise InputError(f"label {label!r} bears the id {label_id}", where)
        if known is None:
            yield source_sentence(f"{split}-row-{number:05d}", 0, text, label)
            continue
        if not 0 <= number < len(known) or (known[number].text, known[number].label) != (text, label):
            raise InputError(f"is not sentence {number} of {official}", where, "name the matching --abstracts")
        yield known[number]


def _jsonl_rows(path: Path, split: str, scheme: LabelScheme) -> Iterator[Sentence]:
    """Give the sentences of an official file without their places."""
    return (sentence for _, sentence in read_csabstruct_jsonl(path, split, scheme))


def _jsonl_files(src: Path) -> dict[str, Path]:
    """Give the official files of a folder by split."""
    return find_split_files(src, suffix=".jsonl", todo="train.jsonl or csabstruct_train.parquet is looked for")


def _is_parquet(src: Path) -> bool:
    """Say whether a source is of the paper's Parquet form."""
    if src.is_file():
        return src.suffix == ".parquet"
    return any(src.glob("csabstruct_*.parquet"))


def _parquet_splits(src: Path, official: dict[str, Path] | None, scheme: LabelScheme) -> dict[str, Rows]:
    """Give the rows of the paper's Parquet files by split."""
    folder, pattern = (src.parent, src.name) if src.is_file() else (src, "csabstruct_*.parquet")
    splits: dict[str, Rows] = {}
    for split in ("train", "dev", "test"):
        file = folder / f"csabstruct_{split}.parquet"
        if not file.is_file() or not file.match(pattern):
            continue
        if official is not None and split not in official:
            raise InputError(f"holds no {split}.jsonl", next(iter(official.values())).parent)
        known = None if official is None else official[split]
        splits[split] = partial(read_csabstruct_parquet, file, split, scheme, known)
    if not splits:
        raise InputError("holds no csabstruct_{train,dev,test}.parquet", src)
    return splits


def _record(line: str, where: str) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Give sentences, labels and confidences of a line, equally many of each."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError("is not JSON", where) from error
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", where)
    for key in ("sentences", "labels"):
        if not isinstance(record.get(key), list):
            raise InputError(f"lacks a list under {key!r}", where)
    sentences, labels = record["sentences"], record["labels"]
    confidences = record.get("confs", [None] * len(sentences))
    if not isinstance(confidences, list):
        raise InputError("has no list under 'confs'", where)
    if not len(sentences) == len(labels) == len(confidences):
        counts = f"{len(sentences)} sentences, {len(labels)} labels and {len(confidences)} confs"
        raise InputError(f"has {counts}", where, "there must be as many of each")
    return sentences, labels, confidences


def _confidence(value: object, where: str) -> float | None:
    """Give a confidence on. Raises InputError unless it is None or a number from 0 to 1."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"confidence {value!r} is not a number from 0 to 1", where)
    return float(value)
