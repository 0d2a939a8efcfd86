"""Writing a paper set: papers pass through to disk, all else is held as row numbers and written at the end.

Whatever can't be kept (a citation of an unknown paper, a judgement of one, doubles) is counted, never an error.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sectioncls.corpora.rowgroups import Rows
from sectioncls.corpora.writer import versions_of
from sectioncls.errors import InputError
from sectioncls.papersets.paperset import FORMAT, KIND, PaperSetInfo
from sectioncls.papersets.repeats import Repeats
from sectioncls.papersets.splits import SPLITS, split_number
from sectioncls.papersets.tables import (
    Facts,
    Names,
    Table,
    counts_by_split,
    ranking_table,
    split_column,
    text_table,
    topic_tables,
    write_table,
)
from sectioncls.records import Paper, Rejected
from sectioncls.staging import folder_files, staged_folder

__all__ = ["PAPER_FIELDS", "PaperSetWriter", "create_paperset"]

PAPER_FIELDS: dict[str, pa.DataType] = {
    "id": pa.string(),
    "title": pa.string(),
    "abstract": pa.string(),
    "year": pa.int32(),
    "venue": pa.string(),
    "authors": pa.list_(pa.string()),
    "fields": pa.list_(pa.string()),
    "keywords": pa.list_(pa.string()),
    "split": pa.string(),
}
SEARCH = "texts"
PAPERS = "papers"


class PaperSetWriter:
    """Takes the papers of a set, then all that is said about them; create_paperset gives one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._papers = Rows(folder / "papers.parquet", PAPER_FIELDS)
        self._rows: dict[str, int] = {}
        self._splits = array("b")
        self._with_abstract = array("b")
        self._repeats = Repeats()
        self._digest = hashlib.sha256()
        self._counts: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._notes: list[str] = []
        self._edges_by: Counter[str] = Counter()
        self._rejected: IO[str] | None = None
        self._citations = Facts(2)  # src, dst; the split that the source gives, -1 for none
        self._outside = Facts(2)  # src, reference
        self._references = Names()
        self._links = Facts(3)  # kind, a, b; weight
        self._kinds = Names()
        self._collections: dict[str, dict[str, str]] = {}
        self._topics = Facts(3)  # collection, paper, topic
        self._collection_names = Names()
        self._topic_names = Names()
        self._queries: dict[str, tuple[str, str]] = {}
        self._tasks: dict[str, str] = {}
        self._task_names = Names()
        self._query_names = Names()
        self._judgements = Facts(4)  # task, split, query, paper; score
        self._targets = Facts(2)  # target, paper; value
        self._target_names = Names()

    def add_paper(self, paper: Paper, split: str, keywords: Sequence[str] = ()) -> bool:
        """Write a paper and tell whether it was kept: one without text, or whose id is there, is counted instead."""
        title, abstract = paper.title.strip(), paper.abstract.strip()
        if not (title or abstract):
            self._dropped["papers without title and abstract"] += 1
            return False
        if paper.id in self._rows:
            self._dropped["papers with the id of another"] += 1
            return False
        code = split_number(split)
        self._rows[paper.id] = len(self._rows)
        self._splits.append(code)
        self._with_abstract.append(bool(abstract))
        lists = (list(paper.authors), list(paper.fields), list(keywords))
        cells = (paper.id, title, abstract, paper.year, paper.venue or None, *lists, split)
        self._papers.append(cells)
        self._digest.update(json.dumps(cells, ensure_ascii=True).encode())
        self._counts["papers"] += 1
        self._counts["without abstract"] += not abstract
        self._counts["without title"] += not title
        self._repeats.add(title, abstract, code)
        return True

    def row(self, paper: str) -> int | None:
        """Give the row number of a paper, None for one that is not in the set."""
        return self._rows.get(paper)

    def split_of(self, paper: str) -> str | None:
        """Give the split of a paper, None for one that is not in the set."""
        row = self._rows.get(paper)
        return None if row is None else SPLITS[self._splits[row]]

    def add_citation(self, src: str, dst: str, given: str | None = None, by: str | None = None) -> bool:
        """Add that ``src`` cites ``dst``; ``given`` is the split that the source says, ``by`` the key it was found by.

        The split that is written is the papers'. What is not kept is counted.
        """
        one, other = self._rows.get(src), self._rows.get(dst)
        if src == dst:
            self._dropped["citations of the paper itself"] += 1
        elif one is None or other is None:
            self._dropped["citations with a paper that is not in the set"] += 1
        else:
            self._citations.add(one, other, value=-1 if given is None else split_number(given))
            if by is not None:
                self._edges_by[by] += 1
            return True
        return False

    def ids(self) -> list[str]:
        """Give the ids of the papers; the position is the row."""
        return list(self._rows)

    def splits(self) -> NDArray[np.int8]:
        """Give the place in SPLITS of each paper's split."""
        return np.array(self._splits, dtype=np.int8)

    def with_abstract(self) -> NDArray[np.bool_]:
        """Tell for each paper whether it has an abstract."""
        return np.array(self._with_abstract, dtype=bool)

    def ranks_papers(self) -> bool:
        """Tell whether a task with papers as queries was declared."""
        return PAPERS in self._tasks.values()

    def citations(self) -> NDArray[np.int64]:
        """Give the citations added so far, each once, sorted: (n, 2) rows."""
        return self._citations.distinct()[0]

    def outside(self) -> NDArray[np.int64]:
        """Give the references to other works added so far: (n, 2) of paper row, number of the work."""
        return self._outside.rows()

    def add_outside(self, src: str, reference: str) -> None:
        """Add a reference to a work that is no paper of the set."""
        row = self._rows.get(src)
        if row is None:
            self._dropped["references of a paper that is not in the set"] += 1
            return
        self._outside.add(row, self._references.number(reference))

    def add_link(self, kind: str, one: str, other: str, weight: float) -> None:
        """Add an undirected pair of papers (coupling, co-citation) that the source gives."""
        a, b = self._rows.get(one), self._rows.get(other)
        if a is None or b is None:
            self._dropped["links with a paper that is not in the set"] += 1
        elif a == b:
            self._dropped["links of a paper with itself"] += 1
        else:
            self._links.add(self._kinds.number(kind), min(a, b), max(a, b), value=weight)

    def add_topic(self, collection: str, name: str, definition: str = "") -> None:
        """Add a topic of a collection with its definition; topics are written sorted, whatever their order here."""
        topics = self._collections.setdefault(collection, {})
        topics[name] = topics.get(name) or definition

    def add_paper_topic(self, collection: str, paper: str, topic: str) -> None:
        """Add that a paper has a topic of a collection."""
        row = self._rows.get(paper)
        if row is None:
            self._dropped["topics of a paper that is not in the set"] += 1
            return
        self._topics.add(self._collection_names.number(collection), row, self._topic_names.number(topic))

    def add_query(self, query: str, text: str, split: str) -> None:
        """Add a search query; one without text, or whose id is there, is counted instead."""
        split_number(split)
        if not text.strip():
            self._dropped["queries without text"] += 1
        elif query in self._queries:
            self._dropped["queries with the id of another"] += 1
        else:
            self._queries[query] = (text.strip(), split)

    def query_split(self, query: str) -> str | None:
        """Give the split of a search query, None for one that is not in the set."""
        found = self._queries.get(query)
        return None if found is None else found[1]

    def add_task(self, task: str, queries: str = PAPERS) -> None:
        """Declare a ranking task whose queries are ``papers``, ``texts`` (see add_query) or a collection's topics."""
        known = self._tasks.setdefault(task, queries)
        if known != queries:
            raise InputError(f"the queries of the task {task!r} are {known} and {queries}")

    def add_judgement(self, task: str, query: str, paper: str, score: float, split: str) -> None:
        """Add how well a paper answers a query of a declared task; 0 is a negative that is to be ranked."""
        row = self._rows.get(paper)
        kind = self._tasks[task]
        if (kind == SEARCH and query not in self._queries) or (kind == PAPERS and query not in self._rows):
            self._dropped["judgements for a query that is not in the set"] += 1
        elif row is None:
            self._dropped["judgements of a paper that is not in the set"] += 1
        elif kind == PAPERS and query == paper:
            self._dropped["judgements of the query itself"] += 1
        else:
            numbers = (self._task_names.number(task), split_number(split), self._query_names.number(query), row)
            self._judgements.add(*numbers, value=score)

    def add_target(self, name: str, paper: str, value: float) -> None:
        """Add a number of a paper."""
        row = self._rows.get(paper)
        if row is None:
            self._dropped["numbers of a paper that is not in the set"] += 1
        elif not np.isfinite(value):
            self._dropped["numbers that are none (NaN, infinite)"] += 1
        else:
            self._targets.add(self._target_names.number(name), row, value=value)

    def note(self, text: str) -> None:
        """Add a remark to corpus.json."""
        self._notes.append(text)

    def dropped(self, reason: str, count: int = 1) -> None:
        """Count what was left out."""
        if count:
            self._dropped[reason] += count

    def reject(self, rejected: Rejected) -> None:
        """Record a document that was left out in rejected.jsonl, and count its reason."""
        self._dropped[f"documents: {rejected.reason}"] += 1
        self.begin_rejections().write(json.dumps(asdict(rejected), ensure_ascii=False) + "\n")

    def begin_rejections(self) -> IO[str]:
        """Give rejected.jsonl opened for writing; it exists from then on, even if nothing is rejected."""
        if self._rejected is None:
            self._rejected = (self.folder / "rejected.jsonl").open("w", encoding="utf-8", newline="\n")
        return self._rejected

    def abandon(self) -> None:
        """Close what is open, whatever state it is in."""
        self._papers.abandon()
        if self._rejected is not None:
            self._rejected.close()
            self._rejected = None

    def close(self, **known: Any) -> PaperSetInfo:
        """Write all tables and give what corpus.json says. Raises InputError when there is no paper."""
        if not self._rows:
            raise InputError("no paper was found, so there is no paper set to write", known["name"])
        self._papers.flush()
        self.abandon()
        ids = pa.array(self._rows, pa.string())
        splits = np.frombuffer(self._splits, dtype=np.int8)
        papers, abstracts = counts_by_split(splits), counts_by_split(splits[self.with_abstract()])
        edges = self._write_citations(ids, splits)
        counted = (("papers", papers), ("with_abstract", abstracts), ("citations", edges))
        self._write_outside(ids, splits)
        self._write_links(ids, splits)
        collections = self._write_topics(ids, splits)
        if self._queries:
            rows = ((query, text, split) for query, (text, split) in self._queries.items())
            self._put("queries", text_table(("id", "text", "split"), rows))
        tasks = self._write_judgements(ids)
        targets = self._write_targets(ids)
        self._notes += self._repeats.notes()
        return PaperSetInfo(
            format=FORMAT,
            kind=KIND,
            counts={name: number for name, number in self._counts.items() if number},
            splits={split: {what: numbers[split] for what, numbers in counted} for split in SPLITS},
            collections=collections,
            targets=targets,
            tasks=tasks,
            edges_by=dict(sorted(self._edges_by.items())),
            fingerprint=self._digest.hexdigest(),
            notes=tuple(self._notes),
            dropped=dict(sorted((reason, count) for reason, count in self._dropped.items() if count)),
            files=tuple(sorted({*folder_files(self.folder), "corpus.json"})),
            **known,
        )

    def _put(self, name: str, table: Table) -> None:
        """Write a table that has rows."""
        self._counts[name] = write_table(self.folder / f"{name}.parquet", table, self._digest)

    def _write_citations(self, ids: pa.Array, splits: NDArray[np.int8]) -> dict[str, int]:
        """Write the citations, each in the split that its papers say, and give their number by split."""
        edges, given, again = self._citations.distinct()
        self.dropped("citations given twice", again)
        codes = splits[edges].max(axis=1, initial=0)
        others = int(np.sum((given >= 0) & (given != codes)))
        if others:
            self.note(f"{others} citations stood in another split than their papers do; the papers' is written")
        if len(edges):
            self._put("citations", {"src": (ids, edges[:, 0]), "dst": (ids, edges[:, 1]), "split": split_column(codes)})
        return counts_by_split(codes)

    def _write_outside(self, ids: pa.Array, splits: NDArray[np.int8]) -> None:
        pairs, _, again = self._outside.distinct()
        self.dropped("references given twice", again)
        if len(pairs):
            pairs = pairs[np.lexsort((self._references.ranks()[pairs[:, 1]], pairs[:, 0]))]
            table: Table = {"src": (ids, pairs[:, 0]), "reference": (self._references.array(), pairs[:, 1])}
            self._put("outside", table | {"split": split_column(splits[pairs[:, 0]])})

    def _write_links(self, ids: pa.Array, splits: NDArray[np.int8]) -> None:
        links, weights, again = self._links.distinct()
        self.dropped("links given twice", again)
        if len(links):
            order = np.lexsort((links[:, 2], links[:, 1], self._kinds.ranks()[links[:, 0]]))
            links, weights = links[order], weights[order]
            table: Table = {"kind": (self._kinds.array(), links[:, 0])}
            table |= {"a": (ids, links[:, 1]), "b": (ids, links[:, 2]), "weight": weights}
            self._put("links", table | {"split": split_column(splits[links[:, 1:]].max(axis=1))})

    def _write_topics(self, ids: pa.Array, splits: NDArray[np.int8]) -> dict[str, dict[str, int]]:
        triples, _, again = self._topics.distinct()
        self.dropped("topics of papers given twice", again)
        for collection in self._collections:
            self._collection_names.number(collection)
        if not self._collections and not len(triples):
            return {}
        topics, papers, counts = topic_tables(
            ids, splits, self._collections, triples, self._collection_names, self._topic_names
        )
        self._put("topics", topics)
        self._put("paper_topics", papers)
        return counts

    def _write_judgements(self, ids: pa.Array) -> dict[str, dict[str, Any]]:
        rows, grades, again = self._judgements.distinct(highest=True)
        self.dropped("judgements given twice (the higher is kept)", again)
        if not len(rows):
            return {}
        table, counts = ranking_table(ids, rows, grades, self._task_names, self._query_names)
        self._put("qrels", table)
        return {task: {"queries": self._tasks[task], "splits": number} for task, number in counts.items()}

    def _write_targets(self, ids: pa.Array) -> dict[str, int]:
        rows, values, again = self._targets.distinct()
        self.dropped("numbers given twice", again)
        if not len(rows):
            return {}
        order = np.lexsort((rows[:, 1], self._target_names.ranks()[rows[:, 0]]))
        rows, values = rows[order], values[order]
        table: Table = {"name": (self._target_names.array(), rows[:, 0]), "paper": (ids, rows[:, 1]), "value": values}
        self._put("targets", table)
        return {name: int(np.sum(rows[:, 0] == number)) for number, name in enumerate(self._target_names.texts)}


@contextmanager
def create_paperset(
    path: str | Path,
    *,
    name: str,
    form: str,
    command: str,
    overwrite: bool = False,
    licence: str = "",
    notes: Iterable[str] = (),
    packages: Sequence[str] = (),
) -> Iterator[PaperSetWriter]:
    """Give a writer whose papers become the set ``path`` when the block ends well, and nothing otherwise.

    Papers are added first, then what is said about them. Raises OutputError when ``path`` is taken (see
    staging.check_output), InputError when no paper was added.
    """
    with staged_folder(Path(path), overwrite=overwrite) as folder:
        writer = PaperSetWriter(folder)
        for text in notes:
            writer.note(text)
        try:
            yield writer
            info = writer.close(name=name, form=form, licence=licence, command=command, versions=versions_of(packages))
        finally:
            writer.abandon()
        manifest = json.dumps(asdict(info), indent=1, ensure_ascii=False)
        (folder / "corpus.json").write_text(manifest + "\n", encoding="utf-8")
