"""A recipe that names baselines: rows beside encoders, encoders of others from folders, absent weights in one line."""

from __future__ import annotations

import json

import huggingface_hub.constants
import pytest

from sectioncls.papersets.build import build_papers
from sectioncls.recipes.observer import Observer
from sectioncls.recipes.paper_results import system_of
from sectioncls.recipes.papers import parse_paper_recipe, run_papers

TEXT = """
name = "beside"
seed = 2
[papers]
path = "{papers}"
[evaluate]
baselines = ["bm25", "sgc", "graph", "kanakia", "scibert={model}", "specter", "aspire={model}", "oag-bert"]
untuned = false
tasks = ["rank:cite", "label:area", "search"]
"""


@pytest.fixture(scope="module")
def text(demo, tiny_bert, tmp_path_factory):
    papers, _ = build_papers([demo / "papers"], tmp_path_factory.mktemp("sets") / "demo", command="build", name="demo")
    return TEXT.format(papers=papers.path, model=tiny_bert)


def test_rows_stand_beside_each_other(text, tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    said = []
    recipe = parse_paper_recipe(text, "beside.toml")
    run = run_papers(recipe, text, tmp_path / "run", observer=Observer(note=said.append))
    scores = run.scores()
    tasks = {system: {row.task for row in scores if system_of(row) == system} for system in map(system_of, scores)}
    ranked = {"rank:cite", "search"}
    assert tasks["bm25"] == ranked and tasks["sgc"] == {*ranked, "label:area"}
    assert tasks["graph"] == tasks["kanakia"] == {"rank:cite"}
    assert {task for task in tasks["aspire"] if ":" in task and not task.startswith("average")} == {"rank:cite"}
    assert {*ranked, "label:area"} < tasks["scibert"]
    assert all(row.low is not None for row in scores if row.task == "rank:cite")
    notes = run.info["notes"]
    assert "2 of 4 encoders of others need weights that are not here: specter, oag-bert" in notes
    assert any(note.startswith("aspire is the bi-encoder trained on co-citations") for note in notes)
    lines = [line for line in said if line.startswith(("specter", "oag-bert"))]
    assert len(lines) == 2 and not any("\n" in line for line in lines)
    assert set(run.info["baselines"]) == {"sgc", "graph", "kanakia"}
    assert run.info["encoders"]["scibert"]["model"] == "allenai/scibert_scivocab_uncased"
    page = (run.path / "report.html").read_text()
    for title in ("SGC", "Citation graph alone", "Co-citation and TF-IDF", "scibert", "aspire"):
        assert title in page
    again = run_papers(recipe, text, run.path, resume=True)
    assert len(again.scores()) == len(scores)
    assert json.loads((run.path / "run.json").read_text())["status"] == "done"


def test_a_folder_is_read_as_its_row_says(tiny_bert):
    from sectioncls.recipes.papers.baselines.published import open_published, published_of, separator_of

    cls, mean, own = (open_published(name, str(tiny_bert)) for name in ("scibert", "declutr", "specter"))
    assert [encoder.model[1].pooling_mode for encoder in (cls, mean, own)] == ["cls", "mean", "cls"]
    assert cls.model.max_seq_length <= 64
    rows = [published_of(name) for name in ("scibert", "sentbert", "someone/model")]
    assert [separator_of(row, cls) for row in rows] == [" [SEP] ", ". ", " [SEP] "]
    cls.model.tokenizer.sep_token = "</s>"
    assert separator_of(rows[0], cls) == " </s> "


def test_rankings_by_field_have_a_table(text, tmp_path):
    recipe = parse_paper_recipe(
        text.split("baselines")[0] + 'baselines = ["bm25", "citeomatic"]\nuntuned = false\nprotocol = "mdcr"\n'
        'fields = "area"\ntasks = ["rank:cite"]\n',
        "fields.toml",
    )
    run = run_papers(recipe, "", tmp_path / "run")
    labels = {row.label for row in run.scores() if row.metric == "recall@5"}
    assert {"soil", "bridges", None} <= labels
    assert {system_of(row) for row in run.scores()} == {"bm25", "citeomatic"}
    page = (run.path / "report.html").read_text()
    assert "<b>rank:cite by field</b>: Recall@5" in page and "mean of fields" in page
    assert any("papers that may be learnt from; citations of test papers are not" in note for note in run.info["notes"])


def test_specter2_brings_its_adapters(repository):
    from sectioncls.recipes.papers.baselines import open_published

    encoder = open_published("specter2", str(repository / "tests" / "data" / "specter2-tiny"))
    assert encoder.conditioning is not None and set(encoder.routes) >= {"proximity", "search"}
