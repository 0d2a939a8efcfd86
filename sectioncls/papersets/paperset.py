"""A paper set on disk: a folder of Parquet tables about papers and ``corpus.json``.

::

    corpus.json            what it is: see PaperSetInfo
    papers.parquet         id title abstract year venue authors fields keywords split
    citations.parquet      src dst split
    topics.parquet         collection name definition          paper_topics.parquet   collection paper topic split
    queries.parquet        id text split                       qrels.parquet          task query paper score split
    targets.parquet        name paper value
    links.parquet          kind a b weight split               (pairs that the source gives: coupling, co-citation)
    outside.parquet        src reference split                 (references to works that are not in the set)
    rejected.jsonl         documents that were left out and why, where documents were read

Each table but the papers' is there only where the source has it. In memory a paper is its row number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sectioncls.corpora.corpus import read_manifest
from sectioncls.corpora.openers import source_path
from sectioncls.errors import InputError

__all__ = [
    "FORMAT",
    "KIND",
    "Links",
    "Outside",
    "PaperSet",
    "PaperSetInfo",
    "Papers",
    "Qrels",
    "Queries",
    "Topics",
    "open_paperset",
]

FORMAT = 1
KIND = "papers"
_AGAIN = "build the paper set again"
_SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class PaperSetInfo:
    """What corpus.json says.

    ``counts`` is {what: number}, ``splits`` {split: {papers, with_abstract, citations}}, ``collections``
    {collection: {topics, papers, pairs}}, ``targets`` {name: papers}, ``tasks`` {task: {"queries": what they are
    (``texts``, ``papers`` or the collection whose topics they are), "splits": {split: {queries, pairs, positives}}}},
    ``edges_by`` {key: citations found by it} where references were matched, ``dropped`` {reason: number left out}.
    ``fingerprint`` is a SHA-256 of all rows in order.
    """

    format: int
    kind: str
    name: str
    form: str
    counts: Mapping[str, int]
    splits: Mapping[str, Mapping[str, int]]
    collections: Mapping[str, Mapping[str, int]]
    targets: Mapping[str, int]
    tasks: Mapping[str, Mapping[str, Any]]
    edges_by: Mapping[str, int]
    licence: str
    command: str
    versions: Mapping[str, str]
    fingerprint: str
    notes: tuple[str, ...]
    dropped: Mapping[str, int]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Papers:
    """The papers, columns in file order; ``years`` is -1, ``venues`` '' where unknown."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    abstracts: tuple[str, ...]
    years: NDArray[np.int64]
    venues: tuple[str, ...]
    authors: tuple[tuple[str, ...], ...]
    splits: tuple[str, ...]
    fields: tuple[tuple[str, ...], ...] = ()
    keywords: tuple[tuple[str, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, *splits: str) -> NDArray[np.int64]:
        """Give the row numbers of the papers of some splits, in order; all of them where none is named."""
        if not splits:
            return np.arange(len(self.ids), dtype=np.int64)
        return np.flatnonzero(np.isin(np.asarray(self.splits, dtype=np.str_), list(splits))).astype(np.int64)

    def row_of(self) -> dict[str, int]:
        """Give {id: row number}."""
        return {paper: row for row, paper in enumerate(self.ids)}


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """One label set: names, their definitions ('' unknown), and ``pairs`` (m, 2) of (paper row, topic row)."""

    collection: str
    names: tuple[str, ...]
    definitions: tuple[str, ...]
    pairs: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Search queries in file order."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    splits: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgements of one ranking task, aligned; those of one query in one split stand together.

    ``query_ids`` (n,) str objects; ``paper_rows`` (n,) the judged papers; ``scores`` (n,) float64, 0 for a negative
    that is to be ranked; ``splits`` (n,) str objects; ``query_rows`` (n,) the queries' own rows where they are papers,
    else None.
    """

    task: str
    query_ids: NDArray[np.object_]
    paper_rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    splits: NDArray[np.object_]
    query_rows: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.paper_rows)


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Undirected pairs of papers that the source gives: ``pairs`` (n, 2) rows, ``weights`` (n,) float64."""

    kind: str
    pairs: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outside:
    """References to works outside the set: ``sources`` (n,) rows, ``works`` (n,) numbers into ``references``."""

    sources: NDArray[np.int64]
    works: NDArray[np.int64]
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperSet:
    """An opened paper set; tables are read when asked for.

    Where ``splits`` may be named, none means all. All tables are in file order.
    """

    path: Path
    info: PaperSetInfo

    @property
    def name(self) -> str:
        """The set's name."""
        return self.info.name

    def papers(self) -> Papers:
        """Give the papers."""
        table = self._table("papers")
        years = table["year"].fill_null(-1)
        return Papers(
            ids=tuple(table["id"].to_pylist()),
            titles=tuple(table["title"].to_pylist()),
            abstracts=tuple(table["abstract"].to_pylist()),
            years=years.to_numpy().astype(np.int64),
            venues=tuple(table["venue"].fill_null("").to_pylist()),
            authors=_lists(table["authors"]),
            splits=tuple(table["split"].to_pylist()),
            fields=_lists(table["fields"]),
            keywords=_lists(table["keywords"]),
        )

    def citations(self, *splits: str) -> NDArray[np.int64]:
        """Give the citations as (n, 2) row numbers: the citing paper, the cited one. None where there is no graph."""
        table = self._optional("citations", ("src", "dst", "split"), splits)
        if table is None:
            return np.empty((0, 2), dtype=np.int64)
        return self._pairs(table, "citations", "src", "dst")

    def outside(self, *splits: str) -> Outside:
        """Give the references to works that are not papers of the set."""
        table = self._optional("outside", ("src", "reference", "split"), splits)
        if table is None:
            return Outside(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), ())
        encoded = table["reference"].combine_chunks().dictionary_encode()
        works = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return Outside(self._rows(table["src"], "outside"), works, tuple(encoded.dictionary.to_pylist()))

    def link_kinds(self) -> tuple[str, ...]:
        """Give the kinds of links, sorted; () where there are none."""
        table = self._optional("links", ("kind",))
        return () if table is None else tuple(sorted(pc.unique(table["kind"]).to_pylist()))

    def links(self, kind: str, *splits: str) -> Links:
        """Give the links of a kind. Raises InputError naming those that exist."""
        table = self._optional("links", ("kind", "a", "b", "weight", "split"), splits)
        if table is None or kind not in self.link_kinds():
            raise InputError(f"has no links {kind!r} (links: {', '.join(self.link_kinds()) or 'none'})", self.path)
        table = table.filter(pc.equal(table["kind"], kind))
        return Links(kind, self._pairs(table, "links", "a", "b"), _floats(table["weight"]))

    def collections(self) -> tuple[str, ...]:
        """Give the names of the label sets, sorted."""
        return tuple(sorted(self.info.collections))

    def topics(self, collection: str) -> Topics:
        """Give one label set. Raises InputError naming those that exist."""
        self._known(collection, self.collections(), "collection")
        table = _where(self._table("topics"), "collection", collection)
        names = table["name"].to_pylist()
        assigned = _where(self._table("paper_topics"), "collection", collection)
        numbers = pc.index_in(assigned["topic"], value_set=pa.array(names, pa.string()))
        if numbers.null_count:
            raise InputError("names a topic that topics.parquet lacks", self.path / "paper_topics.parquet", _AGAIN)
        pairs = np.stack([self._rows(assigned["paper"], "paper_topics"), numbers.to_numpy().astype(np.int64)], axis=1)
        return Topics(collection, tuple(names), tuple(table["definition"].to_pylist()), pairs)

    def queries(self) -> Queries:
        """Give the search queries, none where the set has none."""
        table = self._optional("queries", ("id", "text", "split"))
        if table is None:
            return Queries((), (), ())
        return Queries(*(tuple(table[name].to_pylist()) for name in ("id", "text", "split")))

    def ranking_tasks(self) -> tuple[str, ...]:
        """Give the names of the ranking tasks, sorted."""
        return tuple(sorted(self.info.tasks))

    def qrels(self, task: str, *splits: str) -> Qrels:
        """Give the judgements of a task. Raises InputError naming the tasks that exist."""
        self._known(task, self.ranking_tasks(), "task")
        table = self._optional("qrels", ("task", "query", "paper", "score", "split"), splits)
        if table is None:
            raise InputError("is missing", self.path / "qrels.parquet", _AGAIN)
        table = _where(table, "task", task)
        papers = self.info.tasks[task].get("queries") == "papers"
        return Qrels(
            task=task,
            query_ids=_objects(table["query"]),
            paper_rows=self._rows(table["paper"], "qrels"),
            scores=_floats(table["score"]),
            splits=_objects(table["split"]),
            query_rows=self._rows(table["query"], "qrels") if papers else None,
        )

    def target_names(self) -> tuple[str, ...]:
        """Give the names of the numbers that papers have, sorted."""
        return tuple(sorted(self.info.targets))

    def targets(self, name: str) -> NDArray[np.float64]:
        """Give (papers,) values, NaN where unknown. Raises InputError naming the targets that exist."""
        self._known(name, self.target_names(), "target")
        table = _where(self._table("targets"), "name", name)
        values = np.full(self.info.counts["papers"], np.nan)
        values[self._rows(table["paper"], "targets")] = _floats(table["value"])
        return values

    def _known(self, name: str, there: Sequence[str], what: str) -> None:
        if name not in there:
            raise InputError(f"has no {what} {name!r} ({what}s: {', '.join(there) or 'none'})", self.path)

    def _table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        path = self.path / f"{name}.parquet"
        try:
            return pq.read_table(path, columns=None if columns is None else list(columns))
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"can't be read as Parquet: {error}", path, _AGAIN) from error

    def _optional(self, name: str, columns: Sequence[str], splits: Sequence[str] = ()) -> pa.Table | None:
        """Give a table that a set may lack, only the rows of some splits where they are named."""
        for split in splits:
            self._known(split, _SPLITS, "split")
        if f"{name}.parquet" not in self.info.files:
            return None
        table = self._table(name, columns)
        return table.filter(pc.is_in(table["split"], value_set=pa.array(list(splits)))) if splits else table

    def _rows(self, column: pa.ChunkedArray, table: str) -> NDArray[np.int64]:
        """Give the row numbers of papers named in a column."""
        ids = self._table("papers", ("id",))["id"].combine_chunks()
        rows = pc.index_in(column, value_set=ids)
        if rows.null_count:
            raise InputError("names a paper that papers.parquet lacks", self.path / f"{table}.parquet", _AGAIN)
        return np.asarray(rows.to_numpy(), dtype=np.int64)

    def _pairs(self, table: pa.Table, name: str, one: str, other: str) -> NDArray[np.int64]:
        return np.stack([self._rows(table[one], name), self._rows(table[other], name)], axis=1)


def open_paperset(path: str | Path) -> PaperSet:
    """Give the paper set in a folder.

    Raises InputError when the folder is missing, holds no corpus.json of a paper set, or lacks a file that it lists.
    """
    folder = source_path(path)
    manifest = folder / "corpus.json"
    content = read_manifest(manifest, "a paper set", "make one with `build-papers`", _AGAIN)
    if isinstance(content, dict) and "scheme" in content and content.get("kind") != KIND:
        raise InputError("is a corpus of sentences, not a paper set", folder, "make one with `build-papers`")
    info = _info(content, manifest)
    for name in info.files:
        if not (folder / name).is_file():
            raise InputError("is missing", folder / name, _AGAIN)
    return PaperSet(folder, info)


def _info(content: Any, manifest: Path) -> PaperSetInfo:
    """Give the manifest as a record, or raise InputError."""
    if not isinstance(content, dict) or content.get("kind") != KIND or content.get("format") != FORMAT:
        raise InputError(f"is not a corpus.json of papers of format {FORMAT}", manifest, _AGAIN)
    names = [field.name for field in fields(PaperSetInfo)]
    missing = [name for name in names if name not in content]
    if missing:
        raise InputError(f"lacks {', '.join(missing)}", manifest, _AGAIN)
    values = {name: content[name] for name in names}
    for name in ("notes", "files"):
        if not isinstance(values[name], list) or not all(isinstance(value, str) for value in values[name]):
            raise InputError(f"{name} is not a list of texts", manifest, _AGAIN)
        values[name] = tuple(values[name])
    for name in ("counts", "splits", "collections", "targets", "tasks"):
        if not isinstance(values[name], dict):
            raise InputError(f"{name} is not an object", manifest, _AGAIN)
    return PaperSetInfo(**values)


def _where(table: pa.Table, column: str, value: str) -> pa.Table:
    return table.filter(pc.equal(table[column], value))


def _lists(column: pa.ChunkedArray) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(values or ()) for values in column.to_pylist())


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _objects(column: pa.ChunkedArray) -> NDArray[np.object_]:
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_pylist()
    return values
