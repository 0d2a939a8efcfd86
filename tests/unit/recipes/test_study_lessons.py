"""What studies teach otherwise: teacher's vectors, oracles, other bands, no hard negatives, other groups and words."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.encoders import condition, encode, load_encoder, save_encoder
from sectioncls.errors import UsageError
from sectioncls.mining import embed_graph
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.papers import PapersOptions, TaskOptions, material_of
from sectioncls.recipes.papers.devquestions import dev_question
from sectioncls.recipes.papers.lessons import lesson_of
from sectioncls.recipes.papers.study.groups import groups_of, route_of_scored
from sectioncls.recipes.papers.study.measures import MEASURES, measured
from sectioncls.recipes.papers.study.schema import MeasureOptions
from sectioncls.recipes.papers.study.wordings import reword


@pytest.fixture(scope="module")
def papers(demo, tmp_path_factory):
    return build_papers([demo / "papers"], tmp_path_factory.mktemp("sets") / "demo", command="build", name="demo")[0]


@pytest.fixture(scope="module")
def material(papers):
    return material_of(papers, PapersOptions(), 1)


def links(material, **options):
    return lesson_of(material, TaskOptions(name="links", mining="scincl", options=options), 3)


def test_the_teacher_s_vectors(material):
    task = TaskOptions(name="graph", options={"embeddings": {"dimensions": 16}})
    lesson = lesson_of(material, task, 3)
    graph = material.graph()
    inside = graph.connected()
    vectors = embed_graph(graph, 3, dimensions=16)[inside]
    assert lesson.loss == "vector" and lesson.targets.shape == (len(inside), 16) and lesson.outputs == 16
    assert lesson.texts == tuple(material.learnt[row] for row in material.rows[inside])
    np.testing.assert_allclose(lesson.targets, vectors / np.sqrt((vectors**2).mean()), rtol=1e-4)
    assert dev_question(material, task, 1, 5) is not None


def test_an_oracle_learns_from_what_is_judged(papers, material):
    whole = material_of(papers, PapersOptions(transductive=True), 1)
    lesson = lesson_of(whole, TaskOptions(name="oracle", options={"collections": ["area"]}), 3)
    triples = lesson.triples
    judged = papers.qrels("cite", "dev", "test")
    scored = {}
    for query, paper, score in zip(judged.query_rows, judged.paper_rows, judged.scores, strict=True):
        scored[int(query), int(paper)] = score
    topics = papers.topics("area")
    area = dict(topics.pairs.tolist())
    rows = whole.rows
    half = len(triples) // 2
    assert lesson.facts["triples of each task"] == half and lesson.facts["tasks"] == ["area", "cite"]
    for place in range(half):  # rankings come first
        q, p, n = (int(rows[x]) for x in (triples.query[place], triples.positive[place], triples.negatives[place, 0]))
        assert scored[q, p] > 0 and scored[q, n] <= 0
    splits = papers.papers().splits
    for place in range(half, len(triples)):
        q, p, n = (int(rows[x]) for x in (triples.query[place], triples.positive[place], triples.negatives[place, 0]))
        assert area[q] == area[p] != area[n] and "train" not in {splits[q], splits[p], splits[n]}
    with pytest.raises(UsageError, match="transductive"):
        lesson_of(material, TaskOptions(name="oracle"), 3)


def test_wider_bands_and_thresholds(material):
    narrow = links(material, k_plus=12, k_minus=60)
    wide = links(material, k_plus=12, k_minus=60, width=12, hard_width=20)
    scaled = links(material, width=5, hard_width=4)  # bands that are scaled to the graph, the far one wider
    assert len(narrow.triples) == len(wide.triples)
    assert not np.array_equal(narrow.triples.positive, wide.triples.positive)
    assert np.array_equal(scaled.triples.positive, links(material).triples.positive)
    ruled = links(material, thresholds=[0.6, 0.1])
    assert len(ruled.triples) and ruled.facts["skipped"]
    with pytest.raises(UsageError, match="leave no margin"):
        links(material, thresholds=[0.1, 0.6])


@pytest.mark.parametrize("name", ["links", "topics:terms", "search"])
def test_without_hard_negatives(material, name):
    with_, without = (lesson_of(material, TaskOptions(name=name, options={"hard": hard}), 3).triples for hard in (1, 0))
    assert with_.negatives.shape[1] == 1 and without.negatives.shape[1] == 0
    assert np.array_equal(with_.query, without.query) and np.array_equal(with_.positive, without.positive)
    with pytest.raises(UsageError, match="hard negatives"):
        lesson_of(material, TaskOptions(name=name, options={"hard": 2}), 3)


def test_tasks_in_other_groups(material):
    task = TaskOptions(name="year", route="proximity")
    assert lesson_of(material, task, 1).route == dev_question(material, task, 1, 5).route == "proximity"
    trained = [{"name": "year", "route": "proximity"}, {"name": "links", "route": "search"}, {"name": "topics:terms"}]
    groups = groups_of({"training": {"tasks": trained}})
    assert groups == {"year": "proximity", "links": "search"}
    scored = ("regress:year", "rank:cite", "topics:terms", "label:area", "rank:cocite")
    routes = [route_of_scored(task, groups) for task in scored]
    assert routes == ["proximity", "search", "classification", "classification", "proximity"]


def test_other_words_of_the_same_encoder(tiny_bert, tmp_path):
    encoder = condition(load_encoder(tiny_bert, device="cpu"), "instruction", seed=1)
    facts = {"name": "told", "training": {"seed": 1}, "base_model": "tiny"}
    save_encoder(encoder, tmp_path / "told", facts=facts)
    reword(tmp_path / "told", tmp_path / "other", {"search": "look for studies"}, name="other")
    one, two = (load_encoder(tmp_path / name, device="cpu") for name in ("told", "other"))
    texts = ["peat and frost", "storm surge"]
    np.testing.assert_array_equal(encode(one, texts, "proximity"), encode(two, texts, "proximity"))
    assert np.abs(encode(one, texts, "search", "query") - encode(two, texts, "search", "query")).max() > 1e-4
    fresh = condition(
        load_encoder(tiny_bert, device="cpu"), "instruction", wordings={"search": "look for studies"}, seed=1
    )
    wanted, got = (encode(e, texts, "search", "query") for e in (fresh, two))
    np.testing.assert_allclose(got, wanted, atol=1e-6)
    save_encoder(load_encoder(tiny_bert, device="cpu"), tmp_path / "plain", facts=facts)
    with pytest.raises(UsageError, match="without instructions"):
        reword(tmp_path / "plain", tmp_path / "x", {"search": "look"}, name="x")


def test_measures_against_loops(material):
    graph = material.graph()
    cited = {frozenset(edge) for edge in material.papers.citations("train").tolist()}
    minings = measured(MeasureOptions(name="m", kind="minings", options={"seeds": 1}), material, 1)
    rows = {row["mining"]: row for row in minings.at({})}
    assert rows["specter, both ways"]["linked negatives"] == 0 == rows["specter, exclude citing"]["linked negatives"]
    assert rows["specter"]["linked negatives"] > 0 and rows["specter"]["triples"] == 5 * (graph.cited > 0).sum()
    easy = measured(MeasureOptions(name="e", kind="easy", options={"seeds": 1, "ways": ["filtered"]}), material, 1)
    (row,) = easy.at({"from": "filtered"})
    assert row["among neighbours"] == 0
    overlap = measured(MeasureOptions(name="o", kind="overlap"), material, 1)
    assert [r["share"] for r in overlap.at({"what": "papers"})] == [0, 1]
    judged = material.papers.qrels("cite", "test")
    whole = {frozenset(edge) for edge in material.papers.citations().tolist()}
    pairs = [
        frozenset((int(q), int(p)))
        for q, p, s in zip(judged.query_rows, judged.paper_rows, judged.scores, strict=True)
        if s > 0
    ]
    shares = [r["share"] for r in overlap.at({"what": "pairs of cite"})]
    assert shares == [np.mean([pair in cited for pair in pairs]), np.mean([pair in whole for pair in pairs])]


def test_domains_count_papers_of_each_split(material):
    table = measured(MeasureOptions(name="d", kind="domains", options={"by": "venue", "most": 2}), material, 1)
    papers = material.papers.papers()
    for row in table.at({}):
        mine = [split for split, venue in zip(papers.splits, papers.venues, strict=True) if venue == row["domain"]]
        assert row["papers"] == len(mine) and row["test"] == mine.count("test") / papers.splits.count("test")
    assert len(table.rows) == 2 and "rarer ones" in table.notes[0]


def test_kinds_and_options_are_known(material):
    assert {"bands", "widths", "easy", "thresholds", "embeddings", "minings", "overlap", "domains"} == set(MEASURES)
    with pytest.raises(UsageError, match="has no option 'hue'"):
        measured(MeasureOptions(name="m", kind="easy", options={"hue": 1}), material, 1)
