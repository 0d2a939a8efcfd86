"""Many runs in one table for each corpus, best first, with who can't be told from the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from sectioncls.downstream import SeedTest, Spread, compare_clusters, compare_predictions, holm, seed_test, spread
from sectioncls.downstream.scores import CLASSIFICATION, CLUSTERING
from sectioncls.errors import InputError
from sectioncls.recipes.compare import SURE
from sectioncls.recipes.systems import System, Tested, find_runs, run_groups, tested
from sectioncls.records import Score
from sectioncls.runs import Run, open_run

__all__ = ["Board", "Leaderboard", "Place", "leaderboard"]

# Resamples of each system against the best: enough for three digits of p.
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """One encoder of a run, or of runs that differ in their seed, with its best method by the board's metric.

    ``score`` holds value, interval and n; of several seeds the value is their mean and ``seeds`` their spread. ``p``
    is that of the difference to the best, corrected for all of the board; None for the best itself and where a run
    kept no predictions. ``others`` are further metrics of the same method, or of k-means.
    """

    run: str
    encoder: str
    method: str
    score: Score
    seeds: Spread | None
    others: dict[str, float]
    p: float | None = None

    @property
    def tied(self) -> bool:
        """Whether it can't be told from the best."""
        return self.p is not None and self.p >= SURE


@dataclass(frozen=True, slots=True)
class Board:
    """The systems that were tested on one corpus and task, best first; ``note`` says why seeds are not tested."""

    corpus: str
    fingerprint: str
    task: str
    metric: str
    places: tuple[Place, ...]
    seeds: SeedTest | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A board for each corpus and task, and what was left out and why."""

    boards: tuple[Board, ...]
    left_out: tuple[str, ...]


def leaderboard(
    folder: Path,
    *,
    metric: str | None = None,
    method: str | None = None,
    protocol: Literal["default", "scirepeval"] = "default",
    seed: int = 0,
) -> Leaderboard:
    """Compare all finished runs inside ``folder`` by ``metric`` on test (default: F1-micro, else ARI, else the first).

    Each encoder stands once, with ``method`` or with its best, which is chosen on test and so a little too good; runs
    of one recipe with several seeds stand together. Text baselines that several runs repeat stand once. Each system is
    compared with the best of its board by a paired bootstrap, corrected by Holm. ``scirepeval`` adds the analysis of
    variance over seeds. Raises InputError where no finished run has a score to show.
    """
    runs, left_out = _finished(folder)
    entries: list[tuple[System, Score]] = []
    for group in run_groups(runs):
        entries += _entries(group, group[0].path.relative_to(folder).as_posix())
    boards = []
    for key in dict.fromkeys((score.corpus, score.fingerprint, score.task) for _, score in entries):
        mine = [(system, score) for system, score in entries if (score.corpus, score.fingerprint, score.task) == key]
        board = _board(key, mine, metric, method, protocol, seed)
        if board is not None:
            boards.append(board)
    if not boards:
        wanted = " ".join(word for word in (metric, method and f"of {method}") if word) or "score"
        raise InputError(f"holds no finished run with a {wanted} on test", folder)
    return Leaderboard(tuple(boards), tuple(left_out))


def _finished(folder: Path) -> tuple[list[Run], list[str]]:
    """Give the finished runs of a folder, and why others are none."""
    if not folder.is_dir():
        raise InputError("no such folder", folder)
    places = find_runs(folder)
    if (folder / "run.json").is_file():
        places.insert(0, folder)
    if not places:
        raise InputError("holds no run", folder)
    runs, left_out = [], []
    for place in places:
        try:
            run = open_run(place)
            run.scores()
            runs.append(run)
        except InputError as error:
            left_out.append(str(error))
    return runs, left_out


def _entries(group: Sequence[Run], name: str) -> Iterable[tuple[System, Score]]:
    """Give every score on test of each encoder of a group of runs, with the system that it is of."""
    shown = [
        (run, score)
        for run in group
        for score in run.scores()
        if score.split == "test" and score.label is None and np.isfinite(score.value)
    ]
    for encoder in dict.fromkeys(score.encoder for _, score in shown):
        runs = list({id(run): run for run, score in shown if score.encoder == encoder}.values())
        if not encoder:
            runs = runs[:1]  # words alone know no seed: another run gives the same again
        system = System(name if len(runs) == 1 else f"{name} and {len(runs) - 1} more", encoder, tuple(runs))
        for run, score in shown:
            if score.encoder == encoder and any(run is one for one in runs):
                yield system, score


def _board(
    key: tuple[str, str, str],
    entries: Sequence[tuple[System, Score]],
    metric: str | None,
    method: str | None,
    protocol: str,
    seed: int,
) -> Board | None:
    """Give the board of one corpus and task; None where nothing has the metric and method."""
    metrics = dict.fromkeys(score.metric for _, score in entries)
    metric = metric or next((name for name in ("f1-micro", "ari") if name in metrics), next(iter(metrics)))
    chosen: dict[tuple[int, str], list[Score]] = {}
    systems: dict[int, System] = {}
    for system, score in entries:
        systems[id(system)] = system
        if score.metric == metric and method in (None, score.method):
            chosen.setdefault((id(system), score.method), []).append(score)
    best: dict[int, tuple[str, list[Score]]] = {}
    for (place, name), scores in chosen.items():
        if place not in best or _mean(scores) > _mean(best[place][1]):
            best[place] = (name, scores)
    pairs = [
        (
            systems[place],
            _place(systems[place], name, scores, [score for other, score in entries if id(other) == place]),
        )
        for place, (name, scores) in best.items()
    ]
    pairs = _without_repeats(sorted(pairs, key=lambda pair: (-pair[1].score.value, pair[1].run, pair[1].encoder)))
    if not pairs:
        return None
    places = _against_best(pairs, metric, seed)
    if protocol != "scirepeval":
        return Board(*key, metric, places)
    try:
        return Board(*key, metric, places, _over_seeds(pairs, best))
    except InputError as error:
        return Board(*key, metric, places, note=str(error))


def _place(system: System, method: str, scores: list[Score], every: Sequence[Score]) -> Place:
    """Give one system's line: several seeds become their mean, with the mean ends of their intervals."""
    first = scores[0]
    seeds = spread([score.value for score in scores]) if len(scores) > 1 else None
    if seeds is not None:
        ends = [(score.low, score.high) for score in scores if score.low is not None and score.high is not None]
        low, high = (
            (float(np.mean(end)) for end in zip(*ends, strict=True)) if len(ends) == len(scores) else (None, None)
        )
        first = replace(first, value=seeds.mean, low=low, high=high, seed=None)
    others = {
        name: _mean([score for score in every if score.metric == name and score.method == source])
        for name, source in (("f1-micro", method), ("f1-macro", method), ("ari", "kmeans"), ("ami", "kmeans"))
        if any(score.metric == name and score.method == source for score in every)
    }
    return Place(system.name, system.encoder, method, first, seeds, others)


def _against_best(pairs: Sequence[tuple[System, Place]], metric: str, seed: int) -> tuple[Place, ...]:
    """Give the places with the p of each one's difference to the first."""
    table, column = ("predictions", "predicted") if metric in CLASSIFICATION else ("clusters", "cluster")
    if metric not in CLASSIFICATION and metric not in CLUSTERING:
        return tuple(place for _, place in pairs)
    said = [tested(system, table, column).get(place.method) for system, place in pairs]
    values: list[float | None] = [None]
    for other in said[1:]:
        values.append(_p(said[0], other, metric, seed))
    corrected = iter(holm([value for value in values if value is not None]))
    return tuple(
        replace(place, p=None if value is None else next(corrected))
        for (_, place), value in zip(pairs, values, strict=True)
    )


def _p(best: Tested | None, other: Tested | None, metric: str, seed: int) -> float | None:
    """The p of the difference of two systems, None where their sentences are not the same."""
    if best is None or other is None or len(best) != len(other):
        return None
    if not ((best.articles == other.articles) & (best.places == other.places) & (best.labels == other.labels)).all():
        return None
    articles = best.articles.tolist()
    groups = articles if len(set(articles)) < len(articles) else None
    names = np.unique(best.labels)
    truth = np.searchsorted(names, best.labels)
    if metric in CLUSTERING:
        found = compare_clusters(
            truth, best.said, other.said, groups=groups, metrics=[metric], resamples=_DRAWS, seed=seed
        )
        return found[0].p
    names = np.unique(np.concatenate([best.labels, best.said.ravel(), other.said.ravel()]))
    ids = [np.searchsorted(names, words) for words in (best.labels, best.said, other.said)]
    found = compare_predictions(ids[0], ids[1], ids[2], groups=groups, metrics=[metric], resamples=_DRAWS, seed=seed)
    return found[0].p


def _over_seeds(pairs: Sequence[tuple[System, Place]], best: dict[int, tuple[str, list[Score]]]) -> SeedTest:
    """Give the analysis of variance over the seeds of all systems of a board that have several."""
    values = {
        f"{place.run} ({place.encoder or 'texts'})": [score.value for score in best[id(system)][1]]
        for system, place in pairs
        if place.seeds is not None
    }
    return seed_test(values)


def _without_repeats(pairs: list[tuple[System, Place]]) -> list[tuple[System, Place]]:
    """Leave out text baselines that another run gave with the same value."""
    kept: list[tuple[System, Place]] = []
    seen = set()
    for system, place in pairs:
        key = (place.method, place.score.value)
        if place.encoder or key not in seen:
            kept.append((system, place))
        if not place.encoder:
            seen.add(key)
    return kept


def _mean(scores: Sequence[Score]) -> float:
    return float(np.mean([score.value for score in scores]))
