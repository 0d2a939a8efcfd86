"""Searching the settings of fine-tuning on dev: trials, a journal that a killed search goes on from, the winner.

Every trial is drawn from the seed, its number and what the trials before it gave, so a search that was killed and
resumed proposes what an unbroken one does. The journal is JSON, a line a trial; optuna keeps nothing.
"""

from __future__ import annotations

import itertools
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from sectioncls.corpora import Corpus
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.recipes.desk import Row
from sectioncls.recipes.finetune import try_options
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.presets import plan, space_of
from sectioncls.recipes.schema import FinetuneOptions, RangeOptions, SearchOptions, checked
from sectioncls.staging import disk_errors, staged_file
from sectioncls.training import process_count

__all__ = ["METRIC", "Searched", "Trial", "check_search", "read_trials", "search_options"]

METRIC = "f1-micro"
"""The dev score that trials are compared by: the one that each training chooses its state by."""

# Trials that are drawn without looking at others; the rest follow the tree of Parzen estimators.
_DRAWN = 5
# Of the trials that reach a check, this part goes on (successive halving, arXiv 1810.05934).
_HALVING = 2

Space = Mapping[str, RangeOptions | tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: ``state`` is ``complete``, ``pruned``, ``failed`` or ``cut`` (by the time that was given).

    ``value`` is dev's F1-micro of the state that it would keep, of one that did not end its best check; None when
    failed. ``checks`` are the values of its checks in order, ``rungs`` what successive halving keeps of it.
    """

    number: int
    params: Mapping[str, Any]
    state: str
    value: float | None
    checks: tuple[float, ...] = ()
    dev: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    rungs: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found: all trials, the best, and the options with its settings; ``facts`` say it in a few words."""

    trials: tuple[Trial, ...]
    best: Trial
    options: FinetuneOptions
    facts: Mapping[str, Any]


class _Ended(Exception):
    """A trial that is given up, and why: ``pruned`` or ``cut``."""


def check_search(search: SearchOptions, options: FinetuneOptions) -> None:
    """Raise InputError when optuna is wanted and missing, UsageError for what can't be searched.

    A search runs in one process: time that runs out is not the same in two.
    """
    if process_count() > 1:
        raise UsageError("a search runs in one process", todo="search without torchrun, then train with what it chose")
    if options.objective == "hsln":
        raise UsageError("the objective hsln is not searched: it leaves the encoder as it is")
    if search.sampler == "tpe" and find_spec("optuna") is None:
        todo = "pip install 'sectioncls[search]', or search a grid: --search learning-rate"
        raise InputError("optuna is not installed", "search", todo)
    for name, values in space_of(search, options).items():
        ends = (values.low, values.high) if isinstance(values, RangeOptions) else values
        for value in ends:
            _with(options, {name: _cast(name, value)})


def search_options(
    corpus: Corpus,
    options: FinetuneOptions,
    search: SearchOptions,
    journal: Path,
    *,
    work: Path | None = None,
    seed: int = 0,
    resume: bool = False,
    overwrite: bool = False,
    observer: Observer = SILENT,
) -> Searched:
    """Give the settings that dev likes best among those of ``search``, each tried as a fine-tuning of ``options``.

    Only train and dev are read. ``journal`` (``trials.jsonl``) gets a line when a trial ends; while one runs, its
    checkpoint lies in ``work`` (default: ``trials/`` beside the journal). With ``resume`` the trials in the journal
    count, and the one that was cut off goes on. Raises UsageError when every trial failed, InputError for a journal of
    another search, OutputError for one that is there without ``resume`` or ``overwrite``.
    """
    check_search(search, options)
    space = space_of(search, options)
    head = {
        "kind": "search",
        "format": 1,
        "corpus": corpus.info.fingerprint,
        "seed": seed,
        "options": asdict(plan(options, corpus.info.scheme)),
        "sampler": search.sampler,
        "prune": search.prune,
        "space": {name: v.model_dump() if isinstance(v, RangeOptions) else list(v) for name, v in space.items()},
    }
    work = work or journal.with_name("trials")
    trials = _open_journal(journal, head, work, resume=resume, overwrite=overwrite)
    most = min(search.trials, _grid_size(space)) if search.sampler == "grid" else search.trials
    with observer.stage("searching", most, "trials") as advance:
        advance(min(len(trials), most))
        while len(trials) < most and not _spent(search, trials):
            trial = _try(corpus, options, search, space, trials, work, seed, observer)
            _append(journal, {"kind": "trial", **asdict(trial)})
            trials.append(trial)
            shutil.rmtree(work, ignore_errors=True)
            observer.note(_line(trial))
            advance(1)
    best = _best(trials)
    facts = {
        "sampler": search.sampler,
        "trials": len(trials),
        **{state: sum(trial.state == state for trial in trials) for state in ("complete", "pruned", "failed", "cut")},
        "chosen": dict(best.params),
        METRIC: best.value,
        "space": head["space"],
    }
    return Searched(tuple(trials), best, _with(options, best.params), facts)


def read_trials(journal: Path) -> list[Trial]:
    """Give the trials of a journal, none where it is missing; half a last line is left out.

    Raises InputError for a file that is no journal.
    """
    return [_trial(row, journal) for row in _rows(journal)[1:]]


def _try(
    corpus: Corpus,
    options: FinetuneOptions,
    search: SearchOptions,
    space: Space,
    trials: Sequence[Trial],
    work: Path,
    seed: int,
    observer: Observer,
) -> Trial:
    """Run the next trial to its end, or to where it is given up."""
    number, began = len(trials), time.monotonic()
    proposal: _Grid | _Tpe = (
        _Grid(space, number) if search.sampler == "grid" else _Tpe(space, trials, seed, prune=search.prune)
    )
    left = None if search.minutes is None else 60 * search.minutes - sum(trial.seconds for trial in trials)
    checks: list[float] = []

    def watch(rows: Sequence[Row]) -> None:
        for row in rows[len(checks) :]:
            checks.append(float(row[METRIC]))
            if proposal.falls_behind(len(checks), checks[-1]):
                raise _Ended("pruned")
        if left is not None and time.monotonic() - began > left:
            raise _Ended("cut")

    dev: dict[str, float] = {}
    state, value, reason = "complete", None, ""
    try:
        chosen = _with(options, proposal.params)
        folder = work / f"trial-{number}"
        silent = Observer(note=lambda text: None, stage=observer.stage)
        dev = try_options(corpus, chosen, folder, seed=seed, watch=watch, observer=silent)
        value = dev[METRIC]
    except _Ended as ended:
        state, value = str(ended), max(checks)
    except UsageError as error:  # a rate that diverges, a batch that can't work: the next trial may do better
        state, reason = "failed", str(error.what)
    spent = round(time.monotonic() - began, 2)
    return Trial(number, proposal.params, state, value, tuple(checks), dev, spent, proposal.rungs, reason)


class _Grid:
    """The combination of a number; nothing falls behind."""

    def __init__(self, space: Space, number: int) -> None:
        lists = [values for values in space.values() if not isinstance(values, RangeOptions)]
        combination = next(itertools.islice(itertools.product(*lists), number, None))
        self.params = {name: _cast(name, value) for name, value in zip(space, combination, strict=True)}
        self.rungs: dict[str, float] = {}

    def falls_behind(self, check: int, value: float) -> bool:
        """Say whether the trial is to be given up."""
        return False


class _Tpe:
    """A proposal of the tree of Parzen estimators (optuna) after the trials so far, a function of seed and number."""

    def __init__(self, space: Space, trials: Sequence[Trial], seed: int, *, prune: bool) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        kinds = {name: _distribution(name, values) for name, values in space.items()}
        pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=_HALVING)
        self._study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=(seed * 1_000_003 + len(trials)) % 2**32, n_startup_trials=_DRAWN),
            pruner=pruner if prune else optuna.pruners.NopPruner(),
        )
        for trial in trials:
            self._study.add_trial(_frozen(trial, kinds))
        self._trial = self._study.ask(kinds)
        self.params = {name: _cast(name, value) for name, value in self._trial.params.items()}

    @property
    def rungs(self) -> dict[str, float]:
        """What successive halving keeps of the trial."""
        attributes = self._study.get_trials(deepcopy=False)[-1].system_attrs
        return {name: value for name, value in attributes.items() if name.startswith("completed_rung_")}

    def falls_behind(self, check: int, value: float) -> bool:
        """Report a check and say whether the trial is to be given up."""
        self._trial.report(value, check)
        return bool(self._trial.should_prune())


def _frozen(trial: Trial, kinds: Mapping[str, Any]) -> Any:
    """Give a trial of the journal as optuna knows it."""
    import optuna

    states = optuna.trial.TrialState
    state = {"complete": states.COMPLETE, "pruned": states.PRUNED, "cut": states.PRUNED}.get(trial.state, states.FAIL)
    return optuna.trial.create_trial(
        state=state,
        value=trial.value if state == states.COMPLETE else None,
        params=dict(trial.params),
        distributions=dict(kinds),
        system_attrs=dict(trial.rungs),
        intermediate_values=dict(enumerate(trial.checks, 1)),
    )


def _distribution(name: str, values: RangeOptions | tuple[Any, ...]) -> Any:
    import optuna

    if isinstance(values, RangeOptions):
        if _counts(name):
            low, high, step = int(values.low), int(values.high), int(values.step or 1)
            return optuna.distributions.IntDistribution(low, high, log=values.log, step=step)
        return optuna.distributions.FloatDistribution(values.low, values.high, log=values.log, step=values.step)
    return optuna.distributions.CategoricalDistribution(values)


def _cast(name: str, value: Any) -> Any:
    """Give a whole number as an int where a float stands for an option that counts."""
    return int(value) if isinstance(value, float) and value.is_integer() and _counts(name) else value


def _counts(name: str) -> bool:
    kind = FinetuneOptions.model_fields[name].annotation
    return kind is int or int in get_args(kind)


def _with(options: FinetuneOptions, params: Mapping[str, Any]) -> FinetuneOptions:
    content = {**options.model_dump(exclude_none=True), **params}
    chosen: FinetuneOptions = checked(FinetuneOptions, content, "search", usage=True)
    return chosen


def _grid_size(space: Space) -> int:
    size = 1
    for values in space.values():
        size *= 1 if isinstance(values, RangeOptions) else len(values)
    return size


def _spent(search: SearchOptions, trials: Sequence[Trial]) -> bool:
    return search.minutes is not None and sum(trial.seconds for trial in trials) >= 60 * search.minutes


def _best(trials: Sequence[Trial]) -> Trial:
    """Give the best of the complete trials, or where none is, of those that got a value; the first of equals."""
    valued = [trial for trial in trials if trial.value is not None]
    if not valued:
        reason = trials[0].reason if trials else "no time for any"
        raise UsageError(f"every trial of the search failed, the first: {reason}", todo="give another space")
    among = [trial for trial in valued if trial.state == "complete"] or valued
    return max(among, key=lambda trial: (trial.value, -trial.number))


def _line(trial: Trial) -> str:
    params = ", ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
                       for name, value in trial.params.items())  # fmt: skip
    value = trial.reason if trial.value is None else f"dev {METRIC} {100 * trial.value:.2f}"
    return f"trial {trial.number}: {params}: {value} ({trial.state})"


def _open_journal(journal: Path, head: Row, work: Path, *, resume: bool, overwrite: bool) -> list[Trial]:
    """Give the trials so far, and leave a journal that a line can be added to."""
    rows = _rows(journal) if resume else []
    if not rows:
        if journal.exists() and not (resume or overwrite):
            raise OutputError("holds a search already", journal, "--resume goes on, --overwrite starts again")
        shutil.rmtree(work, ignore_errors=True)
        with staged_file(journal) as aside:
            aside.write_text(json.dumps(head) + "\n", encoding="utf-8")
        return []
    plain = json.loads(json.dumps(head))
    for key, value in plain.items():
        if rows[0].get(key) != value:
            raise InputError(f"is of another search: its {key} differs", journal, "start again without --resume")
    with staged_file(journal) as aside:  # without the half line that a kill may leave
        aside.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [_trial(row, journal) for row in rows[1:]]


def _rows(journal: Path) -> list[Row]:
    try:
        lines = journal.read_text(encoding="utf-8").split("\n")[:-1]
        rows = [dict(json.loads(line)) for line in lines]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise InputError("is not the journal of a search", journal) from error
    if rows and (rows[0].get("kind") != "search" or rows[0].get("format") != 1):
        raise InputError("is not the journal of a search of this version", journal)
    return rows


def _trial(row: Row, journal: Path) -> Trial:
    try:
        values = {name: value for name, value in row.items() if name != "kind"}
        return Trial(**{**values, "checks": tuple(values["checks"])})
    except (TypeError, KeyError) as error:
        raise InputError("holds a line that is no trial", journal) from error


def _append(journal: Path, row: Row) -> None:
    with disk_errors(journal), journal.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")
