"""A whole run on small data: recipe to report, resumed after an interruption, by function and by command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sectioncls.recipes.run as module
from sectioncls.errors import InputError, OutputError
from sectioncls.recipes import parse_recipe, run_recipe
from sectioncls.runs import open_run

TEXT = """
name = "small"
seed = 3
[corpus]
build = "csabstruct"
source = "{source}"
drop_conflicts = "paper"
[finetune]
model = "{model}"
epochs = 1
learning_rate = 1e-3
[evaluate]
projections = ["tsne"]
points = 40
"""


@pytest.fixture(scope="module")
def text(demo, tiny_bert):
    return TEXT.format(source=demo / "csabstruct", model=tiny_bert)


@pytest.fixture(scope="module")
def run(text, tmp_path_factory):
    return run_recipe(parse_recipe(text, "small"), text, tmp_path_factory.mktemp("runs") / "small")


def test_everything_is_there(run):
    again = open_run(run.path)
    scores = again.scores()
    assert {s.encoder for s in scores} == {"", "tiny-bert", "tiny-bert-tuned"}
    methods = {"decision-tree", "knn", "random-forest", "mlp", "svm", "kmeans"}
    assert methods <= {s.method for s in scores if s.encoder == "tiny-bert-tuned"}
    assert {"majority", "tfidf-logistic-regression", "tfidf-kmeans"} <= {s.method for s in scores}
    for score in scores:
        assert score.corpus == "csabstruct" and len(score.fingerprint) == 64
        if score.metric == "f1-micro":
            assert score.n == 67 and score.unit == "article" and score.low <= score.value <= score.high
    assert set(again.read_table("predictions")["method"]) >= methods - {"kmeans"}
    assert len(again.read_table("projection")["x"]) == 80
    trust = [s for s in scores if s.metric == "trustworthiness"]
    assert [(s.encoder, s.method, s.n) for s in trust] == [("tiny-bert", "tsne", 40), ("tiny-bert-tuned", "tsne", 40)]
    assert all(0 < s.value <= 1 for s in trust)
    assert {s.encoder for s in scores if s.metric == "kl-divergence"} == {"tiny-bert", "tiny-bert-tuned"}
    assert again.info["settings"]["tiny-bert"]["tsne"]["engine"] == "scikit-learn"
    assert again.info["corpus"]["dropped"]
    assert (run.path / "report.html").stat().st_size > 10_000
    assert any(row["kind"] == "dev" for row in again.history())


def test_the_folder_lists_its_files(run):
    listed = set(json.loads((run.path / "run.json").read_text())["files"]) | {"run.json"}
    assert listed == {p.relative_to(run.path).as_posix() for p in run.path.rglob("*") if p.is_file()}


def test_no_text_of_the_corpus_in_run_and_page(run, demo):
    sentences = json.loads((demo / "csabstruct" / "test.jsonl").read_text().splitlines()[0])["sentences"]
    page = (run.path / "report.html").read_text(encoding="utf-8")
    for sentence in sentences:
        assert sentence not in page


def test_a_taken_folder_is_refused_and_overwritten(run, text):
    with pytest.raises(OutputError, match="exists already"):
        run_recipe(parse_recipe(text, "small"), text, run.path)


def test_an_interrupted_run_goes_on(text, run, tmp_path, monkeypatch):
    recipe = parse_recipe(text, "small")
    real = module.evaluate_encoder
    calls = []

    def interrupted(*arguments, **options):
        calls.append(options["name"])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(module, "evaluate_encoder", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_recipe(recipe, text, tmp_path / "cut")
    with pytest.raises(InputError, match="did not finish"):
        open_run(tmp_path / "cut")
    with pytest.raises(InputError, match="another recipe"):
        run_recipe(recipe.model_copy(update={"seed": 9}), text, tmp_path / "cut", resume=True)
    done = run_recipe(recipe, text, tmp_path / "cut", resume=True)
    assert calls == ["tiny-bert", "tiny-bert-tuned", "tiny-bert-tuned"]  # what was whole is not made again
    assert done.scores() == run.scores()


def command(*arguments, cwd, code=0):
    result = subprocess.run(
        [sys.executable, "-c", "from sectioncls.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == code, result.stderr
    return result


def test_the_three_commands_of_a_researcher(demo, tiny_bert, tmp_path):
    command("build-csabstruct", demo / "csabstruct", "-o", "c", cwd=tmp_path)
    command("finetune", "--model", tiny_bert, "--corpus", "c", "--epochs", 1, "-o", "e", cwd=tmp_path)
    result = command("evaluate", "--model", "e", "--corpus", "c", "--protocol", "paper", "--json", cwd=tmp_path)
    rows = json.loads(result.stdout)
    tree = [row for row in rows if row["method"] == "decision-tree" and row["metric"] == "f1-micro"]
    assert len(tree) == 1
    assert tree[0]["encoder"] == "tiny-bert-tuned" and tree[0]["protocol"] == "paper" and tree[0]["seed"] == 31415
    assert {row["metric"] for row in rows} >= {"f1-micro", "f1-macro", "f1", "ari", "ami", "silhouette"}


def test_evaluate_keeps_a_run_that_report_reads(small_corpus, tiny_bert, tmp_path):
    command("evaluate", "--model", tiny_bert, "--corpus", small_corpus, "-o", "kept", cwd=tmp_path)
    command("report", "kept", "-o", "page.html", cwd=tmp_path)
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_evaluate_takes_embeddings_from_the_cache(small_corpus, tiny_bert, tmp_path, monkeypatch):
    options = module.EvaluateOptions(classifiers=("knn",), projections=())
    corpus = module.open_corpus(small_corpus)
    first = module.evaluate_models([str(tiny_bert)], corpus, options, None, cache=tmp_path / "kept")
    assert len(list((tmp_path / "kept").glob("*.npy"))) == 3  # train, dev (for calibration) and test
    monkeypatch.setattr(module, "embed", lambda *given: pytest.fail("encoded again"))
    assert module.evaluate_models([str(tiny_bert)], corpus, options, None, cache=tmp_path / "kept") == first


def test_sentences_of_test_that_stand_in_train_are_said(demo, tiny_bert, tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / "leaky").mkdir(exist_ok=True)
        text = (demo / "csabstruct" / f"{name}.jsonl").read_text(encoding="utf-8")
        if name == "train":
            text += (demo / "csabstruct" / "test.jsonl").read_text(encoding="utf-8").splitlines()[0] + "\n"
        (tmp_path / "leaky" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    command("build-csabstruct", "leaky", "-o", "c", cwd=tmp_path)
    command("evaluate", "--model", tiny_bert, "--corpus", "c", "-o", "kept", cwd=tmp_path)
    leaked = len(json.loads((demo / "csabstruct" / "test.jsonl").read_text().splitlines()[0])["sentences"])
    notes = json.loads((tmp_path / "kept" / "run.json").read_text())["notes"]
    assert any(note.startswith(f"{leaked} of 67 test sentences") for note in notes)


def test_encode(small_corpus, tiny_bert, tmp_path):
    import numpy as np

    (tmp_path / "lines.txt").write_text("We aim to show.\n\nResults\n", encoding="utf-8")
    command("encode", "lines.txt", "--model", tiny_bert, "-o", "lines.npy", cwd=tmp_path)
    assert np.load(tmp_path / "lines.npy").shape == (3, 32)
    command("encode", small_corpus, "--model", tiny_bert, "-o", "c.npy", cwd=tmp_path)
    assert np.load(tmp_path / "c-test.npy").shape == (67, 32)
    assert "exists already" in command("encode", "lines.txt", "-o", "lines.npy", cwd=tmp_path, code=1).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["finetune", "--model", "scibert"], 1, ["scibert", "model hub", "--model FOLDER"]),
        (["finetune", "--model", "./none"], 1, ["no such model folder"]),
        (["evaluate", "--corpus", "none"], 1, ["none"]),
        (["finetune"], 1, ["corpora", "--corpus"]),
        (["run", "nothing"], 1, ["no such recipe", "demo"]),
        (["report", "nowhere"], 1, ["no such run"]),
        (["encode", "nowhere.txt"], 1, ["no such file"]),
        (["finetune", "--preset", "best"], 2, ["preset"]),
        (["finetune", "--batch-size", "2"], 2, ["batch-size"]),
        (["nonsense"], 2, ["nonsense"]),
    ],
)
def test_mistakes_are_one_line(arguments, code, words, tmp_path):
    result = command(*arguments, cwd=tmp_path, code=code)
    assert "Traceback" not in result.stderr
    if code == 1:
        assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for word in words:
        assert word in result.stderr
    assert list(Path(tmp_path).iterdir()) == []


@pytest.mark.parametrize("name", ["csabstruct", "pubmed-rct", "pmc-sents-full"])
@pytest.mark.parametrize("model", ["minilm", "scibert"])
def test_every_published_recipe_runs_dry(name, model, small_corpus, tiny_bert, tmp_path):
    """Each recipe's own settings on a tiny model and corpus, its long parts cut short."""
    from sectioncls.recipes import find_recipe, plan, read_recipe

    recipe = read_recipe(find_recipe(f"sentences/{name}-{model}"))
    assert recipe.corpus.path == f"corpora/{name}" and recipe.finetune.model == model
    settings = plan(recipe.finetune, name)
    assert settings.epochs >= 2
    short = recipe.finetune.model_copy(update={"model": str(tiny_bert), "epochs": 0.2})
    update = {"model": str(tiny_bert), "finetune": short, "evaluate": recipe.evaluate.model_copy(update={"points": 20})}
    done = run_recipe(recipe.model_copy(update=update), "", tmp_path / "run", corpus=small_corpus)
    assert done.info["status"] == "done" and done.info["protocol"] == "paper"


def test_a_corpus_built_by_a_recipe_bears_its_name(demo, tmp_path):
    from sectioncls.recipes.build import recipe_corpus

    text = f'name = "sheep"\n[corpus]\nbuild = "pmc"\nsource = "{demo / "jats"}"\n'
    corpus = recipe_corpus(parse_recipe(text, "x"), tmp_path / "corpus")
    assert corpus.name == "sheep" and corpus.info.articles["train"] == 28


def test_a_run_may_ask_for_no_clusters_and_no_pictures(small_corpus, tiny_bert, tmp_path):
    corpus = f'name = "x"\n[corpus]\npath = "{small_corpus}"\n'
    text = f'{corpus}[finetune]\nmodel = "{tiny_bert}"\nepochs = 0.5\n[evaluate]\nclusterings = []\nprojections = []\n'
    done = run_recipe(parse_recipe(text, "x"), text, tmp_path / "run")
    assert done.info["status"] == "done"
    assert {score.method for score in done.scores() if score.encoder} >= {"knn", "svm"}
    assert not any(score.metric == "ari" and score.encoder for score in done.scores())
