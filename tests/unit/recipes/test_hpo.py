"""The search on a made-up training: what it proposes, gives up, keeps and goes on from."""

from __future__ import annotations

import itertools
import json
import sys

import pytest

from sectioncls.corpora import Corpus, open_corpus
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.recipes import FinetuneOptions, SearchOptions, hpo, search_options
from sectioncls.recipes.presets import SEARCHES, space_of
from sectioncls.recipes.schema import parse_recipe

SPACE = {"learning_rate": {"low": 1e-5, "high": 1e-2, "log": True}, "batch_size": (16, 32, 64)}
SAFE = {**SPACE, "batch_size": (16, 32)}
CHECKS = 4


@pytest.fixture
def corpus(small_corpus, monkeypatch):
    """The demo corpus, whose test split nobody may read."""
    real = Corpus.split
    monkeypatch.setattr(
        Corpus, "split", lambda self, name: pytest.fail("test was read") if name == "test" else real(self, name)
    )
    return open_corpus(small_corpus)


class Trainer:
    """A training whose dev score is highest at a rate of 1e-3 and a batch of 32; stops where it is told to."""

    def __init__(self, stop_at=None):
        self.stop_at, self.tried = stop_at, []

    def __call__(self, corpus, options, work, *, seed=0, watch=None, observer=None):
        import math

        self.tried.append((options.learning_rate, options.batch_size))
        if options.batch_size == 64:
            raise UsageError("the loss is nan")
        best = 0.9 - 0.1 * abs(math.log10(options.learning_rate) + 3) - 0.05 * (options.batch_size != 32)
        rows = []
        for check in range(1, CHECKS + 1):
            if self.stop_at == (len(self.tried), check):
                raise KeyboardInterrupt
            rows.append({"kind": "dev", "step": check, "f1-micro": best * check / CHECKS})
            watch(rows)
        return {"f1-micro": best, "ari": 0.5}


def searching(corpus, tmp_path, monkeypatch, trainer, *, trials=12, sampler="tpe", space=SPACE, **more):
    monkeypatch.setattr(hpo, "try_options", trainer)
    search = SearchOptions(**{"trials": trials, "sampler": sampler, "space": space, **more.pop("search", {})})
    return search_options(corpus, FinetuneOptions(model="x"), search, tmp_path / "trials.jsonl", seed=3, **more)


def test_it_finds_what_is_good_and_gives_up_what_is_not(corpus, tmp_path, monkeypatch):
    trainer = Trainer()
    found = searching(corpus, tmp_path, monkeypatch, trainer, trials=16)
    assert len(found.trials) == 16
    complete = [trial for trial in found.trials if trial.state == "complete"]
    assert found.best.value == max(trial.value for trial in complete)
    assert (found.options.learning_rate, found.options.batch_size) == trainer.tried[found.best.number]
    assert found.options.model == "x" and found.best.value > 0.8
    pruned = [trial for trial in found.trials if trial.state == "pruned"]
    assert pruned and all(len(trial.checks) < CHECKS + 1 for trial in pruned)
    failed = [trial for trial in found.trials if trial.params["batch_size"] == 64]
    assert failed and {trial.state for trial in failed} == {"failed"} and failed[0].reason == "the loss is nan"
    assert found.facts["trials"] == 16 and found.facts["chosen"] == found.best.params


def test_halving_prunes_what_is_not_in_the_better_half(corpus, tmp_path, monkeypatch):
    values = itertools.cycle([0.5, 0.4, 0.3, 0.6])

    def trainer(corpus, options, work, *, seed, watch, observer):
        value = next(values)
        watch([{"step": 1, "f1-micro": value}])
        return {"f1-micro": value}

    found = searching(corpus, tmp_path, monkeypatch, trainer, trials=4)
    assert [trial.state for trial in found.trials] == ["complete", "pruned", "pruned", "complete"]
    none = searching(corpus, tmp_path, monkeypatch, trainer, trials=4, overwrite=True, search={"prune": False})
    assert {trial.state for trial in none.trials} == {"complete"}


@pytest.mark.parametrize("stop_at", [(1, 3), (7, 1)])
def test_a_search_that_is_cut_off_goes_on_as_if_nothing_had_been(corpus, tmp_path, monkeypatch, stop_at):
    whole = searching(corpus, tmp_path / "whole", monkeypatch, Trainer(), space=SAFE)
    with pytest.raises(KeyboardInterrupt):
        searching(corpus, tmp_path / "cut", monkeypatch, Trainer(stop_at), space=SAFE)
    journal = tmp_path / "cut" / "trials.jsonl"
    assert len(journal.read_text().splitlines()) == stop_at[0]  # a head and the trials before
    with journal.open("a") as stream:
        stream.write('{"kind": "tri')  # what a kill may leave
    with pytest.raises(OutputError, match="--resume"):
        searching(corpus, tmp_path / "cut", monkeypatch, Trainer(), space=SAFE)
    with pytest.raises(InputError, match="its space differs"):
        searching(corpus, tmp_path / "cut", monkeypatch, Trainer(), resume=True, space={"margin": (0.1, 0.2)})
    again = Trainer()
    cut = searching(corpus, tmp_path / "cut", monkeypatch, again, resume=True, space=SAFE)
    assert len(again.tried) == 12 - stop_at[0] + 1
    plain = [{**json.loads(line), "seconds": 0} for line in journal.read_text().splitlines()[1:]]
    other = (tmp_path / "whole" / "trials.jsonl").read_text().splitlines()[1:]
    assert plain == [{**json.loads(line), "seconds": 0} for line in other]
    assert cut.best.params == whole.best.params
    assert [trial.params for trial in hpo.read_trials(journal)] == [trial.params for trial in cut.trials]


def test_a_larger_budget_goes_on(corpus, tmp_path, monkeypatch):
    searching(corpus, tmp_path, monkeypatch, Trainer(), trials=4)
    more = Trainer()
    found = searching(corpus, tmp_path, monkeypatch, more, trials=9, resume=True)
    assert len(found.trials) == 9 and len(more.tried) == 5


def test_a_grid_tries_every_combination_without_optuna(corpus, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    trainer = Trainer()
    space = {"learning_rate": (1e-4, 1e-3), "batch_size": (16, 32)}
    found = searching(corpus, tmp_path, monkeypatch, trainer, sampler="grid", space=space, trials=99)
    assert trainer.tried == list(itertools.product((1e-4, 1e-3), (16, 32)))
    assert found.best.params == {"learning_rate": 1e-3, "batch_size": 32}


def test_time_runs_out(corpus, tmp_path, monkeypatch):
    clock = itertools.count(step=20.0)
    monkeypatch.setattr(hpo.time, "monotonic", lambda: next(clock))
    found = searching(corpus, tmp_path, monkeypatch, Trainer(), space=SAFE, search={"minutes": 1, "prune": False})
    assert found.trials[0].state == "cut" and found.best.number == 0
    assert len(found.trials) == 1


def test_when_every_trial_fails(corpus, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="every trial of the search failed, the first: the loss is nan"):
        searching(corpus, tmp_path, monkeypatch, Trainer(), space={"batch_size": (64,)}, trials=2)


def test_without_optuna_one_line_says_so(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(hpo, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"optuna is not installed \(pip install 'sectioncls\[search\]'"):
        searching(corpus, tmp_path, monkeypatch, Trainer())


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("space = { learning_rat = [1e-5] }", "did you mean learning_rate"),
        ("space = { margin = { low = 2, high = 1 } }", "low must not be above high"),
        ("space = { margin = { low = 0, high = 1, log = true } }", "log wants low above 0"),
        ("space = { margin = [] }", "no value to try"),
        ("sampler = 'grid'", "a grid needs a space"),
        ("sampler = 'grid'\nspace = { margin = { low = 0, high = 1 } }", "a grid wants a list"),
        ("trial = 3", "did you mean trials"),
        ("minutes = 0", "search.minutes"),
    ],
)
def test_what_a_recipe_may_not_say(table, words):
    with pytest.raises(InputError, match=words):
        parse_recipe(f"name = 'x'\n[corpus]\npath = 'c'\n[finetune]\n[search]\n{table}", "r.toml")


def test_values_that_can_not_be_are_found_before_any_trial(corpus, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="batch_size"):
        searching(corpus, tmp_path, monkeypatch, Trainer(), space={"batch_size": (2, 32)})
    with pytest.raises(UsageError, match="hsln"):
        search_options(corpus, FinetuneOptions(objective="hsln"), SEARCHES["default"], tmp_path / "t.jsonl")


def test_a_search_without_space_takes_what_the_losses_depend_on():
    assert set(space_of(SEARCHES["default"], FinetuneOptions())) == {"learning_rate", "warmup", "margin"}
    given = space_of(SEARCHES["default"], FinetuneOptions(objective="ce+0.5*supcon"))
    assert set(given) == {"learning_rate", "warmup", "temperature", "smoothing"}


def test_whole_numbers_stay_whole(corpus, tmp_path, monkeypatch):
    trainer = Trainer()
    space = {"batch_size": {"low": 8, "high": 16}, "learning_rate": (1e-3,)}
    searching(corpus, tmp_path, monkeypatch, trainer, space=space, trials=3)
    assert all(isinstance(batch, int) and 8 <= batch <= 16 for _, batch in trainer.tried)
