"""SciRepEval in the form of its evaluation files: a folder becomes the arrays of each task, an encoder its scores.

::

    TASK/metadata.jsonl            {doc_id, title, abstract, …}; with queries: {query, doc_id, candidates: [paper, …]}
    TASK/{train,test}.csv|.jsonl   paper_id, label            (labels and numbers; several labels: a list of 0 and 1)
    TASK/test_qrel.jsonl           {query_id, cand_id, score} (candidates and reviewers)
    TASK/reviewer_metadata.jsonl   {r_id, papers: [id, …]}
    TASK/triplets.jsonl            {query: paper, pos: paper, neg: paper}
    TASK/{signatures,clusters}.json S2AND: {id: {paper_id, author_info: {block}}}, {id: {signature_ids: [id, …]}}

TASK is the configuration's name in the benchmark (column ``test`` of downstream/papertasks.toml); texts may also lie
under the name of ``texts``, which several tasks share. Any file may be packed (``.gz``). Tasks that the folder lacks
are left out with a note.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora.records import read_records
from sectioncls.downstream.papertasks import (
    Blocks,
    Candidates,
    Labelled,
    PaperTask,
    Rated,
    TaskData,
    Triplets,
    paper_task,
    paper_tasks,
    score_paper_task,
)
from sectioncls.downstream.protocols import PAPER_PROTOCOLS
from sectioncls.downstream.rank import judgements
from sectioncls.downstream.reviewers import reviewers
from sectioncls.errors import InputError
from sectioncls.papersets.rows import number_of
from sectioncls.recipes.paper_evaluate import Embed
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.records import Score

__all__ = ["SEPARATOR", "evaluate_scirepeval"]

SEPARATOR = " [SEP] "

_PACKED = ("", ".gz", ".bz2", ".xz", ".zst")


@dataclass(slots=True)
class _Reading:
    """One task's files while they are read: where they lie, how to embed, what goes unread."""

    task: PaperTask
    folder: Path
    shared: Path
    embed: Embed
    result: PaperEvaluation
    missing: int = 0

    def file(self, *names: str, shared: bool = False) -> Path | None:
        """The first file of these names, packed or not; None where there is none."""
        folders = (self.folder, self.shared) if shared else (self.folder,)
        paths = (folder / f"{name}{end}" for folder in folders for name in names for end in _PACKED)
        return next((path for path in paths if path.is_file()), None)

    def need(self, *names: str, shared: bool = False) -> Path:
        """The first file of these names; raises InputError where there is none."""
        found = self.file(*names, shared=shared)
        if found is None:
            raise InputError(f"lacks {names[0]}", self.folder)
        return found

    def vectors(self, texts: Mapping[str, str], side: str = "document") -> dict[str, npt.NDArray[np.float32]]:
        """The vector of each text that is not empty; the others are counted as missing."""
        worded = {name: text for name, text in texts.items() if text}
        self.missing += len(texts) - len(worded)
        if not worded:
            raise InputError("no paper has a text", self.folder)
        found = np.asarray(self.embed(list(worded.values()), self.task.format, side), dtype=np.float32)
        return dict(zip(worded, found, strict=True))

    def text(self, record: Any) -> str:
        """A paper as the benchmark has it: the fields that are not empty, joined."""
        if isinstance(record, str):
            return record.strip()
        if not isinstance(record, Mapping):
            raise InputError("holds a paper that is neither text nor object", self.folder)
        parts = (str(record.get(name) or "").strip() for name in self.task.fields)
        return SEPARATOR.join(part for part in parts if part)


def evaluate_scirepeval(
    folder: str | Path, embed: Embed, *, name: str, tasks: Collection[str] = (), fingerprint: str = ""
) -> PaperEvaluation:
    """Score the encoder called ``name`` on the tasks of SciRepEval that ``folder`` holds, by its protocol.

    ``embed(texts, task, side)`` as of evaluate_papers; ``task`` is the task's format, and in search ``side`` is
    ``query`` or ``document``. ``tasks`` names some of paper_tasks, all by default. Raises UsageError for an unknown
    name, InputError where the folder holds none of them.
    """
    path = Path(folder)
    protocol = PAPER_PROTOCOLS["scirepeval"]
    result = PaperEvaluation()
    like = Score("", float("nan"), corpus="scirepeval", fingerprint=fingerprint, encoder=name, seed=protocol.seed)
    for task in [paper_task(one) for one in tasks] or paper_tasks():
        reading = _Reading(task, path / task.test, path / task.texts, embed, result)
        if not reading.folder.is_dir():
            result.note(f"scirepeval:{task.name} is left out: no folder {task.test}")
            continue
        with result.attempt(f"scirepeval:{task.name}"):
            rows, values = score_paper_task(task, _READERS[task.shape](reading), protocol, like=like)
            result.scores += rows
            if values is not None and rows:
                result.add_values(values, rows[0])
        if reading.missing:
            result.note(f"scirepeval:{task.name}: {reading.missing} papers without text are left out")
    if not result.scores:
        raise InputError("holds no task of SciRepEval", path, "; ".join(result.notes[:3]) or None)
    return result


def _labels(reading: _Reading) -> Labelled:
    x, y = zip(*(_side(reading, part) for part in ("train", "test")), strict=True)
    several = reading.task.labels == "several"
    if several:
        train, test = (np.array([_flags(label, reading) for label in side], dtype=np.int64) for side in y)
        return Labelled(x[0], train, x[1], test, train.shape[1])
    names = sorted({str(label) for side in y for label in side})
    if reading.task.labels == "yes-no" and set(names) - {"0", "1"}:
        raise InputError(f"has labels {', '.join(names[:5])}, 0 and 1 were expected", reading.folder)
    number = {label: place for place, label in enumerate(["0", "1"] if reading.task.labels == "yes-no" else names)}
    train, test = (np.array([number[str(label)] for label in side], dtype=np.int64) for side in y)
    return Labelled(x[0], train, x[1], test, len(number))


def _numbers(reading: _Reading) -> Labelled:
    x, y = zip(*(_side(reading, part) for part in ("train", "test")), strict=True)
    train, test = (
        np.array([number_of(str(value), "label", str(reading.folder)) for value in side], dtype=np.float64)
        for side in y
    )
    return Labelled(x[0], train, x[1], test)


def _candidates(reading: _Reading) -> Candidates:
    metadata = reading.need("metadata.jsonl", shared=True)
    queries: dict[str, str] = {}
    documents: dict[str, str] = {}
    for where, record in read_records(metadata, paths=()):
        paper = _id(record, "doc_id", where)
        if "query" not in record:
            queries[paper] = documents[paper] = reading.text(record)
            continue
        queries[paper] = reading.text(record["query"])
        for candidate in record.get("candidates") or ():
            documents.setdefault(_id(candidate, "doc_id", where), reading.text(candidate))
    found = list(_pairs(reading))
    asked = {query for query, _, _ in found}
    left = reading.vectors({name: text for name, text in queries.items() if name in asked}, "query")
    right = reading.vectors({name: documents[name] for _, name, _ in found if name in documents})
    kept = [(query, paper, score) for query, paper, score in found if query in left and paper in right]
    if not kept:
        raise InputError("no query and candidate of a judgement have texts", reading.folder)
    row = {name: place for place, name in enumerate(right)}
    judged = judgements(
        [query for query, _, _ in kept], [row[paper] for _, paper, _ in kept], [s for *_, s in kept], tuple(right)
    )
    return Candidates(np.stack([left[name] for name in judged.query_ids]), np.stack(list(right.values())), judged)


def _triplets(reading: _Reading) -> Triplets:
    sides: dict[str, dict[str, str]] = {"query": {}, "pos": {}, "neg": {}}
    path = reading.need("triplets.jsonl", "metadata.jsonl", shared=True)
    for number, (where, record) in enumerate(read_records(path, paths=())):
        for side, texts in sides.items():
            if side not in record:
                raise InputError(f"lacks {side}", where)
            texts[str(number)] = reading.text(record[side])
    found = {side: reading.vectors(texts) for side, texts in sides.items()}
    ids = [name for name in sides["query"] if all(name in vectors for vectors in found.values())]
    query, positive, negative = (np.stack([vectors[name] for name in ids]) for vectors in found.values())
    return Triplets(query, positive, negative, tuple(ids))


def _blocks(reading: _Reading) -> Blocks:
    """S2AND: blocks go to dev and test by a hash of their name, half each."""
    vectors = reading.vectors(_documents(reading))
    author = {
        str(signature): str(record["_key"])
        for _, record in read_records(reading.need("clusters.json"), paths=())
        for signature in record.get("signature_ids") or ()
    }
    rows: dict[str, list[tuple[npt.NDArray[np.float32], str, str]]] = {"dev": [], "test": []}
    for where, record in read_records(reading.need("signatures.json"), paths=()):
        signature, paper = str(record["_key"]), _id(record, "paper_id", where)
        info = record.get("author_info")
        block = str(info.get("block") or info.get("given_block") or "") if isinstance(info, Mapping) else ""
        if paper in vectors and signature in author and block:
            half = "dev" if hashlib.sha1(block.encode(), usedforsecurity=False).digest()[0] % 2 else "test"
            rows[half].append((vectors[paper], block, author[signature]))
        else:
            reading.missing += 1
    if not all(rows.values()):
        raise InputError("needs two blocks at least, one to choose the bound on and one to test", reading.folder)
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    sides: list[Any] = []
    for mine in rows.values():
        sides += [
            np.stack([vector for vector, _, _ in mine]),
            tuple(block for _, block, _ in mine),
            np.array([numbers[name] for _, _, name in mine], dtype=np.int64),
        ]
    return Blocks(*sides)


def _reviewers(reading: _Reading) -> Rated:
    vectors = reading.vectors(_documents(reading))
    profiles: dict[str, list[int]] = {}
    rows: list[npt.NDArray[np.float32]] = []
    for where, record in read_records(reading.need("reviewer_metadata.jsonl"), paths=()):
        mine = [vectors[str(paper)] for paper in record.get("papers") or () if str(paper) in vectors]
        profiles[_id(record, "r_id", where)] = list(range(len(rows), len(rows) + len(mine)))
        rows += mine
    group, left_out = reviewers(profiles)
    reading.missing += len(left_out)
    number = {name: place for place, name in enumerate(group.ids)}
    kept = [pair for pair in _pairs(reading) if pair[0] in vectors and pair[1] in number]
    if not kept:
        raise InputError("no rated paper and reviewer have texts", reading.folder)
    papers = {name: place for place, name in enumerate(dict.fromkeys(query for query, _, _ in kept))}
    pairs = np.array([(papers[query], number[reviewer]) for query, reviewer, _ in kept], dtype=np.int64)
    ratings = np.array([score for *_, score in kept], dtype=np.float64)
    return Rated(tuple(papers), np.stack([vectors[name] for name in papers]), np.stack(rows), group, pairs, ratings)


def _side(reading: _Reading, part: str) -> tuple[npt.NDArray[np.float32], list[Any]]:
    """Vectors and labels of train or test; papers without vector are left out and counted."""
    path = reading.need(f"{part}.csv", f"{part}.jsonl")
    found = [(_id(record, "paper_id", where), record.get("label")) for where, record in read_records(path, paths=())]
    texts = _documents(reading)
    vectors = reading.vectors({paper: texts.get(paper, "") for paper, _ in found})
    kept = [(vectors[paper], label) for paper, label in found if paper in vectors]
    return np.stack([vector for vector, _ in kept]), [label for _, label in kept]


def _documents(reading: _Reading) -> dict[str, str]:
    records = read_records(reading.need("metadata.jsonl", shared=True), paths=())
    return {_id(record, "doc_id", where): reading.text(record) for where, record in records}


def _pairs(reading: _Reading) -> list[tuple[str, str, float]]:
    path = reading.need("test_qrel.jsonl")
    return [
        (
            _id(record, "query_id", where),
            _id(record, "cand_id", where),
            number_of(str(record.get("score")), "score", where),
        )
        for where, record in read_records(path, paths=())
    ]


def _flags(label: Any, reading: _Reading) -> list[int]:
    if not isinstance(label, list) or not all(one in (0, 1) for one in label):
        raise InputError("has a label that is no list of 0 and 1", reading.folder)
    return [int(one) for one in label]


def _id(record: Any, key: str, where: str) -> str:
    value = record.get(key) if isinstance(record, Mapping) else None
    if value is None or isinstance(value, bool | dict | list) or not str(value).strip():
        raise InputError(f"has no {key}", where)
    return str(value).strip()


_READERS: Mapping[str, Callable[[_Reading], TaskData]] = {
    "labels": _labels,
    "numbers": _numbers,
    "candidates": _candidates,
    "triplets": _triplets,
    "blocks": _blocks,
    "reviewers": _reviewers,
}
