"""Two systems on one test set: which is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sectioncls.downstream import (
    Difference,
    SeedTest,
    compare_clusters,
    compare_predictions,
    compare_query_values,
    holm,
    power_note,
    seed_test,
)
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.systems import System, Tested, one_test_set, open_system, tested

__all__ = ["METRIC_NAMES", "SURE", "Compared", "Comparison", "compare_runs", "seed_values"]

SURE = 0.05
"""The p, corrected for all tests made, below which one system is called better."""

METRIC_NAMES = {
    "f1-micro": "F1-micro",
    "f1-macro": "F1-macro",
    "f1-weighted": "F1 weighted",
    "mcc": "MCC",
    "ari": "ARI",
    "ami": "AMI",
    "nmi": "NMI",
    "v-measure": "V-measure",
    "homogeneity": "homogeneity",
    "completeness": "completeness",
    "purity": "purity",
}
"""Metrics as they are written in a sentence; others are written as they are called."""

# AMI is the slowest statistic here; a p of 0.001 is as small as these show.
_CLUSTER_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Compared:
    """One method and metric of two systems; ``p`` is corrected (Holm) for the ``tests`` methods of this metric."""

    method: str
    task: str
    found: Difference
    p: float | None
    tests: int = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems, every comparison that their runs allow, and the one that the sentence speaks of.

    With ``seeds`` (protocol ``scirepeval``) the verdict is that of the test over seeds.
    """

    first: str
    second: str
    corpus: str
    rows: tuple[Compared, ...]
    headline: Compared
    notes: tuple[str, ...]
    seeds: SeedTest | None = None

    @property
    def better(self) -> str | None:
        """The name of the better system; None where neither can be called so."""
        difference, _, _, p = self._verdict
        if p is None or p >= SURE or difference == 0:
            return None
        return self.second if difference > 0 else self.first

    @property
    def sentence(self) -> str:
        """Which is better and how sure, in one sentence."""
        found = self.headline.found
        difference, low, high, p = self._verdict
        ahead, behind = (self.second, found.second), (self.first, found.first)
        if difference < 0:
            ahead, behind = behind, ahead
            low, high = (None, None) if low is None or high is None else (-high, -low)
        what = METRIC_NAMES.get(found.metric, found.metric)
        what += f" with {self.headline.method}" if self.headline.method else ""
        values = f"{100 * ahead[1]:.1f} against {100 * behind[1]:.1f}"
        if low is None or high is None or p is None:
            return f"Nothing can be said of {ahead[0]} and {behind[0]}: {what} is {values}, of one {found.unit} alone."
        gap = f"{100 * abs(difference):+.1f} points ({self._sure(low, high, p)})"
        if self.better is None:
            return f"Neither {ahead[0]} nor {behind[0]} can be called better: {what} is {values}, {gap}."
        return f"{ahead[0]} is better than {behind[0]}: {what} is {values}, {gap}."

    @property
    def _verdict(self) -> tuple[float, float | None, float | None, float | None]:
        """Difference, interval and p that decide."""
        if self.seeds is None:
            found = self.headline.found
            return found.difference, found.low, found.high, self.headline.p
        pair = self.seeds.pairs[0]
        return pair.difference, pair.low, pair.high, pair.p

    def _sure(self, low: float, high: float, p: float) -> str:
        ends = f"95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
        if self.seeds is not None:
            return f"{ends} by Tukey's test over seeds, p {_p(p)}"
        one = self.headline
        words = f"{ends} by {one.found.unit}, p {_p(p)}"
        words += f" corrected for {one.tests} methods" if one.tests > 1 else ""
        return words if one.found.mcnemar is None else f"{words}; McNemar by sentence p {_p(one.found.mcnemar)}"


def compare_runs(
    first: Path,
    second: Path,
    *,
    encoders: tuple[str | None, str | None] = (None, None),
    method: str | None = None,
    metric: str | None = None,
    protocol: Literal["default", "scirepeval"] = "default",
    seed: int = 0,
) -> Comparison:
    """Compare two runs, or two folders of runs that differ in their seed, from what they said of each test sentence.

    Of each run the encoder named in ``encoders``, else the last (the fine-tuned one); a run compared with itself
    compares its first encoder with its last. Every method that both have is compared, or ``method`` alone: predictions
    in F1, clusters in ARI and AMI, rankings in their own metrics, with intervals by article or query and Holm's
    correction over the methods of a metric. The sentence speaks of ``metric`` (default: F1-micro, else ARI, else the
    first), of the method whose two values have the largest sum. ``scirepeval`` tests over seeds instead (arXiv
    2211.13308).
    Raises InputError for runs with different test sets or nothing in common.
    """
    same = first.resolve() == second.resolve()
    one = open_system(first, encoders[0], first=same and encoders[0] is None)
    other = open_system(second, encoders[1])
    if same and one.encoder == other.encoder:
        raise UsageError("is compared with itself", first, "name two runs, or two of its encoders")
    found = [
        *_compare_tables(one, other, "predictions", "predicted", method, _predictions, seed),
        *_compare_tables(one, other, "clusters", "cluster", method, _clusters, seed),
        *_compare_queries(one, other, method, seed),
    ]
    if not found:
        named = f"the method {method}" if method else "a method with predictions, clusters or query scores"
        raise InputError(f"don't share {named}", f"{one.name} and {other.name}", "evaluate both alike, with -o")
    if metric is not None:
        known = list(dict.fromkeys(row.found.metric for row in found))
        found = [row for row in found if row.found.metric == metric]
        if not found:
            raise UsageError(f"no metric {metric!r} to compare by: {', '.join(known)}")
    rows = _corrected(found)
    headline = _headline(rows)
    names = _names(one, other)
    seeds = None
    if protocol == "scirepeval":
        values = [seed_values(system, headline.method, headline.found.metric) for system in (one, other)]
        seeds = seed_test(dict(zip(names, values, strict=True)))
    return Comparison(*names, one.corpus, rows, headline, _notes(one, other, headline, seeds), seeds)


def seed_values(system: System, method: str, metric: str) -> list[float]:
    """Give the values of a metric on test, one for each seed and run of a system."""
    return [
        score.value
        for run in system.runs
        for score in run.scores()
        if (score.encoder, score.method, score.metric) == (system.encoder, method, metric)
        and score.split == "test"
        and score.label is None
    ]


def _compare_tables(
    one: System,
    other: System,
    table: str,
    column: str,
    only: str | None,
    compare: Callable[[Tested, Tested, int], list[Difference]],
    seed: int,
) -> list[Compared]:
    """Compare every method that two systems share in one table."""
    ours, theirs = tested(one, table, column), tested(other, table, column)
    rows = []
    for method in [name for name in ours if name in theirs and only in (None, name)]:
        one_test_set(one, other, ours[method], theirs[method])
        rows += [Compared(method, "sentence", found, None) for found in compare(ours[method], theirs[method], seed)]
    return rows


def _predictions(ours: Tested, theirs: Tested, seed: int) -> list[Difference]:
    names = np.unique(np.concatenate([ours.labels, ours.said.ravel(), theirs.said.ravel()]))
    ids = [np.searchsorted(names, words) for words in (ours.labels, ours.said, theirs.said)]
    return compare_predictions(ids[0], ids[1], ids[2], groups=_groups(ours), seed=seed)


def _clusters(ours: Tested, theirs: Tested, seed: int) -> list[Difference]:
    truth = np.unique(ours.labels, return_inverse=True)[1]
    return compare_clusters(truth, ours.said, theirs.said, groups=_groups(ours), resamples=_CLUSTER_DRAWS, seed=seed)


def _groups(rows: Tested) -> list[str] | None:
    """The articles, None where each sentence has one of its own: then sentences are what is drawn."""
    articles: list[str] = rows.articles.tolist()
    return None if len(set(articles)) == len(articles) else articles


def _compare_queries(one: System, other: System, only: str | None, seed: int) -> list[Compared]:
    """Compare what rankings gave for each query, in every task, method and metric that both systems have."""
    ours, theirs = _query_values(one), _query_values(other)
    rows = []
    for key in [name for name in ours if name in theirs and only in (None, name[1])]:
        queries = sorted(ours[key])
        if queries != sorted(theirs[key]):
            what = f"were tested on different queries: {len(queries):,} and {len(theirs[key]):,} of {key[0]}"
            raise InputError(what, f"{one.name} and {other.name}", "evaluate both on one set")
        pairs = ([values[key][query] for query in queries] for values in (ours, theirs))
        rows.append(Compared(key[1], key[0], compare_query_values(key[2], *pairs, seed=seed), None))
    return rows


def _query_values(system: System) -> dict[tuple[str, str, str], dict[str, float]]:
    """Give the values of each (task, method, metric) by query, the mean where a system has several seeds or runs."""
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for run in system.runs:
        columns: dict[str, list[Any]] = run.read_table("query_scores")
        for row in zip(*(columns.get(name, []) for name in _QUERY_COLUMNS), strict=True):
            encoder, method, task, metric, query, split, value = row
            if encoder == system.encoder and split == "test":
                values = found.setdefault((task, method, metric), {}).setdefault(query, [])
                values.append(float("nan") if value is None else float(value))
    return {key: {query: float(np.mean(v)) for query, v in values.items()} for key, values in found.items()}


_QUERY_COLUMNS = ("encoder", "method", "task", "metric", "query", "split", "value")


def _corrected(rows: Sequence[Compared]) -> tuple[Compared, ...]:
    """The comparisons with their p corrected for how many there are of the same metric."""
    done = list(rows)
    for metric in dict.fromkeys(row.found.metric for row in rows):
        places = [place for place, row in enumerate(rows) if row.found.metric == metric and row.found.p is not None]
        values = holm([rows[place].found.p or 0.0 for place in places])
        for place, p in zip(places, values, strict=True):
            done[place] = replace(rows[place], p=p, tests=len(places))
    return tuple(done)


def _headline(rows: Sequence[Compared]) -> Compared:
    """The comparison that the sentence speaks of: the first metric, the method with the largest sum of values."""
    metric = next((name for name in ("f1-micro", "ari") if any(row.found.metric == name for row in rows)), None)
    metric = metric or rows[0].found.metric
    return max((row for row in rows if row.found.metric == metric), key=lambda row: row.found.first + row.found.second)


def _names(one: System, other: System) -> tuple[str, str]:
    """Give the systems names that tell them apart."""
    if one.name != other.name and one.encoder == other.encoder:
        return one.name, other.name
    names = [f"{system.name} ({system.encoder or 'texts'})" for system in (one, other)]
    if names[0] == names[1]:
        names = [f"{name}, {which}" for name, which in zip(names, ("first", "second"), strict=True)]
    return names[0], names[1]


def _notes(one: System, other: System, headline: Compared, seeds: SeedTest | None) -> tuple[str, ...]:
    """What a reader of the sentence must know."""
    notes = []
    if one.corpus != other.corpus:
        notes.append(f"the test sentences are the same, the corpora are not: {one.corpus} and {other.corpus}")
    protocols = sorted({str(run.info.get("protocol")) for run in (*one.runs, *other.runs)})
    if len(protocols) > 1:
        notes.append(f"the runs follow different protocols: {', '.join(protocols)}")
    power = power_note(headline.found)
    if power and seeds is None:
        notes.append(power)
    if seeds is not None:
        notes.append("the test over seeds knows the chance of training, not that of the test set")
    elif len(one.runs) == len(other.runs) == 1:
        notes.append("one run each: the interval knows the chance of the test set, not that of training")
    return tuple(notes)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}" if value < 0.1 else f"= {value:.2f}"
