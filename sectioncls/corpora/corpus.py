"""A corpus on disk: a folder of Parquet files with labelled sentences and ``corpus.json``.

::

    corpus.json                              what it is: see CorpusInfo
    train.parquet dev.parquet test.parquet   one row a sentence: see CORE_FIELDS in writer.py
    paragraphs.parquet                       the paragraphs that the sentences were cut from, where known
    rejected.jsonl                           documents that were left out and why, where documents were read
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sectioncls.corpora.openers import source_path
from sectioncls.errors import InputError
from sectioncls.staging import staged_file

if TYPE_CHECKING:
    import datasets
    import pandas

__all__ = [
    "FORMAT",
    "SPLITS",
    "Corpus",
    "CorpusInfo",
    "Split",
    "only_corpus",
    "open_corpus",
    "read_manifest",
    "require_trainable",
    "spreadsheet_cell",
]

Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

FORMAT = 1
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """What corpus.json says.

    ``labels`` is ordered: a label's position is its class id. ``counts`` is {split: {label: sentences}},
    ``articles`` {split: articles}, ``lengths`` {split: {"mean_words", "max_words"}}, ``dropped``
    {reason: rows or documents left out}. ``has_articles`` is False when the article ids are made up, one per
    sentence. ``fingerprint`` is the SHA-256 of the splits' SHA-256 digests, train dev test, each over its
    rows (split, article_id, index, text, label) in order. ``label_sets`` of a joined corpus are {part: the labels that
    its sentences may bear}; ids of its articles are PART/ID.
    """

    format: int
    name: str
    scheme: str
    labels: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    articles: Mapping[str, int]
    sentences: int
    has_articles: bool
    licence: str
    command: str
    versions: Mapping[str, str]
    fingerprint: str
    notes: tuple[str, ...]
    dropped: Mapping[str, int]
    lengths: Mapping[str, Mapping[str, float]]
    files: tuple[str, ...]
    label_sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The sentences of one split in file order.

    ``labels`` holds class ids (int64), positions in ``label_names``; ``index`` (int32) is the sentence's
    place in its article; ``paths`` are the titles above it, outermost first, None where no sentence has any;
    ``confidence`` (float64) is the share of annotators, None where the corpus has none.
    In a joined corpus ``parts`` are the names of the parts that sentences come from, ``allowed`` (n, labels) the labels
    that the part of a sentence knows, and ``possible`` (n, labels) those that the sentence may truly bear.
    """

    name: str
    texts: tuple[str, ...]
    labels: np.ndarray[Any, np.dtype[np.int64]]
    label_names: tuple[str, ...]
    article_ids: tuple[str, ...]
    index: np.ndarray[Any, np.dtype[np.int32]]
    paths: tuple[tuple[str, ...], ...] | None = None
    confidence: np.ndarray[Any, np.dtype[np.float64]] | None = None
    parts: tuple[str, ...] | None = None
    allowed: Bools | None = None
    possible: Bools | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: Sequence[int] | np.ndarray[Any, np.dtype[np.int64]]) -> Split:
        """Give the sentences at ``rows``, in that order."""
        places = np.asarray(rows, dtype=np.int64)
        numbers = places.tolist()
        return replace(
            self,
            texts=tuple(self.texts[row] for row in numbers),
            labels=self.labels[places],
            article_ids=tuple(self.article_ids[row] for row in numbers),
            index=self.index[places],
            paths=None if self.paths is None else tuple(self.paths[row] for row in numbers),
            confidence=None if self.confidence is None else self.confidence[places],
            parts=None if self.parts is None else tuple(self.parts[row] for row in numbers),
            allowed=None if self.allowed is None else self.allowed[places],
            possible=None if self.possible is None else self.possible[places],
        )


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened corpus folder; rows are read when asked for."""

    path: Path
    info: CorpusInfo

    @property
    def name(self) -> str:
        """The corpus's name."""
        return self.info.name

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names; the position is the class id."""
        return self.info.labels

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that exist, train before dev before test."""
        return tuple(split for split in SPLITS if split in self.info.counts)

    def table(self, split: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Give a split as an Arrow table. Raises InputError naming the splits that exist."""
        if split not in self.splits:
            there = ", ".join(self.splits) or "none"
            raise InputError(f"has no split {split!r} (splits: {there})", self.path)
        return _read_parquet(self.path / f"{split}.parquet", columns)

    def split(self, name: str) -> Split:
        """Give a split as texts and class ids in file order. Raises InputError naming those that exist."""
        table = self.table(name)
        ids = pc.index_in(table["label"], value_set=pa.array(self.labels))
        if ids.null_count:
            row = pc.is_null(ids).to_pylist().index(True)
            raise InputError(f"row {row} has a label outside the scheme", self.path / f"{name}.parquet")
        confidence = None
        if "confidence" in table.column_names:
            confidence = table["confidence"].to_numpy().astype(np.float64)
        article_ids = tuple(table["article_id"].to_pylist())
        parts, allowed, possible = self._joined(table, article_ids)
        return Split(
            name=name,
            texts=tuple(table["text"].to_pylist()),
            labels=ids.to_numpy().astype(np.int64),
            label_names=self.labels,
            article_ids=article_ids,
            index=table["index"].to_numpy().astype(np.int32),
            paths=_paths(table),
            confidence=confidence,
            parts=parts,
            allowed=allowed,
            possible=possible,
        )

    def _joined(
        self, table: pa.Table, article_ids: Sequence[str]
    ) -> tuple[tuple[str, ...] | None, Bools | None, Bools | None]:
        """Give the parts of a joined corpus's rows, the labels that they know and those that a row may bear."""
        if not self.info.label_sets:
            return None, None, None
        parts = tuple(name.partition("/")[0] for name in article_ids)
        known = {part: np.isin(self.labels, labels) for part, labels in self.info.label_sets.items()}
        allowed = np.array([known[part] for part in parts]).reshape(len(parts), len(self.labels))
        borne = {labels: np.isin(self.labels, labels) for labels in set(map(tuple, table["labels"].to_pylist()))}
        possible = np.array([borne[tuple(labels)] for labels in table["labels"].to_pylist()])
        return parts, allowed, possible.reshape(allowed.shape)

    def to_pandas(self, split: str) -> pandas.DataFrame:
        """Give a split as a DataFrame with the columns of the file."""
        return self.table(split).to_pandas()

    def to_datasets(self) -> datasets.DatasetDict:
        """Give all splits as a DatasetDict whose ``label`` is a ClassLabel with our class ids.

        Needs the extra ``datasets``; holds the rows in memory.
        """
        try:
            import datasets
        except ImportError as error:
            raise InputError("the library datasets is missing", None, "pip install 'sectioncls[datasets]'") from error
        result = {}
        for split in self.splits:
            table = self.table(split)
            ids = pc.index_in(table["label"], value_set=pa.array(self.labels)).cast(pa.int64())
            table = table.set_column(table.column_names.index("label"), "label", ids)
            features = datasets.Features.from_arrow_schema(table.schema)
            features["label"] = datasets.ClassLabel(names=list(self.labels))
            result[split] = datasets.Dataset(table.cast(features.arrow_schema))
        return datasets.DatasetDict(result)

    def to_csv(self, split: str, path: str | Path) -> None:
        """Write a split as CSV; a cell that a spreadsheet would run as a formula gets an apostrophe."""
        table = self.table(split)
        with staged_file(Path(path)) as aside, aside.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(table.column_names)
            for batch in table.to_batches(max_chunksize=4096):
                writer.writerows([spreadsheet_cell(value) for value in row.values()] for row in batch.to_pylist())


def open_corpus(path: str | Path) -> Corpus:
    """Give the corpus in a folder.

    Raises InputError when the folder is missing, holds no corpus.json of ours, or lacks a file that it lists.
    """
    folder = source_path(path)
    manifest = folder / "corpus.json"
    content = read_manifest(manifest, "a corpus", "make one with a build verb", "build the corpus again")
    corpus = Corpus(folder, _info(content, manifest))
    for split in corpus.splits:
        if not (folder / f"{split}.parquet").is_file():
            raise InputError("is missing", folder / f"{split}.parquet", "build the corpus again")
    return corpus


def read_manifest(manifest: Path, what: str, make: str, again: str) -> Any:
    """Give what a corpus.json says, of ``what`` its folder should be; raise InputError when it can't be read.

    ``make`` is the advice where there is none, ``again`` where it is no JSON.
    """
    try:
        return json.loads(manifest.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"is not {what} (no corpus.json)", manifest.parent, make) from error
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", manifest) from error
    except ValueError as error:
        raise InputError("is not JSON", manifest, again) from error


def only_corpus(folder: str | Path = "corpora") -> Path:
    """Give the only corpus inside a folder, for verbs that were told none. Raises InputError otherwise."""
    folder = Path(folder)
    found = sorted(manifest.parent for manifest in folder.glob("*/corpus.json"))
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError("holds no corpus", folder, "name one with --corpus, or make one with a build verb")
    names = ", ".join(path.name for path in found)
    raise InputError(f"holds {len(found)} corpora: {names}", folder, "name one with --corpus")


def require_trainable(corpus: Corpus, splits: Iterable[str] = SPLITS) -> tuple[str, ...]:
    """Give remarks on what a corpus lacks; raise InputError when nothing can be learnt or scored with it.

    It must have every split asked for, and each of them two labels or more. A split without one of the
    corpus's labels is only a remark.
    """
    used = {label for counts in corpus.info.counts.values() for label, count in counts.items() if count}
    if len(used) < 2:
        what = f"has only one label ({', '.join(used)})" if used else "has no sentence"
        raise InputError(what, corpus.path, "two labels or more are needed")
    remarks = []
    for split in splits:
        if split not in corpus.splits:
            there = ", ".join(corpus.splits)
            raise InputError(f"has no {split} split (splits: {there})", corpus.path, "build it with one")
        present = {label for label, count in corpus.info.counts[split].items() if count}
        if len(present) < 2:
            raise InputError(f"has only one label in {split} ({', '.join(present)})", corpus.path)
        missing = [label for label in corpus.labels if label in used - present]
        if missing:
            remarks.append(f"{split} has no sentence labelled {', '.join(missing)}")
    return tuple(remarks)


def _info(content: Any, manifest: Path) -> CorpusInfo:
    """Give the manifest as a record, or raise InputError."""
    if isinstance(content, dict) and content.get("kind") == "papers":
        raise InputError("is a paper set, not a corpus of sentences", manifest.parent, "make one with a build verb")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"is not a corpus.json of format {FORMAT}", manifest, "build the corpus again")
    names = [field.name for field in fields(CorpusInfo)]
    content = {"label_sets": {}, **content}  # corpora of older versions are not joined
    missing = [name for name in names if name not in content]
    if missing:
        raise InputError(f"lacks {', '.join(missing)}", manifest, "build the corpus again")
    values = {name: content[name] for name in names}
    for name in ("labels", "notes", "files"):
        if not isinstance(values[name], list):
            raise InputError(f"{name} is not a list", manifest, "build the corpus again")
        values[name] = tuple(values[name])
    if not isinstance(values["counts"], dict):
        raise InputError("counts is not an object", manifest, "build the corpus again")
    return CorpusInfo(**values)


def _paths(table: pa.Table) -> tuple[tuple[str, ...], ...] | None:
    """Give the titles above each row; rows under the same titles share one tuple."""
    if "path" not in table.column_names or not pc.sum(pc.list_value_length(table["path"])).as_py():
        return None
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    found = (tuple(path or ()) for path in table["path"].to_pylist())
    return tuple(known.setdefault(path, path) for path in found)


def _read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Give a Parquet file as a table; raise InputError when it can't be read."""
    try:
        return pq.read_table(path, columns=None if columns is None else list(columns))
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"can't be read as Parquet: {error}", path, "build the corpus again") from error


def spreadsheet_cell(value: Any) -> Any:
    """Give a cell that no spreadsheet takes for a formula; lists are joined with `` > ``."""
    if isinstance(value, list):
        value = " > ".join(value)
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value
