"""SciDocs in its own form: a folder becomes arrays, an encoder its twelve numbers.

::

    paper_metadata_{mag_mesh,view_cite_read,recomm}.json      {id: {paper_id, title, abstract, year, authors, …}}
    {mag,mesh}/{train,val,test}.csv                           pid,class_label
    {coview,coread,cite,cocite}/{val,test}.qrel               query 0 paper relevance
    recomm/{train,val,test}.csv  propensity_scores.json       query,clicked,"shown,shown,…"; {"scores": […]}

A part that is missing leaves its numbers out, with a note. What the numbers are is in downstream/protocols/scidocs.py.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sectioncls.corpora.openers import read_lines
from sectioncls.corpora.records import read_records
from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.protocols.clicks import Clicks, clicks
from sectioncls.downstream.protocols.scidocs import (
    SCIDOCS,
    ClassTask,
    ClickTask,
    scidocs_average,
    scidocs_class_scores,
    scidocs_click_scores,
    scidocs_ranking_scores,
)
from sectioncls.downstream.rank import Judgements, judgements
from sectioncls.errors import InputError
from sectioncls.papersets import paper_text
from sectioncls.papersets.rows import judgement_rows, table_rows
from sectioncls.recipes.paper_evaluate import Embed
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.recipes.scidocs_clicks import click_features
from sectioncls.records import Score

__all__ = ["Known", "evaluate_scidocs", "read_known"]

CLASSES = ("mag", "mesh")
RANKINGS = ("coview", "coread", "cite", "cocite")

Part = Literal["val", "test"]


@dataclass(frozen=True, slots=True)
class Known:
    """The papers of one metadata file: row by id, texts, and the records themselves."""

    rows: Mapping[str, int]
    texts: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]

    def row(self, paper: str) -> int:
        """The row of a paper; the row after the last for one that the file lacks."""
        return self.rows.get(paper, len(self.texts))


def evaluate_scidocs(
    folder: str | Path,
    embed: Embed,
    *,
    name: str,
    part: Part = "test",
    separator: str = " [SEP] ",
    fingerprint: str = "",
) -> PaperEvaluation:
    """Give SciDocs's twelve numbers and their mean for the encoder called ``name``, on ``part``.

    ``embed(texts, task, side)`` as of evaluate_papers; papers are title, ``separator``, abstract. Papers that are
    named and have no text have no vector (see the protocol). Raises InputError for a folder with nothing of this
    form, and with file and line for a malformed file.
    """
    path = Path(folder)
    result = PaperEvaluation()
    like = Score(
        metric="",
        value=float("nan"),
        corpus="scidocs",
        fingerprint=fingerprint,
        split="test" if part == "test" else "dev",
        protocol=SCIDOCS.name,
        encoder=name,
        seed=SCIDOCS.seed,
    )
    parts = ((_classes, "mag_mesh"), (_rankings, "view_cite_read"), (_recommendation, "recomm"))
    for score, what in parts:
        source = path / f"paper_metadata_{what}.json"
        if not source.is_file():
            result.note(f"{source.name} is missing: its numbers are left out")
            continue
        score(path, read_known(source, separator), embed, like, part, result)
    if not result.scores:
        raise InputError("holds nothing of SciDocs's form", path, "paper_metadata_*.json and the folders beside it")
    result.scores += scidocs_average(result.scores, like=like)
    return result


def read_known(path: Path, separator: str) -> Known:
    """Give the papers of a metadata file; one without title and abstract has the text ''."""
    rows: dict[str, int] = {}
    texts: list[str] = []
    records: list[Mapping[str, Any]] = []
    for where, record in read_records(path, paths=()):
        paper = record.get("paper_id", record.get("_key"))
        if not isinstance(paper, str):
            raise InputError("has no paper_id", where)
        if paper in rows:
            continue
        rows[paper] = len(texts)
        title, abstract = (str(record.get(key) or "").strip() for key in ("title", "abstract"))
        texts.append(paper_text(title, abstract, separator))
        records.append(record)
    return Known(rows, tuple(texts), tuple(records))


def _classes(path: Path, known: Known, embed: Embed, like: Score, part: Part, result: PaperEvaluation) -> None:
    vectors, missing = _vectors(known, embed, "classification")
    for name in CLASSES:
        with result.attempt(f"scidocs:{name}"):
            sides = [_labelled(path / name / f"{one}.csv", known) for one in ("train", part)]
            classes = tuple(sorted({label for _, labels in sides for label in labels}))
            number = {label: place for place, label in enumerate(classes)}
            (train, train_y), (test, test_y) = ((rows, [number[one] for one in labels]) for rows, labels in sides)
            task = ClassTask(train, np.array(train_y), test, np.array(test_y), classes)
            row = _like(like, name, "linear-svm")
            result.scores += scidocs_class_scores(vectors, task, like=row, missing=missing)


def _rankings(path: Path, known: Known, embed: Embed, like: Score, part: Part, result: PaperEvaluation) -> None:
    given, without = _vectors(known, embed, "proximity")
    for name in RANKINGS:
        with result.attempt(f"scidocs:{name}"):
            judged = _judged(path / name / f"{part}.qrel", known)
            places = {paper: place for place, paper in enumerate(judged.document_ids)}
            rows = np.array([places[query] for query in judged.query_ids], dtype=np.int64)
            # Papers that are judged and not known have a row each, without a vector.
            unknown = np.arange(len(known.texts), len(places))
            vectors, missing = _longer(given, len(places)), np.union1d(without, unknown)
            row = _like(like, name, "euclidean")
            _, values = scidocs_ranking_scores(vectors, judged, rows, like=row, missing=missing)
            result.add_queries(values, row)
            if lost := int(np.isin(rows, missing).sum()):
                result.note(f"scidocs:{name}: {lost} of {len(rows)} queries have no vector and are not judged")


def _recommendation(path: Path, known: Known, embed: Embed, like: Score, part: Part, result: PaperEvaluation) -> None:
    with result.attempt("scidocs:recomm"):
        vectors, missing = _vectors(known, embed, "proximity")
        folder = path / "recomm"
        train, dev, test = (_shown(folder / f"{one}.csv", known) for one in ("train", "val", part))
        task = ClickTask(train, dev, test, _propensities(folder / "propensity_scores.json"))
        row = _like(like, "recomm", "recommender")
        result.scores += scidocs_click_scores(vectors, task, like=row, missing=missing)


def _vectors(known: Known, embed: Embed, task: str) -> tuple[npt.NDArray[np.float32], Ids]:
    """Vectors of all papers, one row more for papers that are not known, and the rows that have none."""
    worded = [row for row, text in enumerate(known.texts) if text]
    if not worded:
        raise InputError("no paper has a text", "paper_metadata")
    found = np.asarray(embed([known.texts[row] for row in worded], task, "document"), dtype=np.float32)
    vectors = np.zeros((len(known.texts) + 1, found.shape[1]), dtype=np.float32)
    vectors[worded] = found
    return vectors, np.setdiff1d(np.arange(len(vectors)), worded)


def _labelled(path: Path, known: Known) -> tuple[Ids, list[str]]:
    rows, labels = [], []
    for _, row in table_rows(path, ("pid", "class_label")):
        rows.append(known.row(row["pid"]))
        labels.append(row["class_label"])
    return np.array(rows, dtype=np.int64), labels


def _judged(path: Path, known: Known) -> Judgements:
    """Judgements whose documents are all known papers, and behind them the others that the file names."""
    found = [(query, paper, score) for _, query, paper, score in judgement_rows(path)]
    rows = dict(known.rows)
    for query, paper, _ in found:
        for name in (query, paper):
            rows.setdefault(name, len(rows))
    queries, papers, scores = zip(*found, strict=True)
    return judgements(queries, [rows[paper] for paper in papers], scores, tuple(rows))


def _longer(vectors: npt.NDArray[np.float32], rows: int) -> npt.NDArray[np.float32]:
    """``vectors`` with zero rows behind, ``rows`` in all."""
    found = np.zeros((max(rows, len(vectors)), vectors.shape[1]), dtype=np.float32)
    found[: len(vectors)] = vectors
    return found


def _shown(path: Path, known: Known) -> Clicks:
    """Clicks of one file, whose first line is a head."""
    queries, lists, places, pairs = [], [], [], []
    for number, line in read_lines(path):
        if number == 1 or not line.strip():
            continue
        cells = next(csv.reader([line]))
        if len(cells) != 3:
            raise InputError(f"has {len(cells)} cells, three were expected (query, clicked, shown)", f"{path}:{number}")
        query, clicked, rest = cells
        shown = rest.strip().split(",")
        if clicked not in shown:
            raise InputError(f"clicked {clicked!r} is not among those shown", f"{path}:{number}")
        queries.append(known.row(query))
        lists.append([known.row(paper) for paper in shown])
        places.append(shown.index(clicked))
        pairs += [(query, paper) for paper in shown]
    if not queries:
        raise InputError("holds no click", path)
    return clicks(queries, lists, places, click_features(pairs, known.rows, known.records))


def _propensities(path: Path) -> npt.NDArray[np.float64]:
    try:
        with path.open("rb") as stream:
            content = json.loads(stream.read(2**20))
        return np.asarray(content["scores"], dtype=np.float64)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError('is not {"scores": [numbers]}', path) from error


def _like(like: Score, name: str, method: str) -> Score:
    return replace(like, task=f"scidocs:{name}", method=method)
