"""Published claims judged by a run's rows, and which task hurts another, against differences by hand."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from sectioncls.recipes.papers.findings import finish_findings, systems_named
from sectioncls.records import Score
from sectioncls.runs import create_run

LINKS, TERMS, YEAR = {"name": "links"}, {"name": "topics:terms"}, {"name": "year"}
SEVERAL = [LINKS, TERMS, YEAR]
QUERIES = 60


def facts(conditioning="none", tasks=(), **training):
    learnt = {"tasks": list(tasks), "tune": "all", **training} if tasks or training else None
    return {"conditioning": conditioning, **({"training": learnt} if learnt else {})}


@pytest.fixture
def made(tmp_path):
    def make(encoders, levels, cross=()):
        """Make a run where each system's values on a task lie around a level; all share one noise."""
        noise = np.random.default_rng(0).normal(0, 0.02, QUERIES)
        own = np.random.default_rng(1)
        main = {name: {task: ["map", "dot"] for task in its} for name, its in levels.items()}
        run = create_run(tmp_path / "r", {"kind": "papers", "encoders": encoders, "main": main})
        for name, its in levels.items():
            values = [level + noise + own.normal(0, 0.005, QUERIES) for level in its.values()]
            count = QUERIES * len(its)
            fixed = {"metric": "map", "encoder": name, "method": "dot", "seed": 1, "split": "test"}
            columns = {column: [value] * count for column, value in fixed.items()}
            columns["task"] = [task for task in its for _ in range(QUERIES)]
            columns["query"] = [str(query) for _ in its for query in range(QUERIES)]
            columns["value"] = np.concatenate(values).tolist()
            run.add_rows("query_scores", columns)
        run.add_scores(cross)
        finish_findings(run, 0)
        return run, {claim["id"]: claim for claim in run.info["claims"]}

    return make


def test_verdicts_come_from_paired_intervals(made):
    encoders = {"minilm": facts(), "none": facts("none", SEVERAL), "mha-experts": facts("mha-experts", SEVERAL)}
    levels = {
        "minilm": {"rank:cite": 0.5, "topics:terms": 0.5, "search": 0.50},
        "none": {"rank:cite": 0.6, "topics:terms": 0.6, "search": 0.45},
        "mha-experts": {"rank:cite": 0.65, "topics:terms": 0.58, "search": 0.55},
    }
    _, claims = made(encoders, levels)
    every = claims["mha-experts-beat-vanilla-everywhere"]
    assert every["verdict"] == "refuted"  # it loses by two points on topics
    gaps = {gap["where"]: gap for gap in every["gaps"]}
    assert gaps["topics:terms"]["difference"] == pytest.approx(-0.02, abs=0.003)
    assert gaps["rank:cite"]["low"] > 0.04 and gaps["rank:cite"]["high"] < 0.06  # the shared noise falls out
    assert claims["one-vector-loses-held-out"]["verdict"] == "confirmed"  # search is held out: 0.50 against 0.45
    assert claims["fine-labels"]["verdict"] == "confirmed"
    assert claims["adapters-best-single"]["verdict"] == "not testable here"
    assert "no adapters" in claims["adapters-best-single"]["reason"]
    assert claims["no-collisions-beyond-1000"]["verdict"] == "not testable here"


def test_mining_and_biases(made):
    mined = {name: {**LINKS, "mining": name.partition("-")[0]} for name in ("specter", "scincl", "scincl-tenth")}
    mined["scincl-tenth"]["cap"] = 1500
    encoders = {"minilm": facts(), **{name: facts("none", [task]) for name, task in mined.items()}}
    encoders["biases"] = facts("none", [mined["scincl"]], tune="bitfit")
    levels = {name: {"rank:cite": level} for name, level in
              {"minilm": 0.5, "specter": 0.6, "scincl": 0.7, "scincl-tenth": 0.59, "biases": 0.68}.items()}  # fmt: skip
    _, claims = made(encoders, levels)
    assert claims["scincl-beats-specter-mining"]["verdict"] == "confirmed"
    assert claims["scincl-ten-per-cent"]["verdict"] == "refuted"
    assert claims["bitfit-keeps-most"]["verdict"] == "confirmed"  # 0.18 of 0.20 is more than half
    assert claims["bidirectional-helps-specter"]["verdict"] == "not testable here"


def test_interference_is_alone_less_together(made):
    encoders = {"all": facts("none", SEVERAL), "links": facts("none", [LINKS]), "numbers": facts("none", [YEAR])}
    levels = {
        "all": {"rank:cite": 0.6, "topics:terms": 0.6},
        "links": {"rank:cite": 0.63, "topics:terms": 0.5},
        "numbers": {"rank:cite": 0.4, "topics:terms": 0.6},
    }
    run, _ = made(encoders, levels)
    found = {one["alone"]: one for one in run.info["interference"]}
    assert set(found) == {"links", "numbers"} and {one["together"] for one in found.values()} == {"all"}
    value, low, high = found["links"]["gaps"]["rank:cite"]
    assert value == pytest.approx(0.03, abs=0.003) and 0.02 < low < value < high < 0.04
    assert found["links"]["gaps"]["topics:terms"][2] < 0
    assert found["numbers"]["tasks"] == ["year"]


def test_the_diagonal_of_formats(made):
    def mean(route, asked, value):
        return Score("mean", value, value - 0.01, value + 0.01, task=f"cross:{route}>{asked}", encoder="adapters")

    cells = [("proximity", "proximity", 0.8), ("regression", "proximity", 0.7), ("regression", "regression", 0.5)]
    for last, verdict in ((0.4, "confirmed"), (0.495, "undecided"), (0.6, "refuted")):
        scores = [mean(*cell) for cell in (*cells, ("proximity", "regression", last))]
        run, claims = made({"adapters": facts("adapters", SEVERAL)}, {"adapters": {"rank:cite": 0.5}}, scores)
        assert claims["own-format-best"]["verdict"] == verdict, last
        run.finish()
        shutil.rmtree(run.path)


def test_whom_a_claim_means():
    encoders = {
        "minilm": facts(),
        "base": facts("none", SEVERAL),
        "links": facts("none", [LINKS]),
        "none": facts("none", SEVERAL),
        "none, titles": facts("none", SEVERAL),
        "both": facts("adapters", (), ensemble="mean"),
        "experts": facts("mha-experts", SEVERAL),
    }
    main = {name: {} for name in (*encoders, "bm25")}
    words = {"base": "minilm", "none": "none", "mean": "both", "mha-experts": "experts", "bm25": "bm25", "pals": None}
    assert {word: systems_named(word, encoders, main) for word in words} == words


def test_a_run_without_training_has_no_findings(tmp_path):
    run = create_run(tmp_path / "r", {"kind": "papers", "encoders": {"minilm": facts()}})
    finish_findings(run, 0)
    assert "claims" not in run.info
    run.finish()
