"""Several seeds, a search on dev and a tracker, on a small BERT: by function, by recipe and by command."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sectioncls.recipes.course as course
from sectioncls.cli import app
from sectioncls.corpora import open_corpus
from sectioncls.encoders import read_facts
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.recipes import FinetuneOptions, SearchOptions, finetune, finetune_seeds, parse_recipe, run_recipe
from sectioncls.runs import open_run
from sectioncls.staging import check_output

RATES = SearchOptions(sampler="grid", space={"learning_rate": (1e-3, 1e-8)})


@pytest.fixture
def corpus(small_corpus):
    return open_corpus(small_corpus)


@pytest.fixture
def options(tiny_bert):
    return FinetuneOptions(model=str(tiny_bert), epochs=1, learning_rate=1e-3, margin=1.0)


def model_bytes(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def cut_after(monkeypatch, steps: int):
    """Let the loop fail after so many steps in all."""
    real, taken = course.fit, []

    def fit(*arguments):
        for step in real(*arguments):
            if len(taken) == steps:
                raise RuntimeError("cut")
            taken.append(step)
            yield step

    monkeypatch.setattr(course, "fit", fit)
    return lambda: monkeypatch.setattr(course, "fit", real)


def test_each_seed_has_its_folder_and_goes_on(corpus, options, tmp_path, monkeypatch):
    alone = finetune(corpus, options, tmp_path / "alone", seed=5)
    mend = cut_after(monkeypatch, 12)  # in the second training
    with pytest.raises(RuntimeError, match="cut"):
        finetune_seeds(corpus, options, tmp_path / "e", seeds=(4, 5))
    mend()
    first = (tmp_path / "e" / "seed-4" / "sectioncls.json").stat().st_mtime_ns
    with pytest.raises(OutputError, match="exists already"):
        finetune_seeds(corpus, options, tmp_path / "e", seeds=(4, 5))
    with pytest.raises(InputError, match="trained with another margin"):
        other = options.model_copy(update={"margin": 0.5})
        finetune_seeds(corpus, other, tmp_path / "e", seeds=(4, 5), resume=True)
    made = finetune_seeds(corpus, options, tmp_path / "e", seeds=(4, 5), resume=True)
    assert (tmp_path / "e" / "seed-4" / "sectioncls.json").stat().st_mtime_ns == first
    assert [done.folder.name for done in made] == ["seed-4", "seed-5"]
    assert [read_facts(done.folder)["training"]["seed"] for done in made] == [4, 5]
    assert model_bytes(made[1].folder) == model_bytes(alone.folder) != model_bytes(made[0].folder)
    assert made[1].dev == alone.dev
    with pytest.raises(UsageError, match="each once"):
        finetune_seeds(corpus, options, tmp_path / "f", seeds=(1, 1))


def test_a_search_goes_on_and_its_winner_is_trained(corpus, options, tmp_path, monkeypatch):
    mend = cut_after(monkeypatch, 12)  # in the second trial
    with pytest.raises(RuntimeError, match="cut"):
        finetune_seeds(corpus, options, tmp_path / "e", search=RATES)
    mend()
    journal = tmp_path / "e.search" / "trials.jsonl"
    assert len(journal.read_text().splitlines()) == 2
    (done,) = finetune_seeds(corpus, options, tmp_path / "e", search=RATES, resume=True)
    trials = [json.loads(line) for line in (done.folder / "trials.jsonl").read_text().splitlines()[1:]]
    assert [trial["state"] for trial in trials] == ["complete", "complete"]
    best = max(trials, key=lambda trial: trial["value"])
    facts = read_facts(done.folder)
    assert facts["search"]["chosen"] == best["params"] == {"learning_rate": facts["training"]["learning_rate"]}
    assert done.dev == best["dev"]  # the winner, trained again, is what the trial was
    assert not journal.parent.exists()
    check_output(done.folder, overwrite=True)  # the journal is one of its files
    again = finetune_seeds(corpus, options, tmp_path / "e", search=RATES, resume=True)
    assert again[0].dev == done.dev


def test_tpe_prunes_in_earnest(corpus, options, tmp_path):
    pytest.importorskip("optuna")
    search = SearchOptions(trials=5, space={"learning_rate": {"low": 1e-8, "high": 1e-2, "log": True}})
    (done,) = finetune_seeds(corpus, options, tmp_path / "e", seeds=(2,), search=search)
    trials = [json.loads(line) for line in (done.folder / "trials.jsonl").read_text().splitlines()[1:]]
    assert {trial["state"] for trial in trials} == {"complete", "pruned"}
    assert done.dev["f1-micro"] == max(trial["value"] for trial in trials if trial["state"] == "complete")


RECIPE = """
name = "seeds"
seeds = [1, 2]
[corpus]
path = "{corpus}"
[finetune]
model = "{model}"
epochs = 1
learning_rate = 1e-3
[search]
sampler = "grid"
space = {{ learning_rate = [1e-3, 1e-8] }}
[evaluate]
classifiers = ["knn", "decision-tree"]
projections = []
"""


def test_a_recipe_with_seeds_and_search(small_corpus, tiny_bert, tmp_path, monkeypatch):
    text = RECIPE.format(corpus=small_corpus, model=tiny_bert)
    recipe = parse_recipe(text, "r")
    mend = cut_after(monkeypatch, 9 * 3 + 4)  # two trials, the first seed, and some of the second
    with pytest.raises(RuntimeError, match="cut"):
        run_recipe(recipe, text, tmp_path / "r")
    mend()
    done = run_recipe(recipe, text, tmp_path / "r", resume=True)
    run = open_run(done.path)
    tuned = [score for score in run.scores() if score.encoder == "tiny-bert-tuned" and score.label is None]
    for method in ("knn", "decision-tree"):
        rows = [score for score in tuned if score.method == method and score.metric == "f1-micro"]
        assert [score.seed for score in rows] == [1, 2]
    assert run.info["seeds"] == [1, 2]
    assert set(run.info["encoders"]["tiny-bert-tuned"]["seeds"]) == {"1", "2"}
    assert {row.get("seed") for row in run.history()} == {1, 2}
    assert {"encoder/seed-1/sectioncls.json", "encoder/seed-2/sectioncls.json", "trials.jsonl"} <= set(
        run.info["files"]
    )
    assert not [name for name in run.info["files"] if name.startswith("checkpoint/")]
    count = 67
    predicted = run.read_table("predictions")
    assert (
        sum(
            e == "tiny-bert-tuned" and m == "knn"
            for e, m in zip(*(predicted[c] for c in ("encoder", "method")), strict=True)
        )
        == count
    )
    page = (run.path / "report.html").read_text()
    assert "over 2 seeds of the training (1, 2)" in page and "Search of the settings" in page
    check_output(run.path, overwrite=True)
    with pytest.raises(InputError, match="started with another recipe"):
        run_recipe(recipe.model_copy(update={"seeds": (1, 3)}), text, tmp_path / "r", resume=True)


def command(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_the_command_with_seeds_and_a_tracker(small_corpus, tiny_bert, tmp_path, monkeypatch):
    pytest.importorskip("tensorboard")
    monkeypatch.chdir(tmp_path)
    shared = ("finetune", "--model", tiny_bert, "--corpus", small_corpus, "--epochs", 0.5, "-o", "e")
    result = command(*shared, "--seeds", 2, "--track", "tensorboard", "--json")
    rows = json.loads(result.stdout)
    assert [row["folder"] for row in rows] == ["e/seed-0", "e/seed-1"]
    events = sorted((tmp_path / "e.logs").rglob("events.out.tfevents*"))
    assert {path.relative_to(tmp_path / "e.logs").parts[0] for path in events} == {"e-seed-0", "e-seed-1"}
    shown = command(*shared, "--seeds", 2, "--resume").stdout
    values = [100 * row["dev"]["f1-micro"] for row in rows]
    assert f"f1-micro {statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--search", "defalt"), "there is no search 'defalt'"),
        (("--trials", 3), "add --search default"),
        (("--temperature", 0), "temperature"),
        (("--dropout", 1), "dropout"),
        (("--class-weights", "balanced"), "class weights do nothing with the objective triplet"),
        (("--objective", "hsln", "--track", "tensorboard"), "tells no tracker"),
        (("--objective", "hsln", "--search", "learning-rate"), "is not searched"),
    ],
)
def test_what_can_not_be_asked(arguments, words, small_corpus, tiny_bert, tmp_path):
    if "tensorboard" in arguments:
        pytest.importorskip("tensorboard")
    shared = ("finetune", "--model", tiny_bert, "--corpus", small_corpus, "-o", tmp_path / "e")
    result = CliRunner().invoke(app, [str(argument) for argument in (*shared, *arguments)])
    assert isinstance(result.exception, UsageError), (result.output, result.exception)
    assert words in str(result.exception)
    assert not (tmp_path / "e").exists()


def test_a_search_from_a_file(small_corpus, tiny_bert, tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[search]\nsampler = "grid"\nspace = { learning_rate = [1e-3, 1e-4], patience = [0] }\n')
    result = command(
        *("finetune", "--model", tiny_bert, "--corpus", small_corpus, "--epochs", 0.3, "-o", tmp_path / "e"),
        *("--search", file, "--trials", 1),
    )
    assert "dev f1-micro" in result.stdout
    facts = read_facts(tmp_path / "e")
    assert facts["search"]["trials"] == 1 and facts["training"]["patience"] == 0
    file.write_text("[other]\n")
    result = CliRunner().invoke(app, ["finetune", "--model", str(tiny_bert), "--search", str(file)])
    assert isinstance(result.exception, InputError) and "has no table [search]" in str(result.exception)
