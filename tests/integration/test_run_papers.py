"""Paper encoders from recipe to report on the made-up papers that come along, with a tiny network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

import sectioncls.recipes.papers.run as module
import sectioncls.recipes.papers.train as training
from sectioncls.encoders import encode, load_encoder, read_facts
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.papers import (
    ModelOptions,
    PapersOptions,
    StageOptions,
    material_of,
    parse_paper_recipe,
    run_papers,
    train_papers,
)
from sectioncls.recipes.papers.maps import field_of_papers
from sectioncls.runs import open_run

TEXT = """
name = "small"
seed = 3
[papers]
path = "{papers}"
titles_alone = 0.05
[model]
name = "{model}"
max_length = 48
[base]
budget = 40
[train]
tasks = ["links", "topics:terms", "class:area", "year", "search"]
budget = 40
batch_size = 4
checks = 1
dev_queries = 5
[[variant]]
conditioning = "none"
[[variant]]
conditioning = "adapters"
seeds = [3, 4]
[[variant]]
name = "fused"
start = "adapters"
conditioning = "fusion"
tasks = ["links"]
[[variant]]
name = "both"
ensemble = "mean"
of = ["none", "adapters"]
[evaluate]
tasks = ["rank:cite", "label:area", "regress:year", "search"]
"""
PLAIN = {"batch_size": 4, "checks": 1, "dev_queries": 5, "learning_rate": 1e-3}


@pytest.fixture(scope="module")
def papers(demo, tmp_path_factory):
    return build_papers([demo / "papers"], tmp_path_factory.mktemp("sets") / "demo", command="build", name="demo")[0]


@pytest.fixture(scope="module")
def text(papers, tiny_bert):
    return TEXT.format(papers=papers.path, model=tiny_bert)


@pytest.fixture(scope="module")
def run(text, tmp_path_factory):
    return run_papers(parse_paper_recipe(text, "small"), text, tmp_path_factory.mktemp("runs") / "small")


def test_everything_is_there(run):
    again = open_run(run.path)
    scores = again.scores()
    assert {s.encoder for s in scores} == {"", "tiny-bert", "none", "adapters", "fused", "both"}
    assert {s.seed for s in scores if s.encoder == "adapters"} == {3, 4}
    wanted = {"rank:cite", "label:area", "regress:year", "search"}
    for name in ("tiny-bert", "none", "adapters", "fused", "both"):
        assert wanted <= {s.task for s in scores if s.encoder == name}
    means = {s.task for s in scores if s.encoder == "none" and s.task.startswith("average:")}
    assert {"average:all", "average:in-train", "average:proximity"} <= means
    queries = again.read_table("query_scores")
    assert set(queries["encoder"]) == {"", "tiny-bert", "none", "adapters", "fused", "both"}
    pairs = set(zip(queries["encoder"], queries["seed"], strict=True))
    assert {("adapters", 3), ("adapters", 4), ("none", 3)} <= pairs
    one = [
        value
        for task, metric, encoder, seed, value in zip(
            *(queries[column] for column in ("task", "metric", "encoder", "seed", "value")), strict=True
        )
        if (task, metric, encoder, seed) == ("rank:cite", "map", "adapters", 4)
    ]
    (mean,) = [s for s in scores if (s.task, s.metric, s.encoder, s.seed) == ("rank:cite", "map", "adapters", 4)]
    assert mean.value == pytest.approx(np.mean(one)) and mean.n == len(one) and mean.unit == "query"
    assert {row["encoder"] for row in again.history()} == {"base", "none", "adapters", "fused"}
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "Paper encoders on demo" in page and "adapters" in page and not (run.path / "checkpoint").exists()


def test_encoders_say_what_they_are(run):
    facts = read_facts(run.path / "encoder" / "adapters-4")
    assert facts["conditioning"] == "adapters" and facts["training"]["seed"] == 4 and facts["papers"] <= 40
    assert facts["earlier"][0]["name"] == "base" and facts["lessons"]["links"]["mining"] == "scimult"
    assert facts["parameters"]["learn"] < facts["parameters"]["all"] / 2
    joined = read_facts(run.path / "encoder" / "both")
    assert joined["training"]["of"] == ["none", "adapters"] and joined["papers"] == 2 * facts["papers"]
    base = read_facts(run.path / "encoder" / "base")
    assert base["papers"] <= 40 and base["texts"]["titles_alone"] == 0.05


def test_they_load_by_sentence_transformers(run):
    from sentence_transformers import SentenceTransformer

    folder = run.path / "encoder" / "fused"
    texts = ["a field survey of peat layers", "storm surge"]
    theirs = SentenceTransformer(str(folder), device="cpu").encode(texts, task="search", side="query")
    ours = encode(load_encoder(folder, device="cpu"), texts, "search", "query")
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_warm_up_is_one_for_all(run):
    base = load_encoder(run.path / "encoder" / "base", device="cpu")
    adapted = load_encoder(run.path / "encoder" / "adapters-3", device="cpu")
    for name, weight in base.backbone.named_parameters():
        assert torch.equal(dict(adapted.backbone.named_parameters())[name], weight), name


def test_the_folder_lists_its_files(run):
    listed = set(json.loads((run.path / "run.json").read_text())["files"]) | {"run.json"}
    assert listed == {p.relative_to(run.path).as_posix() for p in run.path.rglob("*") if p.is_file()}


def test_no_text_of_the_papers_in_run_and_page(run, papers):
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert not any(abstract in page for abstract in papers.papers().abstracts if abstract)


def test_an_interrupted_run_goes_on_and_grows(text, run, tmp_path, monkeypatch):
    cut = text[: text.index('[[variant]]\nname = "fused"')] + text[text.index("[evaluate]") :]
    recipe = parse_paper_recipe(cut, "small")
    real, calls = module.train_papers, []

    def interrupted(*arguments, **options):
        calls.append(options["name"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(module, "train_papers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_papers(recipe, cut, tmp_path / "cut")
    with pytest.raises(InputError, match="did not finish"):
        open_run(tmp_path / "cut")
    with pytest.raises(InputError, match="another recipe"):
        run_papers(recipe.model_copy(update={"seed": 9}), cut, tmp_path / "cut", resume=True)
    run_papers(parse_paper_recipe(text, "small"), text, tmp_path / "cut", resume=True)
    assert calls == ["base", "none", "adapters", "adapters", "adapters", "fused"]
    done = run_papers(parse_paper_recipe(text, "small"), text, tmp_path / "cut", resume=True)
    assert len(calls) == 6  # what is whole is not made again
    assert sorted(done.scores(), key=str) == sorted(run.scores(), key=str)
    with pytest.raises(InputError, match="another recipe"):
        run_papers(recipe, cut, tmp_path / "cut", resume=True)  # a variant may come, none may go


def test_a_run_kept_for_its_numbers_grows_by_what_is_new(text, run, tmp_path, monkeypatch):
    shutil.copytree(run.path, tmp_path / "kept", ignore=shutil.ignore_patterns("encoder", "embeddings", "checkpoint"))
    real, calls = module.train_papers, []

    def counted(*arguments, **options):
        calls.append(options["name"])
        return real(*arguments, **options)

    monkeypatch.setattr(module, "train_papers", counted)
    more = text.replace("[evaluate]", '[[variant]]\nname = "again"\nstart = "adapters"\nbudget = 16\n[evaluate]')
    grown = run_papers(parse_paper_recipe(more, "small"), more, tmp_path / "kept", resume=True)
    # of the old ones only what the new one starts from, and what that starts from
    assert calls == ["base", "adapters", "again"]
    before = [score for score in run.scores() if not score.metric.startswith("mean")]
    assert [score for score in grown.scores() if score in set(before)] == before
    assert {"again", *(score.encoder for score in before)} == {score.encoder for score in grown.scores()}


def test_one_variant_is_the_run_s_encoder(papers, tiny_bert, tmp_path):
    text = f'name = "one"\n[papers]\npath = "{papers.path}"\n[model]\nname = "{tiny_bert}"\n' + (
        '[train]\ntasks = [{name = "links", mining = "specter"}]\nobjective = "margin"\nbudget = 24\nbatch_size = 4\n'
        'conditioning = "mha-experts"\n[evaluate]\ntasks = ["rank:cite"]\nbaselines = false\nsplits = ["dev", "test"]\n'
    )
    done = run_papers(parse_paper_recipe(text, "one"), text, tmp_path / "one")
    assert read_facts(tmp_path / "one" / "encoder")["name"] == "mha-experts"
    assert {(s.encoder, s.split) for s in done.scores()} == {
        (name, split) for name in ("tiny-bert", "mha-experts") for split in ("dev", "test")
    }


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_encoder(folder, device="cpu").backbone.named_parameters())


@pytest.mark.parametrize("chunk", [0, 5])
def test_four_steps_are_two_and_two(papers, tiny_bert, tmp_path, monkeypatch, chunk):
    material = material_of(papers, PapersOptions(titles_alone=0.05), 1)
    tasks = ("links", "class:area", "year")
    stage = StageOptions(tasks=tasks, sharing="together", budget=82, chunk=chunk, conditioning="pals", **PLAIN)
    model = ModelOptions(name=str(tiny_bert), max_length=32)
    whole = train_papers(material, stage, tmp_path / "whole", begin=model, name="w", seed=5)
    assert whole.facts["training"]["steps"] == 4
    asked = []

    @contextmanager
    def pressed_at_two():
        yield lambda: len(asked.append(0) or asked) == 2

    with monkeypatch.context() as patched:
        patched.setattr(training, "held_interrupt", pressed_at_two)
        with pytest.raises(KeyboardInterrupt):
            train_papers(material, stage, tmp_path / "cut", begin=model, name="w", seed=5)
    with pytest.raises(InputError, match="was started with seed 5, not 6"):
        train_papers(material, stage, tmp_path / "cut", begin=model, name="w", seed=6, resume=True)
    torch.manual_seed(999)
    resumed = train_papers(material, stage, tmp_path / "cut", begin=model, name="w", seed=5, resume=True)
    one, two = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)
    assert resumed.dev == whole.dev
    keys = ("step", "task", "loss", "learning_rate")
    rows = [[tuple(row.get(key) for key in keys) for row in done.history] for done in (whole, resumed)]
    assert rows[0] == rows[1] and not (tmp_path / "cut.training").exists()


def test_dev_chooses_the_state(papers, tiny_bert, tmp_path):
    material = material_of(papers, PapersOptions(), 1)
    stage = StageOptions(tasks=("links", "topics:area"), budget=120, choose=True, **{**PLAIN, "checks": 4})
    model = ModelOptions(name=str(tiny_bert), max_length=32)
    done = train_papers(material, stage, tmp_path / "e", begin=model, name="w", seed=1)
    seen = [row["mean"] for row in done.history if row["kind"] == "dev" and row["step"]]
    assert len(seen) == 4 and done.dev["mean"] == max(seen)


def test_any_encoder_is_tuned_further_and_biases_alone_can_be(papers, tiny_bert, tmp_path):
    material = material_of(papers, PapersOptions(), 1)
    model = ModelOptions(name=str(tiny_bert), max_length=32)
    first = StageOptions(tasks=("links",), budget=24, tune="bitfit", **PLAIN)
    train_papers(material, first, tmp_path / "biases", begin=model, name="biases", seed=1)
    before = dict(load_encoder(tiny_bert, device="cpu").backbone.named_parameters())
    moved = {name for name, weight in weights(tmp_path / "biases").items() if not torch.equal(weight, before[name])}
    assert moved and all(name.endswith("bias") for name in moved)
    experts = StageOptions(tasks=("links",), budget=24, conditioning="mha-experts", **PLAIN)
    train_papers(material, experts, tmp_path / "experts", begin=tmp_path / "biases", name="experts", seed=1)
    further = StageOptions(tasks=("year",), budget=24, **PLAIN)
    done = train_papers(material, further, tmp_path / "years", begin=tmp_path / "experts", name="years", seed=1)
    assert done.facts["conditioning"] == "mha-experts" and len(done.facts["earlier"]) == 2
    routes = load_encoder(tmp_path / "years", device="cpu").routes
    one, two = weights(tmp_path / "experts"), weights(tmp_path / "years")
    for name in one:
        if ".experts." in name:  # a step of one task leaves the other tasks' weights alone
            route = routes[int(name.split(".experts.")[1].split(".")[1])]
            assert torch.equal(one[name], two[name]) is (route != "regression"), name
    with pytest.raises(UsageError, match="encoders without conditioning"):
        train_papers(material, first, tmp_path / "x", begin=tmp_path / "experts", name="x", seed=1)


def test_with_one_task_experts_train_like_one_vector(papers, tiny_bert, tmp_path):
    material = material_of(papers, PapersOptions(), 1)
    model = ModelOptions(name=str(tiny_bert), max_length=32)
    for name in ("none", "mha-experts", "ffn-experts"):
        stage = StageOptions(tasks=("links",), budget=48, conditioning=name, **PLAIN)
        train_papers(material, stage, tmp_path / name, begin=model, name=name, seed=2)
    texts = material.texts[:12]
    plain = encode(load_encoder(tmp_path / "none", device="cpu"), texts)
    untouched = encode(load_encoder(tiny_bert, device="cpu"), texts)
    assert np.abs(plain - untouched).max() > 1e-3
    for name in ("mha-experts", "ffn-experts"):
        routed = encode(load_encoder(tmp_path / name, device="cpu"), texts, "proximity")
        np.testing.assert_allclose(routed, plain, atol=1e-6)


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


def test_the_quick_recipe_by_command(tiny_bert, tmp_path):
    result = command("run", "papers/quick", "--model", tiny_bert, "-o", "out", cwd=tmp_path)
    assert "mha-experts" in result.stdout and "bm25" in result.stdout and "average:all" in result.stdout
    assert (tmp_path / "out" / "corpus" / "papers.parquet").is_file()  # built inside the run
    assert open_run(tmp_path / "out").info["encoders"]["mha-experts"]["conditioning"] == "mha-experts"


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ('[train]\ntasks = ["linx"]\n', "no such task 'linx'.*links"),
        ('[train]\ntasks = ["links"]\nconditioning = "moe"\n', "unknown conditioning 'moe'.*mha-experts"),
        ('[train]\ntasks = ["links"]\n[evaluate]\nprotocol = "x"\n', "no protocol 'x'.*scimult"),
        ('[train]\ntasks = ["links"]\n[evaluate]\ntasks = ["x"]\n', "no task 'x'.*rank:cite"),
        ('[train]\ntasks = ["topics:hue"]\n', "no collection 'hue'.*area"),
        ('[train]\ntasks = ["links"]\n[[variant]]\nconditioning = "fusion"\n', "adapters first"),
        ('[train]\ntasks = ["links"]\nconditioning = "pals"\noptions = { colour = 3 }\n', "colour"),
    ],
)
def test_mistakes_are_found_before_anything_is_trained(papers, tiny_bert, tmp_path, recipe, words):
    head = f'name = "x"\n[papers]\npath = "{papers.path}"\n[model]\nname = "{tiny_bert}"\n'
    evaluate = "" if "[evaluate]" in recipe else "[evaluate]\nbaselines = false\nuntuned = false\n"
    with pytest.raises((UsageError, InputError), match=words) as caught:
        run_papers(parse_paper_recipe(head + recipe + evaluate, "x"), "", tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out" / "encoder").exists()


def test_a_mistake_by_command_is_one_line(papers, tmp_path):
    (tmp_path / "x.toml").write_text('name = "x"\n[papers]\n[train]\ntasks = ["links"]\n')
    result = command("run", "x.toml", "-o", "out", "-q", cwd=tmp_path, code=1)
    assert "Traceback" not in result.stderr and len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert "names no paper set" in result.stderr and "papers.path" in result.stderr


def test_vectors_are_kept_and_found_again(text, run, tmp_path, monkeypatch):
    import shutil

    import sectioncls.recipes.papers.vectors as vectors
    from sectioncls.runs import reopen_run

    kept = run.path / "embeddings"
    assert sorted(file.name for file in (kept / "adapters-3").glob("*.npy")) == [
        "classification.npy",
        "proximity.npy",
        "regression.npy",
        "search.npy",
    ]
    assert [file.name for file in (kept / "none-3").glob("*.npy")] == ["all.npy"]
    again = tmp_path / "again"
    shutil.copytree(run.path, again)
    before = run.scores()
    lost = reopen_run(again)  # as if it had been cut off while the last encoder was scored
    (again / "scores.json").unlink()
    lost.add_scores([score for score in before if score.encoder != "both"])
    encoded = []
    monkeypatch.setattr(vectors, "encode_batches", lambda *given, **options: encoded.append(given) or iter(()))
    done = run_papers(parse_paper_recipe(text, "small"), text, again, resume=True)
    assert not encoded
    assert sorted(done.scores(), key=str) == sorted(before, key=str)


def test_test_papers_are_drawn_once_by_every_encoder(papers, tiny_bert, tmp_path):
    text = f"""
    name = "drawn"
    [papers]
    path = "{papers.path}"
    [model]
    name = "{tiny_bert}"
    [train]
    tasks = ["links"]
    budget = 16
    batch_size = 4
    [evaluate]
    tasks = ["regress:year"]
    baselines = false
    projections = ["pca", "tsne"]
    points = 20
    [[variant]]
    conditioning = "none"
    [[variant]]
    conditioning = "adapters"
    """
    drawn = run_papers(parse_paper_recipe(text, "drawn"), text, tmp_path / "r")
    table, known = drawn.read_table("projection"), papers.papers()
    shown = list(dict.fromkeys(zip(table["encoder"], table["method"], strict=True)))
    assert shown == [(name, how) for name in (tiny_bert.name, "none", "adapters") for how in ("pca", "tsne")]
    assert len(table["x"]) == 6 * 20
    row_of, fields = known.row_of(), field_of_papers(material_of(papers, PapersOptions(), 0))
    assert {known.splits[row_of[paper]] for paper in table["article_id"]} == {"test"}
    for paper, field, venue, year in zip(*(table[c] for c in ("article_id", "label", "venue", "year")), strict=True):
        row = row_of[paper]
        assert (field, venue, year) == (fields.get(row, ""), known.venues[row], known.years[row])
    assert all(0 < one["trustworthiness"] <= 1 for maps in drawn.info["maps"].values() for one in maps.values())
    again = run_papers(parse_paper_recipe(text, "drawn"), text, tmp_path / "r", resume=True)
    assert again.read_table("projection") == table
    assert "Colour by" in (drawn.path / "report.html").read_text() and 'data-by="year"' in drawn.read_text(
        "report.html"
    )


def test_formats_are_scored_across(papers, tiny_bert, tmp_path):
    text = f'name = "one"\n[papers]\npath = "{papers.path}"\n[model]\nname = "{tiny_bert}"\n' + (
        '[train]\ntasks = ["links", "year"]\nbudget = 24\nbatch_size = 4\nconditioning = "control-codes"\n'
        '[evaluate]\ntasks = ["rank:cite", "regress:year"]\nbaselines = false\nuntuned = false\ncross_formats = true\n'
    )
    done = run_papers(parse_paper_recipe(text, "one"), text, tmp_path / "one")
    values = {score.task: score.value for score in done.scores() if score.metric == "mean"}
    routes = ("classification", "regression", "proximity", "search")
    crossed = {task for task in values if task.startswith("cross:")}
    assert crossed == {f"cross:{route}>{asked}" for route in routes for asked in ("proximity", "regression")}
    for asked in ("proximity", "regression"):  # on the diagonal stands what the encoder is scored by
        assert values[f"cross:{asked}>{asked}"] == pytest.approx(values[f"average:{asked}"])
    assert values["cross:search>regression"] != values["cross:regression>regression"]
    page = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    assert "Formats against formats: control-codes" in page


def test_tasks_without_a_route_are_left_out_and_noted(papers, tiny_bert, tmp_path):
    from sectioncls.encoders import condition, save_encoder

    encoder = condition(load_encoder(tiny_bert, device="cpu"), "mha-experts", tasks=["proximity", "search"])
    save_encoder(
        encoder, tmp_path / "ready", facts={"format": 1, "kind": "papers", "backbone": "other", "name": "ready"}
    )
    text = f'name = "one"\n[papers]\npath = "{papers.path}"\n[model]\nname = "{tmp_path / "ready"}"\n' + (
        '[train]\ntasks = ["links"]\nbudget = 12\nbatch_size = 4\n[evaluate]\ntasks = ["rank:cite", "label:area"]\n'
        "baselines = false\nuntuned = false\n"
    )
    done = run_papers(parse_paper_recipe(text, "one"), text, tmp_path / "one")
    assert {score.task for score in done.scores() if score.metric != "mean"} == {"rank:cite"}
    assert "tuned has no route for label:area: left out" in done.info["notes"]
    other = text.replace('"links"', '"class:area"')
    with pytest.raises(UsageError, match="unknown task 'classification'"):
        run_papers(parse_paper_recipe(other, "one"), other, tmp_path / "two")
