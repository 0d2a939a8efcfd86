"""Rankings field by field: the same scores for the query papers of each field, and their mean over fields.

Paper: arXiv 2211.13308, the table of MDCR: fields differ by more than systems do, and a mean over queries hides small
fields.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sectioncls.downstream.intervals import mean_interval
from sectioncls.errors import InputError
from sectioncls.papersets import Papers, PaperSet
from sectioncls.recipes.paper_results import PaperEvaluation
from sectioncls.recipes.papers.material import Material
from sectioncls.records import Score

__all__ = ["BY_FIELD", "FEWEST_QUERIES", "OWN", "add_fields", "fields_of"]

OWN = "fields"
"""The name for the fields of study that papers have themselves, in place of a collection."""

BY_FIELD = ", mean of fields"
"""What stands behind the metric of a mean over fields."""

FEWEST_QUERIES = 3
"""Queries that a field must have for a row of its own."""

_KINDS = ("rank", "retrieve")


def fields_of(papers: PaperSet, table: Papers, name: str) -> dict[str, tuple[str, ...]]:
    """Give the fields of each paper by id, of papers that have any: topics of the collection ``name``, or OWN.

    Raises InputError where the set has none of that name.
    """
    if name == OWN and OWN not in papers.collections():
        found = {paper: mine for paper, mine in zip(table.ids, table.fields, strict=True) if mine}
        if not found:
            raise InputError("has no fields of study", papers.path, f"name a collection: {papers.collections()}")
        return found
    topics = papers.topics(name)
    bearing: dict[str, tuple[str, ...]] = {}
    for row, topic in topics.pairs.tolist():
        bearing[table.ids[row]] = (*bearing.get(table.ids[row], ()), topics.names[topic])
    return bearing


def add_fields(result: PaperEvaluation, material: Material, name: str, split: str) -> None:
    """Add rows of each field to the rankings for query papers in ``result``: ``label`` is the field, ``n`` its queries.

    A row whose metric ends in BY_FIELD is the mean over those fields, with the interval of independent fields. Fields
    of fewer than FEWEST_QUERIES queries are left out and counted. A note for each ranking says how many of the papers
    that it judges were learnt from. Raises InputError as fields_of does.
    """
    fields = fields_of(material.papers, material.table, name)
    columns = result.query_scores
    places: dict[tuple[str, ...], list[int]] = {}
    keys = ("task", "metric", "encoder", "method")
    for place, key in enumerate(zip(*(columns.get(column, ()) for column in keys), strict=True)):
        places.setdefault(key, []).append(place)
    new: list[Score] = []
    for score in result.scores:
        mine = places.get((score.task, score.metric, score.encoder, score.method))
        if mine is None or score.label is not None or score.task.partition(":")[0] not in _KINDS:
            continue
        values: dict[str, list[float]] = {}
        for place in mine:
            for field in fields.get(columns["query"][place], ()):
                values.setdefault(field, []).append(columns["value"][place])
        kept = {field: found for field, found in sorted(values.items()) if len(found) >= FEWEST_QUERIES}
        rows = [_row(score, field, found) for field, found in kept.items()]
        new += rows
        if rows:
            new.append(_mean(score, rows))
        if len(kept) < len(values):
            few = f"{len(values) - len(kept)} of {len(values)} {name}"
            result.note(f"{score.task}: {few} have fewer than {FEWEST_QUERIES} queries and no row of their own")
    for task in dict.fromkeys(score.task for score in new):
        result.note(_overlap(material, task, split))
    result.scores += new


def _row(score: Score, field: str, values: list[float]) -> Score:
    low, high = mean_interval(values) or (None, None)
    return replace(score, label=field, value=float(np.mean(values)), low=low, high=high, n=len(values))


def _mean(score: Score, rows: list[Score]) -> Score:
    value = float(np.mean([row.value for row in rows]))
    halves = [(row.high - row.low) / 2 for row in rows if row.high is not None and row.low is not None]
    half = float(np.sqrt(np.square(halves).sum())) / len(rows) if len(halves) == len(rows) else None
    ends = (None, None) if half is None else (value - half, value + half)
    return replace(
        score, metric=score.metric + BY_FIELD, value=value, low=ends[0], high=ends[1], n=len(rows), unit="field"
    )


def _overlap(material: Material, task: str, split: str) -> str:
    """Say how many of the papers that a ranking judges, queries and candidates, are among those learnt from."""
    short = task.partition(":")[2]
    source = short if short in material.papers.ranking_tasks() else f"retrieval_{short}"
    found = material.papers.qrels(source, split)
    asked = found.paper_rows if found.query_rows is None else np.concatenate((found.query_rows, found.paper_rows))
    judged = np.unique(asked)
    learnt = int(np.isin(judged, material.rows).sum())
    share = f"{learnt} of {len(judged)} papers that are judged ({100 * learnt / len(judged):.0f} %)"
    return f"{task}: {share} are papers that may be learnt from; citations of {split} papers are not" + (
        ", but for this recipe, which is transductive" if material.options.transductive else ""
    )
