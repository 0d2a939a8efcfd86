"""What a run's systems got on each task, and the same on queries or papers drawn anew: what claims are judged by."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.confusion import f1_macro
from sectioncls.downstream.intervals import draws, kendall_tau
from sectioncls.recipes.paper_results import format_of_task
from sectioncls.recipes.papers.scores import learnt_tasks
from sectioncls.runs import Run

__all__ = ["DRAWS", "Evidence", "Sampled", "evidence_of"]

DRAWS = 2000
"""Resamples of queries or papers."""

# Papers up to which tau of all resamples is a product with the matrix of pairs.
_PAIRS = 4096

Floats = npt.NDArray[np.float64]
# (task, metric, method) → query or paper → one value a seed, or (truth, prediction) a seed.
_Found = dict[tuple[str, str, str, str], dict[str, list[Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A system's score on a task, ``ids`` of what was judged, and the score in each resample, (DRAWS,); None for one.

    Resamples of one task draw the same ids for every system with the same ``ids``, so they can be paired.
    """

    ids: tuple[str, ...]
    value: float
    moved: Floats | None


class Evidence:
    """The test scores of one run, sampled when asked for: ``tasks`` by system, and what each system learnt from."""

    __slots__ = ("_known", "_main", "_predictions", "_queries", "_seed", "learnt")

    def __init__(self, run: Run, seed: int) -> None:
        self._main = run.info.get("main") or {}
        self._queries = _rows(run, "query_scores", "query", ("metric",), ("value",))
        self._predictions = _rows(run, "paper_predictions", "paper", (), ("truth", "prediction"))
        self._known: dict[tuple[str, str], Sampled | None] = {}
        self._seed = seed
        self.learnt = {name: _learnt(facts) for name, facts in (run.info.get("encoders") or {}).items()}

    def tasks(self, system: str) -> tuple[str, ...]:
        """Give the tasks that a system was scored on, without averages; none for an unknown one."""
        return tuple(task for task in self._main.get(system, {}) if format_of_task(task))

    def metric(self, system: str, task: str) -> str:
        """Give the metric that stands for a task."""
        return str(self._main[system][task][0])

    def in_train(self, system: str, tasks: Sequence[str]) -> tuple[str, ...]:
        """Give those of ``tasks`` that ask for what the system was taught."""
        return learnt_tasks(self.learnt.get(system, ()), tasks)

    def sampled(self, system: str, task: str) -> Sampled | None:
        """Give a system's score on a task with resamples; None where no values by query or paper were kept."""
        key = (system, task)
        if key not in self._known:
            self._known[key] = self._sample(system, task) if task in self._main.get(system, {}) else None
        return self._known[key]

    def _sample(self, system: str, task: str) -> Sampled | None:
        metric, method = self._main[system][task]
        encoder = system if system in self.learnt else ""
        seed = zlib.crc32(task.encode()) ^ self._seed
        values = self._queries.get((encoder, task, metric, method))
        if values:
            ids = tuple(sorted(values))
            return _sampled(ids, np.array([np.mean([row[0] for row in values[name]]) for name in ids]), _mean, seed)
        said = self._predictions.get((encoder, task, "", method))
        if not said:
            return None
        ids = tuple(sorted(said))
        pairs = np.array([said[name] for name in ids], dtype=np.float64)  # (papers, seeds, truth and prediction)
        return _sampled(ids, pairs, _seeds(_tau if metric == "tau" else _f1), seed)


def evidence_of(run: Run, seed: int = 0) -> Evidence:
    """Give the evidence that a run holds; ``seed`` is that of the resamples."""
    return Evidence(run, seed)


def _rows(run: Run, table: str, name: str, keys: tuple[str, ...], values: tuple[str, ...]) -> _Found:
    """Give the test rows of a table by system, task, metric ('' without) and method."""
    columns = run.read_table(table)
    found: _Found = {}
    if not columns:
        return found
    metrics = columns["metric"] if keys else [""] * len(columns["task"])
    wanted = (columns["encoder"], columns["task"], metrics, columns["method"], columns[name], columns["split"])
    for row in zip(*wanted, *(columns[value] for value in values), strict=True):
        encoder, task, metric, method, one, split, *given = row
        if split == "test":
            found.setdefault((encoder, task, metric, method), {}).setdefault(one, []).append(given)
    return found


def _learnt(facts: dict[str, Any]) -> tuple[str, ...]:
    """Give the names of the tasks that an encoder was trained on, in any stage."""
    stages = [*facts.get("earlier", []), facts.get("training") or {}]
    return tuple(dict.fromkeys(task["name"] for stage in stages for task in stage.get("tasks", ())))


def _sampled(ids: tuple[str, ...], rows: Floats, statistic: Callable[[Floats, Floats], Floats], seed: int) -> Sampled:
    value = float(statistic(rows, np.ones((1, len(ids))))[0])
    if len(ids) < 2:
        return Sampled(ids, value, None)
    return Sampled(ids, value, np.concatenate([statistic(rows, counts) for counts in draws(len(ids), DRAWS, seed)]))


def _mean(values: Floats, counts: Floats) -> Floats:
    return np.asarray(counts @ values / counts.sum(axis=1))


def _seeds(statistic: Callable[[Floats, Floats, Floats], Floats]) -> Callable[[Floats, Floats], Floats]:
    """Give the mean over seeds of a statistic of truth, prediction and counts."""

    def over(pairs: Floats, counts: Floats) -> Floats:
        runs = [statistic(pairs[:, run, 0], pairs[:, run, 1], counts) for run in range(pairs.shape[1])]
        return np.asarray(np.mean(runs, axis=0))

    return over


def _f1(truth: Floats, said: Floats, counts: Floats) -> Floats:
    """Macro-F1 of each draw, from tables of truth x prediction."""
    names = np.unique(np.concatenate((truth, said)))
    cell = np.searchsorted(names, truth) * len(names) + np.searchsorted(names, said)
    hot = np.zeros((len(truth), len(names) ** 2))
    hot[np.arange(len(truth)), cell] = 1
    return np.asarray(f1_macro((counts @ hot).reshape(-1, len(names), len(names))))


def _tau(truth: Floats, said: Floats, counts: Floats) -> Floats:
    """Kendall's tau-b of each draw; 0 where a draw has one value only."""
    if len(truth) > _PAIRS:
        rows = (np.repeat(np.arange(len(truth)), one.astype(np.int64)) for one in counts)
        taus: Floats = np.nan_to_num(np.array([kendall_tau(truth[drawn], said[drawn]) for drawn in rows]))
        return taus
    a, b = (np.sign(values[:, None] - values[None, :]).astype(np.float32) for values in (truth, said))
    some = counts.astype(np.float32)  # products of whole numbers below 2^24 are exact
    both, left, right = (
        ((some @ matrix).astype(np.float64) * counts).sum(axis=1) for matrix in (a * b, np.abs(a), np.abs(b))
    )
    size = np.sqrt(left * right)
    found: Floats = np.divide(both, size, out=np.zeros_like(both), where=size > 0)
    return found
