"""From a task's name to questions on the dev papers; a few dozen queries each, drawn with a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sectioncls.papersets import topic_texts
from sectioncls.recipes.papers.devscore import DevLists, DevQuestion, DevTexts
from sectioncls.recipes.papers.lessons import kind_of, number_of, route_of_task, standardised, topic_targets
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import TaskOptions

__all__ = ["dev_question"]

Rows = npt.NDArray[np.int64]

# Candidates that every query of a question ranks beside its own answers, and answers that count of one query.
_POOL = 100
_ANSWERS = 5
# Texts that a head foretells.
_TEXTS = 200
# Topics that are ranked at most.
_TOPICS = 1000


def dev_question(material: Material, task: TaskOptions, seed: int, queries: int) -> DevQuestion | None:
    """Give what is asked of ``task`` on dev, by at most ``queries`` papers or searches; None where dev has nothing."""
    question = _question(material, task, seed, queries)
    return question if question is None or task.route is None else replace(question, route=task.route)


def _question(material: Material, task: TaskOptions, seed: int, queries: int) -> DevQuestion | None:
    kind, rest = kind_of(task.name)
    random = np.random.default_rng((seed, 3))
    if kind in ("links", "cocite", "couple", "authors", "graph", "oracle"):
        return _papers(material, task.name, _pairs(material, kind), queries, random)
    if kind == "topics":
        return _topics(material, task.name, rest, queries, random)
    if kind == "class":
        return _classes(material, task.name, rest, random)
    if kind == "search":
        return _search(material, task.name, queries, random)
    if kind == "titles":
        return _titles(material, task.name, queries, random)
    return None if kind == "mlm" else _numbers(material, task.name, random)


def _pairs(material: Material, kind: str) -> Rows:
    """Give (dev paper, other paper) of train and dev that belong together, both ways round, (m, 2)."""
    if kind == "authors":
        rows = material.split_rows("train", "dev")
        of: dict[str, list[int]] = {}
        for row in rows.tolist():
            for author in material.table.authors[row]:
                of.setdefault(author, []).append(row)
        pairs = np.array([(a, b) for same in of.values() if len(same) <= 50 for a in same for b in same if a != b])
    else:
        edges = material.papers.citations("train", "dev")
        pairs = np.concatenate((edges, edges[:, ::-1]))
    pairs = np.unique(pairs.reshape(-1, 2), axis=0).astype(np.int64)
    dev = np.zeros(len(material.table), dtype=bool)
    dev[material.split_rows("dev")] = True
    there = np.zeros(len(material.table), dtype=bool)
    there[material.split_rows("train", "dev")] = True
    kept: Rows = pairs[dev[pairs[:, 0]] & there[pairs[:, 1]]]
    return kept


def _papers(material: Material, name: str, pairs: Rows, queries: int, random: np.random.Generator) -> DevLists | None:
    """Give lists of papers: up to five answers a query among what all queries' answers and random papers are."""
    asked = _some(np.unique(pairs[:, 0]), queries, random)
    if not len(asked):
        return None
    shuffled = pairs[random.permutation(len(pairs))]
    answers = np.concatenate([shuffled[shuffled[:, 0] == row, 1][:_ANSWERS] for row in asked])
    others = _some(material.split_rows("train", "dev"), _POOL, random)
    documents = np.unique(np.concatenate((answers, others)))
    place = np.full(len(material.table), -1, dtype=np.int64)
    place[documents] = np.arange(len(documents))
    relevant = np.zeros((len(asked), len(documents)), dtype=bool)
    for number, row in enumerate(asked):
        own = place[pairs[pairs[:, 0] == row, 1]]
        relevant[number, own[own >= 0]] = True
    texts = material.texts
    return DevLists(
        name,
        route_of_task(name),
        tuple(texts[row] for row in asked),
        tuple(texts[row] for row in documents),
        relevant,
        documents[None, :] != asked[:, None],
    )


def _topics(
    material: Material, name: str, collection: str, queries: int, random: np.random.Generator
) -> DevLists | None:
    topics = material.papers.topics(collection)
    dev = np.isin(topics.pairs[:, 0], material.split_rows("dev"))
    pairs = topics.pairs[dev]
    asked = _some(np.unique(pairs[:, 0]), queries, random)
    if not len(asked):
        return None
    pairs = pairs[np.isin(pairs[:, 0], asked)]
    shown = np.union1d(np.unique(pairs[:, 1]), _some(np.arange(len(topics.names)), _TOPICS, random))
    texts = topic_texts(topics, material.options.separator, definitions=material.options.definitions)
    relevant = np.zeros((len(asked), len(shown)), dtype=bool)
    relevant[np.searchsorted(asked, pairs[:, 0]), np.searchsorted(shown, pairs[:, 1])] = True
    return DevLists(
        name,
        route_of_task(name),
        tuple(material.texts[row] for row in asked),
        tuple(texts[row] for row in shown),
        relevant,
        np.ones_like(relevant),
    )


def _search(material: Material, name: str, queries: int, random: np.random.Generator) -> DevLists | None:
    if "search" not in material.papers.ranking_tasks():
        return None
    judged = material.papers.qrels("search", "dev")
    ids = {query: number for number, query in enumerate(material.papers.queries().ids)}
    numbers = np.array([ids[query] for query in judged.query_ids], dtype=np.int64)
    good = judged.scores > 0
    asked = _some(np.unique(numbers[good]), queries, random)
    if not len(asked):
        return None
    mine = np.isin(numbers, asked)
    seen = np.unique(judged.paper_rows[mine])
    documents = np.union1d(_some(seen, 10 * _POOL, random), _some(material.split_rows(), _POOL, random))
    relevant = np.zeros((len(asked), len(documents)), dtype=bool)
    kept = mine & good & np.isin(judged.paper_rows, documents)
    relevant[np.searchsorted(asked, numbers[kept]), np.searchsorted(documents, judged.paper_rows[kept])] = True
    texts = material.papers.queries().texts
    return DevLists(
        name,
        "search",
        tuple(texts[number] for number in asked),
        tuple(material.found[row] for row in documents),
        relevant,
        np.ones_like(relevant),
    )


def _titles(material: Material, name: str, queries: int, random: np.random.Generator) -> DevLists | None:
    table = material.table
    whole = [
        row for row in material.split_rows("dev").tolist() if table.titles[row].strip() and table.abstracts[row].strip()
    ]
    asked = _some(np.array(whole, dtype=np.int64), 4 * queries, random)
    if len(asked) < 2:
        return None
    answers = np.eye(len(asked), dtype=bool)
    titles, abstracts = (tuple(texts[row].strip() for row in asked) for texts in (table.titles, table.abstracts))
    return DevLists(name, "search", titles, abstracts, answers, np.ones_like(answers))


def _classes(material: Material, name: str, collection: str, random: np.random.Generator) -> DevTexts | None:
    rows, targets, loss, _ = topic_targets(material, collection, material.split_rows("dev"))
    chosen = np.sort(_some(np.arange(len(rows)), _TEXTS, random))
    if not len(chosen):
        return None
    return DevTexts(name, "classification", tuple(material.texts[row] for row in rows[chosen]), targets[chosen], loss)


def _numbers(material: Material, name: str, random: np.random.Generator) -> DevTexts | None:
    values = number_of(material, name)
    dev = material.split_rows("dev")
    rows = np.sort(_some(dev[~np.isnan(values[dev])], _TEXTS, random))
    if len(rows) < 2:
        return None
    targets = standardised(values, material.rows)[0][rows].astype(np.float32)
    return DevTexts(name, "regression", tuple(material.texts[row] for row in rows), targets, "mse")


def _some(rows: Rows, count: int, random: np.random.Generator) -> Rows:
    """Draw at most ``count`` of the rows, ascending."""
    if len(rows) <= count:
        return rows
    return np.sort(random.choice(rows, count, replace=False))
