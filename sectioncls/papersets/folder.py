"""Sets as folders of tables: the form of BEIR, with citations, topics, rankings and reviewers where there are any.

What a file holds is told by its name (packed or not)::

    papers*.jsonl  corpus.jsonl                     one paper a line (see fields.py)
    citations*  edges*                              .tsv, .csv, .txt, .jsonl: citing, cited, split
    references_outside*.tsv                         references to other works
    links*.tsv                                      a b kind weight
    labels.jsonl  labels_NAME.jsonl                 topics with definitions
    terms.tsv  mesh_headings.tsv                    topics, check tags marked
    queries*.jsonl  qrels*.tsv  qrels/SPLIT.tsv     search; qrels_NAME.tsv without queries: papers are the queries
    rerank_NAME/SPLIT.tsv  retrieval_NAME/SPLIT.tsv rankings whose queries are papers
    expertise.tsv  profiles.jsonl                   reviewers
    evaluation_splits.json                          which query of qrels_NAME.tsv is dev and test in fold 1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sectioncls.corpora.records import plain_name, read_records
from sectioncls.errors import InputError
from sectioncls.papersets.fields import FieldRules, describe, text_of
from sectioncls.papersets.forms import kind_of
from sectioncls.papersets.rows import edge_rows, judgement_rows, number_of, table_rows
from sectioncls.papersets.splits import known_split, split_of_paper, split_of_query
from sectioncls.papersets.writer import PaperSetWriter

__all__ = ["FolderFiles", "read_folder", "sort_files"]

CHECK_TAGS = "check_tags"
REVIEWERS = "reviewers"
EXPERTISE = "expertise"
UNJUDGED = ("unjudged", "none")
_TABLES = (".tsv", ".csv", ".txt")
_LINES = (".jsonl", ".ndjson")
_LISTS = {"terms": "terms", "mesh_headings": "mesh"}
_OURS = ("fetched.json", "missing.jsonl")


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files of a set by what they hold; ``qrels`` are (task or '', split or None, file)."""

    papers: list[Path] = field(default_factory=list)
    citations: list[Path] = field(default_factory=list)
    outside: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    labels: dict[str, Path] = field(default_factory=dict)
    lists: dict[str, Path] = field(default_factory=dict)
    queries: list[Path] = field(default_factory=list)
    qrels: list[tuple[str, str | None, Path]] = field(default_factory=list)
    rankings: list[tuple[str, str, Path]] = field(default_factory=list)
    expertise: list[Path] = field(default_factory=list)
    profiles: list[Path] = field(default_factory=list)
    folds: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def sort_files(files: list[Path]) -> FolderFiles:
    """Give the files by what their names say they hold; those with other names by their first record."""
    found = FolderFiles()
    for path in files:
        _sort(path, found)
    for path in list(found.others):
        kind = kind_of(path)
        if (kind == "papers" and not found.papers) or (kind == "citations" and not found.citations):
            (found.papers if kind == "papers" else found.citations).append(path)
            found.others.remove(path)
    return found


def _sort(path: Path, found: FolderFiles) -> None:
    name = Path(plain_name(path))
    stem, suffix = name.stem.lower(), name.suffix.lower()
    above = path.parent.name.lower()
    table, lines = suffix in _TABLES, suffix in _LINES
    split = known_split(stem)
    if table and split and above.startswith(("rerank_", "retrieval_")):
        found.rankings.append((above.removeprefix("rerank_"), split, path))
    elif table and split and above == "qrels":
        found.qrels.append(("", split, path))
    elif lines and (stem.startswith("papers") or stem == "corpus"):
        found.papers.append(path)
    elif (table or lines) and stem.startswith(("citations", "edges")):
        found.citations.append(path)
    elif table and stem.startswith("references_outside"):
        found.outside.append(path)
    elif table and stem.startswith("links"):
        found.links.append(path)
    elif lines and (stem == "labels" or stem.startswith("labels_")):
        found.labels["label" if stem == "labels" else stem.removeprefix("labels_")] = path
    elif table and stem in _LISTS:
        found.lists[_LISTS[stem]] = path
    elif lines and stem.startswith("queries"):
        found.queries.append(path)
    elif table and stem.startswith("qrels"):
        rest = stem.removeprefix("qrels").strip("_-.")
        found.qrels.append(("", known_split(rest), path) if known_split(rest) else (rest, None, path))
    elif table and stem == "expertise":
        found.expertise.append(path)
    elif lines and stem == "profiles":
        found.profiles.append(path)
    elif stem == "evaluation_splits" and suffix == ".json":
        found.folds.append(path)
    elif path.name not in _OURS:
        found.others.append(path)


def read_folder(paths: list[Path], writer: PaperSetWriter, *, name: str, rules: FieldRules, seed: int) -> None:
    """Write what the files of a set hold; ``name`` stands in the hash of papers without a title.

    Raises InputError with file and line for a malformed line, and when no file holds papers.
    """
    files = sort_files(paths)
    if not files.papers:
        raise InputError("holds no papers", name, "papers.jsonl or corpus.jsonl, packed or not")
    tags = _read_lists(files, writer)
    _read_papers(files.papers, writer, tags, name=name, rules=rules, seed=seed)
    _read_citations(files, writer)
    for collection, path in files.labels.items():
        for where, record in read_records(path, paths=()):
            label = text_of(record.get("name"), "name", where).strip()
            if not label:
                raise InputError("has no name", where)
            writer.add_topic(collection, label, text_of(record.get("definition"), "definition", where).strip())
    splits = _splits_of_qrels(files)
    for path in files.queries:
        _read_queries(path, writer, splits, seed)
    _read_qrels(files, writer)
    for task, split, path in files.rankings:
        writer.add_task(task)
        for _, query, paper, score in judgement_rows(path):
            _judge(writer, task, query, paper, score, split)
    _read_reviewers(files, writer)
    if files.others:
        writer.note(f"files that are not read: {', '.join(sorted(path.name for path in files.others))}")


def _read_papers(
    paths: list[Path],
    writer: PaperSetWriter,
    tags: Mapping[tuple[str, str], str],
    *,
    name: str,
    rules: FieldRules,
    seed: int,
) -> None:
    unread: Counter[str] = Counter()
    hashed = 0
    for path in paths:
        for where, record in read_records(path, paths=()):
            found = describe(record, where, rules, unread)
            split = _split(found.split, where)
            paper = found.paper
            placed = split or split_of_paper(paper.title, f"{name}|{paper.id}", seed)
            if not writer.add_paper(paper, placed, found.keywords):
                continue
            hashed += split is None
            for collection, topic in found.topics:
                writer.add_paper_topic(tags.get((collection, topic), collection), paper.id, topic)
            for target, value in found.targets:
                writer.add_target(target, paper.id, value)
    if hashed:
        writer.note(f"{hashed} papers were put into splits by the hash of their title with seed {seed}")
    if unread:
        counts = ", ".join(f"{name} ({count})" for name, count in sorted(unread.items()))
        writer.note(f"fields of papers that are not read: {counts}")


def _read_citations(files: FolderFiles, writer: PaperSetWriter) -> None:
    remarks: list[str] = []
    for path in files.citations:
        for where, src, dst, given in edge_rows(path, remarks):
            writer.add_citation(src, dst, _split(given, where))
    for path in files.outside:
        for _, row in table_rows(path, ("src",)):
            key = next((head for head in row if head.startswith("dst")), None)
            if key is None:
                raise InputError("lacks the column dst", f"{path}:1")
            writer.add_outside(row["src"], f"doi:{row[key]}" if key == "dst_doi" else row[key])
    for path in files.links:
        for where, row in table_rows(path, ("a", "b")):
            weight = number_of(row.get("weight", "1"), "weight", where)
            writer.add_link(row.get("kind", "link"), row["a"], row["b"], weight)
    for remark in remarks:
        writer.note(remark)


def _read_lists(files: FolderFiles, writer: PaperSetWriter) -> dict[tuple[str, str], str]:
    """Read lists of topics; give {(collection, topic): collection of its own} for those that are check tags."""
    tags: dict[tuple[str, str], str] = {}
    for collection, path in files.lists.items():
        column = "heading" if collection == "mesh" else "term"
        for _, row in table_rows(path, (column,)):
            topic = " ".join(row[column].split())
            if row.get("check_tag", "0") in ("", "0"):
                writer.add_topic(collection, topic)
            else:
                tags[collection, topic] = f"{collection}_{CHECK_TAGS}"
    if tags:
        writer.note(
            f"{len(tags)} check tags stand in a collection of their own ({', '.join(sorted(set(tags.values())))})"
        )
    return tags


def _splits_of_qrels(files: FolderFiles) -> dict[str, str]:
    """Give {query: split} by the files that are named after one; test and dev win over train."""
    ranks = {"train": 0, "dev": 1, "test": 2}
    splits: dict[str, str] = {}
    for _, split, path in files.qrels:
        if split is not None:
            for _, query, _, _ in judgement_rows(path):
                if query not in splits or ranks[split] > ranks[splits[query]]:
                    splits[query] = split
    return splits


def _read_queries(path: Path, writer: PaperSetWriter, splits: Mapping[str, str], seed: int) -> None:
    hashed = 0
    for where, record in read_records(path, paths=()):
        query = record.get("_id", record.get("id"))
        if query is None or isinstance(query, dict | list | bool):
            raise InputError("has no _id", where)
        given = record.get("split")
        if isinstance(given, str) and given.lower() in UNJUDGED:
            writer.dropped("queries without judgements")
            continue
        split = _split(given if isinstance(given, str) else None, where) or splits.get(str(query))
        if split is None:
            hashed += 1
            split = split_of_query(str(query), seed)
        writer.add_query(str(query), text_of(record.get("text"), "text", where), split)
    if hashed:
        writer.note(f"{hashed} queries were put into dev and test by a hash of their id with seed {seed}")


def _read_qrels(files: FolderFiles, writer: PaperSetWriter) -> None:
    """Read the judgements; without a queries file the queries are papers."""
    folds = _folds(files.folds)
    if folds:
        writer.note("queries are dev and test as in fold 1; in fold 2 it is the other way round")
    for name, split, path in files.qrels:
        task = name or "search"
        texts = bool(files.queries)
        writer.add_task(task, "texts" if texts else "papers")
        for _, query, paper, score in judgement_rows(path):
            found = split or folds.get((task, query))
            if found is None:
                found = writer.query_split(query) if texts else writer.split_of(query)
            _judge(writer, task, query, paper, score, found or "test")


def _judge(writer: PaperSetWriter, task: str, query: str, paper: str, score: float, split: str) -> None:
    if score < 0:
        writer.dropped("judgements below 0 (taken as 0)")
        score = 0.0
    writer.add_judgement(task, query, paper, score, split)


def _folds(paths: list[Path]) -> dict[tuple[str, str], str]:
    """Give {(task, query): split} of fold 1, as in ``{task: {fold1_dev: [query_task, …], fold1_test: […]}}``."""
    found = {}
    for path in paths:
        for where, record in read_records(path, paths=()):
            task = str(record["_key"])
            for name in ("dev", "test"):
                members = record.get(f"fold1_{name}", [])
                if not isinstance(members, list) or not all(isinstance(one, str) for one in members):
                    raise InputError(f"fold1_{name} is no list of texts", where)
                for member in members:
                    query, _, facet = member.rpartition("_")
                    if facet == task:
                        found[task, query] = name
    return found


def _read_reviewers(files: FolderFiles, writer: PaperSetWriter) -> None:
    """Read reviewers: the papers of their profiles are a collection, what they know a ranking task."""
    for path in files.profiles:
        for where, record in read_records(path, paths=()):
            reviewer, papers = record.get("reviewer"), record.get("papers")
            if not isinstance(reviewer, str) or not isinstance(papers, list):
                raise InputError("has no reviewer or no papers", where)
            writer.add_topic(REVIEWERS, reviewer)
            for paper in papers:
                writer.add_paper_topic(REVIEWERS, str(paper), reviewer)
    for path in files.expertise:
        writer.add_task(EXPERTISE, REVIEWERS)
        for where, row in table_rows(path, ("reviewer", "paper", "expertise")):
            score = number_of(row["expertise"], "expertise", where)
            writer.add_judgement(EXPERTISE, row["reviewer"], row["paper"], score, "test")


def _split(given: str | None, where: str) -> str | None:
    """Give our name of a split, None where none is given. Raises InputError for what is no split."""
    if given is None or not given.strip():
        return None
    split = known_split(given)
    if split is None:
        raise InputError(f"{given!r} is no split", where, "train, dev or test")
    return split
