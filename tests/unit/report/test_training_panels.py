"""What the page says of seeds, of a search, of a collapse and of transfer; every number is made up."""

from __future__ import annotations

import json
import statistics

import pytest
from lxml import html as parser

from sectioncls.errors import InputError
from sectioncls.records import Score
from sectioncls.report import summarize, write_report
from sectioncls.report.panels import training, transfer, trials
from sectioncls.runs import create_run, reopen_run


def told(run, output):
    page = write_report([run.path] if not isinstance(run, list) else [one.path for one in run], output).read_text()
    return " ".join(parser.fromstring(page).text_content().split())


def with_seeds(run):
    """Give a run whose tuned encoder was trained three times."""
    again = reopen_run(run.path)
    encoders = again.info["encoders"]
    encoders["tuned"]["seeds"] = {"1": {}, "2": {}, "3": {}}
    again.update(encoders=encoders)
    values = {1: 0.71, 2: 0.74, 3: 0.735}
    again.add_scores(
        Score("f1-micro", value, method="mlp-seeds", encoder="tuned", seed=seed) for seed, value in values.items()
    )
    history = [json.loads(line) for line in again.read_text("history.jsonl").splitlines()]
    lines = [json.dumps({**row, "seed": seed}) for seed in values for row in history]
    again.write_text("history.jsonl", "\n".join(lines) + "\n")
    again.finish()
    return again, [100 * value for value in values.values()]


def test_mean_deviation_and_range_over_seeds(maker, tmp_path):
    run, values = with_seeds(maker(tmp_path / "r"))
    (view,) = summarize([run.path]).runs
    (row,) = training.spreads(view)
    assert row[:3] == ("MiniLM, fine-tuned", "mlp-seeds", "F1-micro")
    assert (row[3].mean, row[3].deviation) == pytest.approx((statistics.mean(values), statistics.stdev(values)))
    assert (row[3].low, row[3].high, row[3].n) == pytest.approx((71, 74, 3))
    text = told(run, tmp_path / "p.html")
    assert "test scores × 100 over 3 seeds of the training (1, 2, 3)" in text
    entry = training.build(summarize([run.path]))["entries"][0]
    assert entry["seeds"] == [1, 2, 3] and len(entry["pictures"]) == 2


def test_one_seed_has_no_table_of_seeds(maker, tmp_path):
    assert "seeds of the training" not in told(maker(tmp_path / "r"), tmp_path / "p.html")


def test_what_mends_a_collapse(maker, tmp_path):
    fallen = maker(tmp_path / "a", name="paper")
    whole = maker(tmp_path / "b", name="ours", note="nothing to say", shift=0.01)
    again = reopen_run(whole.path)
    encoders = again.info["encoders"]
    encoders["tuned"]["training"] = {"objective": "triplet", "epochs": 4, "margin": 0.25, "seed": 9}
    again.update(encoders=encoders)
    scores = json.loads(again.read_text("scores.json"))
    for row in scores:
        if row["encoder"] == "tuned" and row["metric"] in ("silhouette", "ari"):
            row["value"] = 0.42 if row["metric"] == "silhouette" else 0.51
    again.write_text("scores.json", json.dumps(scores))
    again.finish()
    first = reopen_run(fallen.path)
    encoders = first.info["encoders"]
    encoders["tuned"]["training"] = {"objective": "triplet", "epochs": 10, "margin": 5.0, "seed": 1}
    first.update(encoders=encoders)
    first.finish()
    (one,) = training.mended(summarize([fallen.path, whole.path]))
    assert one["collapsed"] == "MiniLM, fine-tuned (paper)" and one["other"] == "MiniLM, fine-tuned (ours)"
    assert one["settings"] == [("epochs", "10", "4"), ("margin", "5.0", "0.25")]
    found = {name: (before, after) for name, before, after in one["scores"]}
    assert found["Silhouette"] == pytest.approx((81.2, 42)) and found["ARI"] == pytest.approx((35.12, 51))
    assert found["Best F1-micro"] == pytest.approx((77.1, 78.1))
    text = told([fallen, whole], tmp_path / "p.html")
    assert "Collapse, and what mends it" in text and "A high silhouette beside low agreement" in text
    assert not training.mended(summarize([fallen.path]))


def trial(number, value, state="complete", **params):
    return {
        "kind": "trial", "number": number, "params": {"learning_rate": 10.0 ** -(number + 2), **params},
        "state": state, "value": value, "checks": [0.1], "dev": {}, "seconds": 30.0, "rungs": {}, "reason": "",
    }  # fmt: skip


def test_the_trials_of_a_search(maker, tmp_path):
    run = maker(tmp_path / "r")
    head = {"kind": "search", "format": 1, "sampler": "tpe", "space": {"learning_rate": {}, "margin": {}}}
    rows = [trial(0, 0.5), trial(1, 0.9, "pruned"), trial(2, 0.7, margin=0.25), trial(3, None, "failed")]
    run.write_text("trials.jsonl", "".join(json.dumps(row) + "\n" for row in (head, *rows)))
    run.finish()
    entry = trials.build(summarize([run.path]))["entries"][0]
    assert entry["best"] == 2  # the pruned one is no choice
    assert [one["number"] for one in entry["trials"]] == [2, 1, 0, 3]
    assert entry["trials"][0]["params"] == ["0.0001", "0.25"] and entry["trials"][3]["params"][1] == "–"
    text = told(run, tmp_path / "p.html")
    assert "4 trials (tpe)" in text and "Complete: 2." in text and "2.0 minutes in all" in text
    run.write_text("trials.jsonl", "[1]\n")
    run.finish()
    with pytest.raises(InputError, match="is not the journal of a search"):
        trials.build(summarize([run.path]))


def test_the_matrix_of_transfer(maker, tmp_path):
    encoders = {
        "a": {"backbone": "minilm", "state": "cls", "corpus": {"name": "one", "fingerprint": "f1"}},
        "b": {"backbone": "minilm", "state": "cls", "corpus": {"name": "two", "fingerprint": "f2"}},
    }
    info = {"name": "moved", "kind": "transfer", "corpus": {"name": "2 corpora"}, "encoders": encoders, "seeds": [0]}
    run = create_run(tmp_path / "t", info)
    values = {("a", "one"): 0.9, ("a", "two"): 0.61, ("b", "one"): 0.55, ("b", "two"): 0.8}
    for (model, corpus), value in values.items():
        like = {"encoder": model, "corpus": corpus, "fingerprint": {"one": "f1", "two": "f2"}[corpus], "n": 50}
        run.add_scores(
            Score(metric, number, number - 0.02, number + 0.02, protocol="transfer", method="head", **like)
            for metric, number in (("f1-micro", value), ("ece", 0.1))
        )
    run.finish()
    found = transfer.build(summarize([run.path]))
    first, second = found["tables"]
    assert first["columns"] == ["one", "two"] and first["best"] == {"one": 0.9, "two": 0.8}
    assert first["rows"]["moved", "a"]["two"].value == 0.61
    assert second["metric"] == "ece" and not second["best"]
    assert found["own"] == {(("moved", "a"), "one"), (("moved", "b"), "two")}
    both = [run, maker(tmp_path / "r")]
    text = told(both, tmp_path / "p.html")
    assert "Transfer to other corpora" in text and "61.00" in text and "(own)" in text
    alone = told(run, tmp_path / "q.html")
    assert "Classification" not in alone.split("How to remake it")[0].replace("Sentence classification", "")
    assert transfer.build(summarize([both[1].path])) is None
