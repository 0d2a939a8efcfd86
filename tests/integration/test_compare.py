"""Runs against each other, by function and by command: what is said, what is refused."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import typer
from sklearn.metrics import f1_score
from typer.testing import CliRunner

from sectioncls.cli.compare import compare, leaderboard
from sectioncls.corpora import open_corpus
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes import EvaluateOptions, evaluate_encoder, evaluate_texts
from sectioncls.recipes.compare import compare_runs
from sectioncls.recipes.leaderboard import leaderboard as boards_of
from sectioncls.runs import create_run, open_run, reopen_run

OPTIONS = EvaluateOptions(classifiers=("logistic-regression", "decision-tree"))
CENTRES = np.random.default_rng(9).normal(size=(5, 16))


def make(folder, corpus, noises, *, seed=0, options=OPTIONS, name=None):
    """A run with one encoder for each noise: the more, the harder are its embeddings."""
    name = name or folder.name
    recipe = {"name": name, "seed": seed, "noises": noises}
    facts = {"name": corpus.name, "fingerprint": corpus.info.fingerprint}
    info = {"name": name, "protocol": options.protocol, "encoders": {key: {} for key in noises}}
    run = create_run(folder, {**info, "corpus": facts, "recipe": recipe})
    results = [evaluate_texts(corpus, options=options)]
    for encoder, noise in noises.items():
        rng = np.random.default_rng((seed, int(100 * noise)))
        given = {}
        for split in corpus.splits:
            labels = corpus.split(split).labels
            given[split] = (CENTRES[labels] + noise * rng.normal(size=(len(labels), 16))).astype(np.float32)
        results.append(
            evaluate_encoder(
                corpus, given["train"], given["test"], dev_vectors=given["dev"], name=encoder, options=options
            )
        )
    for result in results:
        run.add_rows("predictions", result.predictions)
        run.add_rows("clusters", result.clusters)
        run.add_scores(result.scores)
    run.finish()
    return folder


@pytest.fixture(scope="module")
def runs(small_corpus, tmp_path_factory):
    corpus, folder = open_corpus(small_corpus), tmp_path_factory.mktemp("compare")
    make(folder / "plain", corpus, {"base": 6.0, "tuned": 1.0})
    make(folder / "other", corpus, {"base": 5.9})
    for seed in range(3):
        make(folder / "good" / f"seed{seed}", corpus, {"enc": 1.5}, seed=seed)
        make(folder / "bad" / f"seed{seed}", corpus, {"enc": 5.0}, seed=seed)
    return folder


def call(*arguments):
    app = typer.Typer()
    app.command("compare")(compare)
    app.command("leaderboard")(leaderboard)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_a_sure_difference_is_one_sentence(runs):
    found = compare_runs(runs / "other", runs / "plain")
    assert found.better == "plain (tuned)"
    sentence = found.sentence
    assert sentence.startswith("plain (tuned) is better than other (base): F1-micro with ")
    assert "95 % interval +" in sentence and "by article, p < 0.001" in sentence and "McNemar" in sentence
    assert sentence.count(".") and "\n" not in sentence
    turned = compare_runs(runs / "plain", runs / "other")
    assert turned.better == found.better and turned.sentence.startswith("plain (tuned) is better")


def test_values_are_those_of_scikit_learn_on_the_tables(runs):
    found = compare_runs(runs / "other", runs / "plain", metric="f1-macro", method="logistic-regression")
    table = open_run(runs / "plain").read_table("predictions")
    rows = [
        (label, said)
        for label, said, encoder, method in zip(
            table["label"], table["predicted"], table["encoder"], table["method"], strict=True
        )
        if (encoder, method) == ("tuned", "logistic-regression")
    ]
    truth, said = zip(*rows, strict=True)
    assert found.headline.found.second == pytest.approx(f1_score(truth, said, average="macro"))
    assert len(found.rows) == 1 and found.headline.p == found.headline.found.p


def test_chance_alone_is_no_difference(runs):
    found = compare_runs(runs / "other", runs / "plain", encoders=(None, "base"), method="logistic-regression")
    assert found.better is None
    assert found.sentence.startswith("Neither ") and "can be called better" in found.sentence
    assert any(note.startswith("only 10 articles") for note in found.notes)


def test_a_run_with_itself_is_before_and_after(runs):
    found = compare_runs(runs / "plain", runs / "plain")
    assert (found.first, found.second, found.better) == ("plain (base)", "plain (tuned)", "plain (tuned)")
    with pytest.raises(UsageError, match="compared with itself"):
        compare_runs(runs / "other", runs / "other")


def test_permuted_tables_change_nothing(runs, tmp_path):
    shutil.copytree(runs / "other", tmp_path / "other")
    run = reopen_run(tmp_path / "other")
    for name in ("predictions", "clusters"):
        table = run.read_table(name)
        order = np.random.default_rng(0).permutation(len(table["label"]))
        run.write_table(name, {column: [values[row] for row in order] for column, values in table.items()})
    run.finish()
    one, other = (compare_runs(place / "other", runs / "plain") for place in (runs, tmp_path))
    assert {(row.method, row.found) for row in one.rows} == {(row.method, row.found) for row in other.rows}
    assert one.sentence == other.sentence


def test_places_that_stand_twice_are_paired_in_order(runs, tmp_path):
    """A set that was split by sentence and joined again: half of its places are taken a second time."""
    wanted = compare_runs(runs / "other", runs / "plain")
    for name in ("other", "plain"):
        shutil.copytree(runs / name, tmp_path / name)
        run = reopen_run(tmp_path / name)
        for table in ("predictions", "clusters"):
            columns = run.read_table(table)
            columns["index"] = [index // 2 for index in columns["index"]]
            run.write_table(table, columns)
        run.finish()
    found = compare_runs(tmp_path / "other", tmp_path / "plain")
    assert found.sentence == wanted.sentence
    for row, other in zip(found.rows, wanted.rows, strict=True):
        assert (row.found.first, row.found.second) == (other.found.first, other.found.second)
    assert boards_of(tmp_path)


def test_folders_of_seeds_are_compared_in_the_mean(runs):
    found = compare_runs(runs / "bad", runs / "good")
    assert (found.first, found.second) == ("bad (3 runs)", "good (3 runs)") and found.better == found.second
    values = [
        score.value
        for run in sorted((runs / "good").iterdir())
        for score in open_run(run).scores()
        if (score.encoder, score.method, score.metric) == ("enc", found.headline.method, "f1-micro")
    ]
    assert found.headline.found.second == pytest.approx(np.mean(values))
    assert found.headline.found.mcnemar is None


def test_seeds_are_tested_as_scirepeval_does(runs):
    found = compare_runs(runs / "bad", runs / "good", protocol="scirepeval")
    assert found.seeds is not None and found.better == "good (3 runs)"
    assert "by Tukey's test over seeds" in found.sentence
    with pytest.raises(InputError, match="has 1 seed"):
        compare_runs(runs / "plain", runs / "other", protocol="scirepeval")


def test_different_test_sets_are_one_line(runs, small_corpus, tmp_path):
    corpus = open_corpus(small_corpus)
    shutil.copytree(runs / "other", tmp_path / "short")
    run = reopen_run(tmp_path / "short")
    table = run.read_table("predictions")
    run.write_table("predictions", {name: values[5:-5] for name, values in table.items()})
    run.finish()
    shutil.copytree(runs / "other", tmp_path / "relabelled")
    run = reopen_run(tmp_path / "relabelled")
    table = run.read_table("predictions")
    run.write_table("predictions", {**table, "label": table["label"][1:] + table["label"][:1]})
    run.finish()
    for name, says in (("short", "were tested on different sentences: 67 of csabstruct"), ("relabelled", "labels")):
        with pytest.raises(InputError) as caught:
            compare_runs(runs / "plain", tmp_path / name, encoders=("base", None), method="decision-tree")
        assert says in str(caught.value) and "\n" not in str(caught.value)
        assert corpus.info.fingerprint[:8] in str(caught.value)


def test_one_article_is_compared_by_sentence(runs, tmp_path):
    for name in ("plain", "other"):
        shutil.copytree(runs / name, tmp_path / name)
        run = reopen_run(tmp_path / name)
        for table in ("predictions", "clusters"):
            rows = run.read_table(table)
            # Each method has the same 67 sentences in the same order.
            places = [row % 67 for row in range(len(rows["label"]))]
            run.write_table(table, {**rows, "article_id": ["only"] * len(places), "index": places})
        run.finish()
    found = compare_runs(tmp_path / "other", tmp_path / "plain")
    assert found.headline.found.unit == "sentence" and "by sentence, p" in found.sentence


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"encoders": ("nobody", None)}, "has no encoder 'nobody', only: base, tuned"),
        ({"metric": "bleu"}, "no metric 'bleu' to compare by: f1-micro"),
        ({"method": "oracle"}, "don't share the method oracle"),
    ],
)
def test_mistakes_are_one_line(runs, arguments, says):
    with pytest.raises((InputError, UsageError)) as caught:
        compare_runs(runs / "plain", runs / "other", **arguments)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_folders_that_hold_no_run(runs, tmp_path):
    for place, says in ((tmp_path, "holds no run"), (tmp_path / "none", "no such run")):
        with pytest.raises(InputError, match=says):
            compare_runs(place, runs / "other")
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            boards_of(place)


def test_the_verb_prints_the_sentence_first_and_json(runs):
    shown = call("compare", runs / "other", runs / "plain", "--quiet")
    assert shown.exit_code == 0 and shown.stdout.splitlines()[0].startswith("plain (tuned) is better")
    facts = json.loads(call("compare", runs / "other", runs / "plain", "--json").stdout)
    assert facts["better"] == "plain (tuned)"
    first = facts["headline"]
    assert first["difference"] == pytest.approx(first["second"] - first["first"])
    assert {"low", "high", "p", "p_corrected", "tests", "mcnemar", "unit", "units"} <= set(first)


def test_a_leaderboard_ranks_all_runs(runs, tmp_path):
    shutil.copytree(runs, tmp_path / "runs")
    unfinished = reopen_run(tmp_path / "runs" / "other")
    assert unfinished.info["status"] == "running"
    found = boards_of(tmp_path / "runs")
    assert len(found.boards) == 1 and len(found.left_out) == 1 and "did not finish" in found.left_out[0]
    places = found.boards[0].places
    values = [place.score.value for place in places]
    assert values == sorted(values, reverse=True)
    assert [place.encoder for place in places].count("enc") == 2  # seeds stand together
    seeds = next(place for place in places if place.run == "good/seed0 and 2 more")
    assert seeds.seeds is not None and seeds.seeds.n == 3 and seeds.score.value == seeds.seeds.mean
    assert places[0].p is None and places[-1].p < 0.05
    text = [place for place in places if place.encoder == ""]
    assert len(text) == 1  # the baselines of six runs are one


def test_a_leaderboard_by_another_metric_and_method(runs):
    found = boards_of(runs, metric="ari")
    assert {place.method for place in found.boards[0].places} == {"kmeans", "tfidf-kmeans"}
    alone = boards_of(runs, method="decision-tree")
    assert {place.method for place in alone.boards[0].places} == {"decision-tree"}
    tested = boards_of(runs, method="decision-tree", protocol="scirepeval").boards[0]
    assert tested.seeds is not None and len(tested.seeds.pairs) == 1
    assert boards_of(runs, metric="silhouette").boards[0].places[0].p is None
    with pytest.raises(InputError, match="no finished run with a bleu of svm on test"):
        boards_of(runs, metric="bleu", method="svm")


def test_the_leaderboard_verb(runs):
    shown = call("leaderboard", runs, "--protocol", "scirepeval")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("csabstruct (n 67, intervals by article)")
    assert "f1-micro" in lines[2] and "95 % interval" in lines[2]
    facts = json.loads(call("leaderboard", runs, "--json").stdout)
    assert facts["boards"][0]["places"][0]["score"]["metric"] == "f1-micro"


def test_query_scores_are_compared_by_query(runs, tmp_path):
    rng = np.random.default_rng(0)
    for name, lift in (("weak", 0.0), ("strong", 0.2)):
        run = create_run(tmp_path / name, {"name": name, "encoders": {"enc": {}}})
        values = rng.random(40) * 0.5 + lift
        columns = {"query": [f"q{i}" for i in range(40)], "value": values.tolist()}
        same = {"encoder": "enc", "method": "dot", "task": "cite", "metric": "map", "seed": 0, "split": "test"}
        run.write_table("query_scores", {**columns, **{key: [value] * 40 for key, value in same.items()}})
        run.finish()
    found = compare_runs(tmp_path / "weak", tmp_path / "strong")
    assert found.better == "strong" and "by query" in found.sentence
