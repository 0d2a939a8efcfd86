"""What follows from the scores of paper encoders: held-out tasks, claims, formats, interference, leak twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sectioncls.records import Score
from sectioncls.report import write_report
from sectioncls.report.panels.papers import build
from sectioncls.report.panels.papers_findings import format_taught
from sectioncls.report.summary import summarize
from sectioncls.runs import Run, create_run

LINKS, TERMS, YEAR = {"name": "links"}, {"name": "topics:terms"}, {"name": "year"}


def score(encoder: str, task: str, value: float, half: float = 0.05) -> Score:
    metric = "mean" if task.startswith(("average", "cross")) else "map"
    method = "" if metric == "mean" else "dot"
    return Score(metric, value, value - half, value + half, 40, "query", "made", "f" * 64, task=task, encoder=encoder,
                 method=method, seed=1)  # fmt: skip


def made(path: Path, scores: list[Score], tasks: dict[str, list[dict[str, Any]]], **info: Any) -> Run:
    encoders = {
        name: {"backbone": "minilm", "state": "tuned", "conditioning": name if name == "adapters" else "none",
               "training": {"tasks": its, "seed": 1} if its else None}
        for name, its in tasks.items()
    }  # fmt: skip
    main = {name: {"rank:cite": ["map", "dot"]} for name in tasks}
    corpus = {"name": "made", "kind": "papers", "counts": {"papers": 9}, "fingerprint": "f" * 64}
    run = create_run(path, {"kind": "papers", "encoders": encoders, "main": main, "corpus": corpus, **info})
    run.add_scores(scores)
    run.finish()
    return run


def entry_of(run: Run) -> dict[str, Any]:
    found = build(summarize([run.path]))
    assert found is not None
    return dict(found["entries"][0])


def test_generalisation_is_judged_by_held_out_tasks(tmp_path: Path) -> None:
    scores = [score(name, "rank:cite", 0.5) for name in ("none", "adapters")]
    scores += [score("none", "average:held-out", 0.566, 0.01), score("adapters", "average:held-out", 0.59, 0.01)]
    scores += [score("none", "average:in-train", 0.7), score("none", "average:all", 0.65)]
    entry = entry_of(made(tmp_path / "r", scores, {"none": [LINKS, YEAR], "adapters": [LINKS, YEAR]}))
    assert entry["groups"] == ["in-train", "held-out", "all"]
    assert entry["found"]["lead"] == (
        "Generalisation is judged by the tasks held out: adapters is highest there, 59.0 (58.0 to 60.0); "
        "none has 56.6 (55.6 to 57.6)."
    )
    rows = dict(entry["found"]["beside"]["rows"])
    assert [theirs for _, theirs in rows["none"]] == [60.1, 56.6, 69.3]  # as the benchmark's file prints them
    assert [theirs for _, theirs in rows["adapters"]] == [61.9, 59.0, 70.9]
    assert rows["none"][1][0].value == 0.566 and rows["adapters"][0][0] is None


def test_formats_against_formats(tmp_path: Path) -> None:
    scores = [score("adapters", "rank:cite", 0.5)]
    cells = {("proximity", "proximity"): 0.8, ("proximity", "regression"): 0.2, ("regression", "proximity"): 0.7,
             ("regression", "regression"): 0.4}  # fmt: skip
    scores += [score("adapters", f"cross:{route}>{asked}", value) for (route, asked), value in cells.items()]
    (one,) = entry_of(made(tmp_path / "r", scores, {"adapters": [LINKS, YEAR]}))["found"]["crossed"]
    assert one["encoder"] == "adapters" and one["asked"] == ["regression", "proximity"]
    assert dict(one["rows"]) == {
        "regression": [(0.4, True, True), (0.7, False, False)],
        "proximity": [(0.2, False, False), (0.8, True, True)],
    }


def test_encoders_of_one_format_stand_beside_each_other(tmp_path: Path) -> None:
    scores = [score(name, "average:proximity", 0.5) for name in ("all", "links", "years")]
    run = made(tmp_path / "r", scores, {"all": [LINKS, YEAR], "links": [LINKS], "years": [YEAR]})
    single = entry_of(run)["found"]["single"]
    assert [(name, taught) for name, taught, _ in single] == [("links", "proximity"), ("years", "regression")]
    assert format_taught([LINKS, {"name": "cocite"}]) == "proximity"
    assert format_taught([LINKS, TERMS]) is None and format_taught([]) is None


def test_claims_and_interference_are_shown_as_the_run_has_them(tmp_path: Path) -> None:
    claim = {"id": "a", "claim": "One beats <two>.", "source": "arXiv 1", "published": "3 against 2", "verified": True}
    tested = {**claim, "verdict": "refuted", "reason": "one less two: -1.0", "gaps": []}
    other = {**claim, "claim": "Not here.", "verdict": "not testable here", "reason": "the run has no two", "gaps": []}
    alone = {"alone": "links", "together": "all", "tasks": ["links"], "gaps": {"rank:cite": [0.02, 0.01, 0.03]}}
    scores = [score("all", "rank:cite", 0.5), score("links", "rank:cite", 0.52)]
    tasks = {"all": [LINKS, YEAR], "links": [LINKS]}
    run = made(tmp_path / "r", scores, tasks, claims=[tested, other], interference=[alone])
    entry = entry_of(run)
    assert [one["verdict"] for one in entry["found"]["claims"]] == ["refuted"]
    assert entry["found"]["untested"] == [other]
    seen = entry["found"]["interference"]
    assert seen["lines"][0][3] == [(entry["rows"]["links"]["rank:cite"], [0.02, 0.01, 0.03], True)]
    page = write_report([run.path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "One beats &lt;two&gt;." in page and "1 claims not testable here" in page and "+2.0" in page
    assert "Task interference" in page


def test_a_leak_twin_shows_both_scores_and_the_overlap(tmp_path: Path) -> None:
    tasks = {"none": [LINKS]}
    note = "transductive: 5 test papers and 7 citations of test papers are learnt from"
    clean = made(tmp_path / "clean", [score("none", "rank:cite", 0.5)], tasks, recipe={"papers": {}, "variants": []})
    leaky = made(tmp_path / "leak", [score("none", "rank:cite", 0.6)], tasks, notes=[note],
                 recipe={"papers": {"transductive": True}, "variants": []})  # fmt: skip
    leaky.info["encoders"]["none"]["training"]["steps"] = 9
    leaky.finish()
    found = build(summarize([clean.path, leaky.path]))
    assert found is not None
    (twin,) = found["twins"]
    assert (twin["clean"], twin["leaky"], twin["overlap"]) == ("clean: none", "leak: none", [note])
    ((task, without, with_it, gap),) = twin["tasks"]
    assert (task, without.value, with_it.value) == ("rank:cite", 0.5, 0.6) and gap == pytest.approx(0.1)
    page = write_report([clean.path, leaky.path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What a leak is worth" in page and "7 citations of test papers" in page
    alone = build(summarize([leaky.path]))
    assert alone is not None and alone["twins"] == []


def test_twins_of_one_run(tmp_path: Path) -> None:
    variants = [{"name": "none"}, {"name": "leak", "papers": {"transductive": True}}]
    scores = [score("none", "rank:cite", 0.5), score("leak", "rank:cite", 0.7)]
    run = made(tmp_path / "r", scores, {"none": [LINKS], "leak": [LINKS]}, recipe={"papers": {}, "variants": variants})
    found = build(summarize([run.path]))
    assert found is not None
    assert [(twin["clean"], twin["leaky"]) for twin in found["twins"]] == [("none", "leak")]
