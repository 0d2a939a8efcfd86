"""The panel of paper encoders: main scores, means, changes and costs as the run folder has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sectioncls.records import Score
from sectioncls.report import write_report
from sectioncls.report.panels.papers import build
from sectioncls.report.summary import summarize
from sectioncls.runs import Run, create_run


def score(encoder: str, task: str, metric: str, method: str, value: float, seed: int | None = 1) -> Score:
    return Score(metric, value, value - 0.05, value + 0.05, 40, "query", "made", "f" * 64, task=task, encoder=encoder,
                 method=method, seed=seed)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    facts: dict[str, Any] = {"backbone": "minilm", "state": "tuned", "model": "m"}
    encoders = {
        "none": {**facts, "conditioning": "none", "parameters": {"all": 100, "learn": 100}, "papers": 40, "seconds": 3},
        "pals": {**facts, "conditioning": "pals", "parameters": {"all": 140, "learn": 140}, "papers": 40, "seconds": 4},
    }
    main = {
        "bm25": {"rank:cite": ["map", "bm25"]},
        "none": {"rank:cite": ["map", "dot"], "topics:a": ["recall@20", "name+match"]},
        "pals": {"rank:cite": ["map", "dot"]},
    }
    corpus = {"name": "made", "kind": "papers", "counts": {"papers": 9}, "fingerprint": "f" * 64}
    run = create_run(
        tmp_path / "run",
        {"kind": "papers", "encoders": encoders, "main": main, "corpus": corpus, "notes": ["a <note>"]},
    )
    run.add_scores(
        [
            score("", "rank:cite", "map", "bm25", 0.3, 42),
            score("none", "rank:cite", "map", "dot", 0.5),
            score("none", "rank:cite", "ndcg", "dot", 0.9),
            score("none", "topics:a", "recall@20", "name+match", 0.4),
            score("none", "topics:a", "recall@20", "name", 0.1),
            score("pals", "rank:cite", "map", "dot", 0.6, 1),
            score("pals", "rank:cite", "map", "dot", 0.64, 2),
            score("none", "class:area", "f1-macro", "linear-svm", 0.7),
            score("none", "class:area", "f1-micro", "linear-svm", 0.8),
            score("none", "average:all", "mean", "", 0.45),
        ]
    )
    run.append_history({"kind": "step", "step": 1, "task": "links", "loss": 1.0, "encoder": "none"})
    run.append_history({"kind": "step", "step": 1, "task": "links", "loss": 1.0, "encoder": "pals"})
    run.finish()
    return run


def test_values(run: Run) -> None:
    found = build(summarize([run.path]))
    assert found is not None
    (entry,) = found["entries"]
    assert [task for task, _ in entry["tasks"]] == ["rank:cite", "topics:a"]
    assert list(entry["rows"]) == ["BM25", "none", "pals"]
    assert entry["rows"]["none"]["topics:a"].value == 0.4
    two = entry["rows"]["pals"]["rank:cite"]
    assert two.value == pytest.approx(0.62) and (two.low, two.high, two.unit) == (0.6, 0.64, "seed")
    assert entry["best"] == {("pals", "rank:cite"), ("none", "topics:a")}
    assert entry["vanilla"] == "none" and entry["changes"]["pals"]["rank:cite"] == pytest.approx(24)
    assert entry["means"]["none"]["all"].value == 0.45


def test_the_page(run: Run, tmp_path: Path) -> None:
    page = write_report([run.path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Paper encoders on made" in page and "+24.0" in page and "a &lt;note&gt;" in page
    assert "classification scores" not in page
    # F1 of papers by class is no F1 of sentences by role.
    assert 'id="classification-title"' not in page and 'id="replication-title"' not in page


def test_runs_of_sentences_have_no_such_panel(maker: Any, tmp_path: Path) -> None:
    assert build(summarize([maker(tmp_path / "r").path])) is None
