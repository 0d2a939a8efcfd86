"""Baselines on the made-up papers that come along: each row is what its parts give when put together by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sectioncls.downstream.protocols import PAPER_PROTOCOLS
from sectioncls.downstream.rank import measured_scores
from sectioncls.errors import InputError, UsageError
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.paper_evaluate import evaluate_papers
from sectioncls.recipes.paper_results import main_scores, system_of
from sectioncls.recipes.paper_scoring import setting
from sectioncls.recipes.paper_words import METHODS, evaluate_words
from sectioncls.recipes.papers import PapersOptions, material_of, parse_paper_recipe
from sectioncls.recipes.papers.baselines import (
    FITTED,
    PUBLISHED,
    Chosen,
    Fitted,
    choose_baselines,
    evaluate_baseline,
    fit_baseline,
)

COSINE = replace(PAPER_PROTOCOLS["default"], similarity="cosine")


@pytest.fixture(scope="module")
def papers(demo, tmp_path_factory):
    return build_papers([demo / "papers"], tmp_path_factory.mktemp("sets") / "demo", command="build", name="demo")[0]


@pytest.fixture(scope="module")
def material(papers):
    return material_of(papers, PapersOptions(), 0)


def values(scores):
    return {(row.task, row.metric, row.label): row.value for row in scores}


def test_names():
    assert choose_baselines(True) == Chosen(words=METHODS) and choose_baselines(False) == Chosen()
    found = choose_baselines(("tf-idf", "bm25", "tfidf", "sgc", "scibert", "specter2=models/s", "someone/model"))
    assert found.words == ("tfidf", "bm25") and found.fitted == ("sgc",)
    assert found.published == (("scibert", None), ("specter2", "models/s"), ("someone/model", None))
    with pytest.raises(UsageError, match="no baseline 'spectre'") as caught:
        choose_baselines(("spectre",))
    assert "doc2vec" in str(caught.value) and "\n" not in str(caught.value)


def test_a_recipe_names_them():
    head = 'name = "x"\n[papers]\npath = "p"\n[evaluate]\nbaselines = '
    assert parse_paper_recipe(head + '["bm25", "sgc"]', "x").evaluate.baselines == ("bm25", "sgc")
    assert parse_paper_recipe(head + "false", "x").evaluate.baselines is False
    with pytest.raises(InputError, match="baselines"):
        parse_paper_recipe(head + "[1]", "x")


def test_words_may_be_chosen(papers):
    whole, some = (evaluate_words(papers, methods=methods) for methods in (METHODS, ("bm25",)))
    assert {system_of(row) for row in some.scores} == {"bm25"}
    assert values(some.scores) == values(row for row in whole.scores if system_of(row) == "bm25")


def test_every_task_as_an_encoder_with_the_same_vectors(papers, material):
    fitted = fit_baseline("lsa", material, 3)
    found = evaluate_baseline(setting(papers), "lsa", fitted, seed=3)
    same = evaluate_papers(
        papers, lambda texts, task, side: fitted.embed(texts), name="lsa", protocol=COSINE, shared=True
    )
    ways = {(row.task, row.metric, row.label, row.method) for row in same.scores if row.method.startswith("name")}
    assert {(row.task, row.metric, row.label, row.method.removeprefix("lsa-")) for row in found.scores} >= ways
    rankings = [row for row in same.scores if row.method in ("cosine", "linear-svm", "linear-svr", "top-3")]
    assert {row.task for row in rankings} >= {"rank:cite", "search", "regress:year", "class:area"}
    mine = values(row for row in found.scores if "name" not in row.method)
    for key, value in values(rankings).items():
        assert mine[key] == pytest.approx(value, abs=1e-6), key
    assert {(row.encoder, row.seed, system_of(row)) for row in found.scores} == {("", 3, "lsa")}
    assert all(row.low is not None for row in main_scores(found.scores).values())


def test_the_graph_knows_nothing_of_test_papers(papers, material):
    fitted = fit_baseline("graph", material, 0)
    test = papers.papers().rows("test")
    assert not fitted.vectors[test].any() and fitted.vectors[material.rows].any()
    given = setting(papers)
    found = evaluate_baseline(given, "graph", fitted)
    n = len(test)
    assert found.notes[0].startswith(f"graph: {n} of {n} test papers have no citation that may be learnt from")
    assert any(note.startswith("graph has no answer to ") and "search" in note for note in found.notes)
    data = given.ranking(next(one for one in given.tasks if one.name == "rank:cite"))
    order = given.order(given.table.ids)
    floor = measured_scores(data.judged, np.zeros(len(data.judged)), ["map"], order=order).values["map"].mean()
    assert values(found.scores)["rank:cite", "map", None] == pytest.approx(floor)


def test_a_leak_shows(papers):
    whole = material_of(papers, PapersOptions(transductive=True), 0)
    fitted = fit_baseline("graph", whole, 0)
    ends = np.unique(papers.citations())
    np.testing.assert_array_equal(np.flatnonzero(fitted.linked), ends)
    found = values(evaluate_baseline(setting(papers), "graph", fitted).scores)
    inside = fit_baseline("graph", material_of(papers, PapersOptions(), 0), 0)
    floor = values(evaluate_baseline(setting(papers), "graph", inside).scores)
    assert found["rank:cite", "map", None] > floor["rank:cite", "map", None] + 0.2


def test_without_co_citations_the_hybrid_is_tfidf(papers, material):
    found = evaluate_baseline(setting(papers), "kanakia", fit_baseline("kanakia", material, 0))
    words = evaluate_words(papers, methods=("tfidf",))
    rankings = {row.task for row in found.scores}
    assert rankings == {row.task for row in words.scores if row.task.startswith(("rank:", "retrieve:"))} != set()
    assert values(found.scores) == pytest.approx(values(row for row in words.scores if row.task in rankings))


def test_how_often_cited_is_the_floor_of_rankings(papers, material):
    given = setting(papers, tasks=["rank:cite"])
    data = given.ranking(given.tasks[0])
    often = [sum(int(edge[1]) == row for edge in papers.citations("train")) for row in data.judged.document.tolist()]
    order = given.order(given.table.ids)
    expected = measured_scores(data.judged, np.array(often, dtype=float), ["map"], order=order).values["map"].mean()
    found = values(evaluate_baseline(given, "cited", fit_baseline("cited", material, 0)).scores)
    assert found["rank:cite", "map", None] == pytest.approx(expected)


def test_smoothing_leaves_papers_without_citations_alone(papers, material):
    plain, smooth = fit_baseline("lsa", material, 0), fit_baseline("sgc", material, 0)
    test = papers.papers().rows("test")
    np.testing.assert_allclose(smooth.vectors[test], plain.vectors[test], atol=1e-5)
    assert np.abs(smooth.vectors[smooth.linked] - plain.vectors[smooth.linked]).max() > 0.05


def test_one_seed_one_result(material):
    for name in ("citeomatic", "sgc", "graph"):
        first, second = (fit_baseline(name, material, 5).vectors for _ in range(2))
        assert first.tobytes() == second.tobytes(), name


def test_a_set_without_citations(tmp_path, papers):
    import pyarrow.parquet as pq

    table = papers.papers()
    rows = "".join(
        f'{{"id": "{name}", "title": "On wool and {n % 3}", "split": "train"}}\n'
        for n, name in enumerate(table.ids[:9])
    )
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "papers.jsonl").write_text(rows)
    plain = material_of(build_papers([folder], tmp_path / "out", command="test")[0], PapersOptions(), 0)
    assert pq.read_table(tmp_path / "out" / "papers.parquet").num_rows == 9
    for name in ("sgc", "graph", "citeomatic", "kanakia", "cited"):
        with pytest.raises(InputError, match="no citations to learn from"):
            fit_baseline(name, plain, 0)


def test_a_baseline_without_an_answer_has_no_row(papers):
    result = evaluate_baseline(setting(papers, tasks=["search", "class:area"]), "mute", Fitted())
    assert not result.scores and result.notes == ["mute has no answer to search, class:area"]


def test_rows_of_encoders():
    assert {"scibert", "specter2", "aspire", "oag-bert"} <= set(PUBLISHED)
    assert PUBLISHED["aspire"].formats == ("proximity",) and "co-citations" in PUBLISHED["aspire"].note
    assert not set(PUBLISHED) & set(FITTED)
