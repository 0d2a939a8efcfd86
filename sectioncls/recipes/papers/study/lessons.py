"""What two tasks of studies learn from: graph embeddings as a teacher, and the judgements themselves as an oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError
from sectioncls.mining import Triples, embed_graph, mine_classes, mine_judged, mine_oracle
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.positives import called
from sectioncls.recipes.papers.schema import TaskOptions

__all__ = ["oracle_triples", "teacher_vectors"]

Rows = npt.NDArray[np.int64]
Facts = dict[str, Any]


def teacher_vectors(material: Material, task: TaskOptions, seed: int) -> tuple[Rows, npt.NDArray[np.float32], Facts]:
    """Give the places of training papers with citations, and their graph embeddings to be foretold, (n, dimensions).

    Vectors are scaled so that a number of theirs has a mean square of 1. Option ``embeddings`` goes to embed_graph.
    Raises InputError where no training paper has a citation. Paper: arXiv 2202.06671, section 5.4 (student-teacher).
    """
    graph = material.graph()
    if not graph.edges:
        raise InputError("has no citations among its training papers", material.papers.path, f"leave out {task.name}")

    def embed(embeddings: Mapping[str, Any] | None = None) -> npt.NDArray[np.float32]:
        return embed_graph(graph, seed, **dict(embeddings or {}))

    vectors = called(embed, task)
    rows = graph.connected()
    taught = vectors[rows]
    scale = float(np.sqrt((taught.astype(np.float64) ** 2).mean())) or 1.0
    return rows, (taught / np.float32(scale)).astype(np.float32), {"papers": len(rows), "outputs": taught.shape[1]}


def oracle_triples(material: Material, task: TaskOptions, seed: int) -> tuple[Triples, Rows, Facts]:
    """Give triples of what dev and test judge, as many of each ranking and small collection, and all pairs drawn.

    Numbers are places among the papers that are learnt from, which must be all: ``papers.transductive``. Options:
    ``each`` bounds the triples of a task, ``collections`` names collections of one label a paper. Raises UsageError
    where not everything is learnt from, InputError where nothing is judged.
    """
    if not material.options.transductive:
        raise UsageError("an oracle learns from what it is judged by", task.name, "set papers.transductive = true")

    def mine(each: int | None = None, collections: Sequence[str] = ()) -> tuple[Triples, Facts]:
        parts = {name: part for name, part in _parts(material, collections, seed).items() if len(part)}
        if not parts:
            raise InputError("judges no papers for an oracle", material.papers.path, f"leave out {task.name}")
        triples, report = mine_oracle(parts, seed, len(material.rows), each=each)
        return triples, {"triples of each task": len(triples) // len(parts), "tasks": sorted(parts), **report.figures}

    triples, facts = called(mine, task)
    drawn = np.stack((triples.query, triples.positive), axis=1)
    return triples, np.concatenate((drawn, drawn[:, ::-1])), facts


def _parts(material: Material, collections: Sequence[str], seed: int) -> dict[str, Triples]:
    """Give all triples of each ranking whose queries are papers, and of each of ``collections``."""
    parts = {}
    for name in material.papers.ranking_tasks():
        judged = material.papers.qrels(name, "dev", "test")
        if judged.query_rows is None or not len(judged.paper_rows):
            continue
        query, paper = material.own(judged.query_rows), material.own(judged.paper_rows)
        there = (query >= 0) & (paper >= 0)
        parts[name] = mine_judged(query[there], paper[there], judged.scores[there], seed)
    judging = material.own(material.split_rows("dev", "test"))
    for name in collections:
        topics = material.papers.topics(name)
        own = material.own(topics.pairs[:, 0])
        paper, label = own[np.isin(own, judging[judging >= 0])], topics.pairs[np.isin(own, judging[judging >= 0]), 1]
        _, first, count = np.unique(paper, return_index=True, return_counts=True)
        parts[name] = mine_classes(paper[first[count == 1]], label[first[count == 1]], seed)
    return parts
