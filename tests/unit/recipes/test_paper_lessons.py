"""What the tasks of paper encoders teach, against brute force on the made-up papers that come along."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.papersets.build import build_papers
from sectioncls.recipes.papers.devquestions import dev_question
from sectioncls.recipes.papers.devscore import DevTexts
from sectioncls.recipes.papers.lessons import lesson_of, route_of_task
from sectioncls.recipes.papers.material import material_of, search_text
from sectioncls.recipes.papers.schema import PapersOptions, TaskOptions


@pytest.fixture(scope="module")
def papers(demo, tmp_path_factory):
    return build_papers([demo / "papers"], tmp_path_factory.mktemp("sets") / "demo", command="build", name="demo")[0]


@pytest.fixture(scope="module")
def material(papers):
    return material_of(papers, PapersOptions(), 0)


def lesson(material, name, seed=0, **options):
    return lesson_of(material, TaskOptions(name=name, **options), seed)


def pairs_of(task):
    columns = zip(task.triples.query.tolist(), task.triples.positive.tolist(), strict=True)
    return {tuple(sorted(pair)) for pair in columns}


def train_citations(material):
    return {tuple(pair) for pair in material.own(material.papers.citations("train")).tolist() if min(pair) >= 0}


def test_only_train_is_learnt_from(material, papers):
    table = papers.papers()
    hidden = {material.texts[row] for row in table.rows("dev", "test")} - {
        material.texts[row] for row in table.rows("train")
    }
    for name in ("links", "cocite", "authors", "topics:terms", "class:area", "year", "titles"):
        task = lesson(material, name)
        texts = task.texts if hasattr(task, "texts") else (*task.queries, *task.documents)
        assert texts and not hidden & set(texts)


def test_titles_stand_alone_for_some(papers):
    table = papers.papers()
    some = material_of(papers, PapersOptions(titles_alone=0.3), 5)
    alone = [
        text == title
        for text, title, abstract in zip(some.learnt, table.titles, table.abstracts, strict=True)
        if abstract
    ]
    assert 0.2 < np.mean(alone) < 0.4 and some.texts == material_of(papers, PapersOptions(), 5).learnt
    assert material_of(papers, PapersOptions(titles_alone=0.3), 5).learnt == some.learnt
    assert material_of(papers, PapersOptions(titles_alone=0.3), 6).learnt != some.learnt


@pytest.mark.parametrize("mining", ["specter", "scincl", "scimult"])
def test_links(material, mining):
    task = lesson(material, "links", mining=mining)
    cites = train_citations(material)
    assert {tuple(pair) for pair in task.known.tolist()} == cites | {(b, a) for a, b in cites}
    triples = task.triples
    if mining != "scincl":
        assert all(pair in cites for pair in zip(triples.query.tolist(), triples.positive.tolist(), strict=True))
    if mining == "scimult":
        assert Counter(zip(triples.query.tolist(), triples.positive.tolist(), strict=True)) == Counter(cites)
        for query, negative in zip(triples.query.tolist(), triples.negatives[:, 0].tolist(), strict=True):
            through = {end for middle in {b for a, b in cites if a == query} for a, end in cites if a == middle}
            assert negative == -1 or (negative in through and (query, negative) not in cites)
    assert task.facts["mining"] == mining and task.facts["triples"] == len(triples) and task.route == "proximity"
    again = lesson(material, "links", mining=mining).triples
    assert (again.negatives == triples.negatives).all()


def test_cocited_and_coupled(material):
    cites = train_citations(material)
    cited_by, citing = {}, {}
    for a, b in cites:
        cited_by.setdefault(b, set()).add(a)
        citing.setdefault(a, set()).add(b)
    for name, sets, least in (("cocite", cited_by, 2), ("couple", citing, 2)):
        task = lesson(material, name, options={"least": least})
        expected = {(a, b) for a in sets for b in sets if a < b and len(sets[a] & sets[b]) >= least}
        found = {
            tuple(sorted(p)) for p in zip(task.triples.query.tolist(), task.triples.positive.tolist(), strict=True)
        }
        assert found == expected and len(task.triples) == len(expected)
        assert cites <= {tuple(pair) for pair in task.known.tolist()}  # a cited paper is no negative either


def test_authors(material):
    task = lesson(material, "authors")
    authors = [{name.lower() for name in material.table.authors[row]} for row in material.rows]
    expected = {(a, b) for a in range(len(authors)) for b in range(a + 1, len(authors)) if authors[a] & authors[b]}
    assert pairs_of(task) == expected
    few = lesson(material, "authors", options={"each": 2})
    assert len(few.triples) < len(task.triples)
    assert few.facts["authors of too many papers, of whom some were drawn"] > 0


def test_topics(material):
    task = lesson(material, "topics:terms")
    has = {tuple(pair) for pair in task.known.tolist()}
    triples = list(zip(task.triples.query.tolist(), task.triples.positive.tolist(), strict=True))
    assert Counter(triples) == Counter(has)
    negatives = zip(task.triples.query.tolist(), task.triples.negatives[:, 0].tolist(), strict=True)
    assert all(pair not in has for pair in negatives)
    assert task.route == "classification" and task.papers == (True, False) and "peat layers" in task.documents
    rare = lesson(material, "topics:terms", options={"least": 12})
    often = Counter(topic for _, topic in has)
    assert set(rare.triples.positive.tolist()) == {t for t, n in often.items() if n >= 12}
    definitions = lesson(material, "topics:area").documents
    assert any(text.startswith("soil. How water") for text in definitions)


def test_classes(material, papers):
    single, several = lesson(material, "class:area"), lesson(material, "class:terms")
    assert (single.loss, single.outputs, single.targets.shape) == ("ce", 4, (118,))
    assert (several.loss, several.outputs, several.targets.shape) == ("bce", 32, (118, 32))
    topics = papers.topics("terms")
    place = {material.texts[row]: row for row in material.rows}
    for text, flags in zip(several.texts, several.targets, strict=True):
        own = {topics.names[topic] for paper, topic in topics.pairs.tolist() if paper == place[text]}
        assert flags.sum() == len(own)


def test_numbers(material):
    year, cited = lesson(material, "year"), lesson(material, "citations")
    years = material.table.years[material.rows]
    np.testing.assert_allclose(year.targets, (years - years.mean()) / years.std(), rtol=1e-5)
    assert (year.loss, year.route) == ("mse", "regression")
    assert abs(float(cited.targets.mean())) < 1e-5 and float(cited.targets.std()) == pytest.approx(1, rel=1e-4)
    assert (lesson(material, "target:log_n_cited").targets == cited.targets).all()  # already a logarithm


def test_search(material, papers):
    task = lesson(material, "search")
    judged = papers.qrels("search", "train")
    of = {}
    for query, paper, score in zip(judged.query_ids, judged.paper_rows.tolist(), judged.scores.tolist(), strict=True):
        of.setdefault(query, {})[paper] = score
    ids = papers.queries().ids
    rows = zip(task.triples.query.tolist(), task.triples.positive.tolist(), task.triples.negatives[:, 0], strict=True)
    for query, good, bad in rows:
        assert of[ids[query]][good] > 0 and (bad == -1 or of[ids[query]][int(bad)] == 0)
    assert len(task.triples) == sum(score > 0 for own in of.values() for score in own.values())
    assert task.papers == (False, True) and task.route == "search"


def test_titles(material):
    task = lesson(material, "titles")
    rows = task.triples.query
    assert (rows == task.triples.positive).all()
    assert all(task.queries[row] and task.documents[row] for row in rows)
    assert len(rows) == sum(bool(material.table.abstracts[row]) for row in material.rows)


def test_fields_of_a_search_document(papers):
    assert search_text("T", "A", 1999, "V", separator=" | ", fields=("venue", "year")) == "T | V | 1999 | A"
    assert search_text("T", "A", -1, "", separator=" | ", fields=("venue", "year")) == "T | A"
    assert search_text("T", "", 1999, "V", separator=" | ", fields=("year",)) == "T | 1999"
    found = material_of(papers, PapersOptions(search_fields=("venue", "year")), 0).found
    table = papers.papers()
    assert found[0] == f"{table.titles[0]}. {table.venues[0]}. {table.years[0]}. {table.abstracts[0]}"


def test_caps_draw_once(material):
    whole, some = lesson(material, "links").triples, lesson(material, "links", cap=20).triples
    assert len(some) == 20
    pairs = set(zip(whole.query.tolist(), whole.positive.tolist(), strict=True))
    assert set(zip(some.query.tolist(), some.positive.tolist(), strict=True)) <= pairs
    assert len(lesson(material, "year", cap=7).texts) == 7
    assert lesson(material, "year", cap=7).texts == lesson(material, "year", cap=7).texts
    assert lesson(material, "year", cap=7, seed=1).texts != lesson(material, "year", cap=7).texts


def test_a_leak_is_named(papers):
    leaky = material_of(papers, PapersOptions(transductive=True), 0)
    (note,) = leaky.overlap()
    assert note == "transductive: 39 test papers and 222 citations of test papers are learnt from"
    assert len(leaky.rows) == 180 and lesson(leaky, "links").facts["triples"] == 607
    assert not material_of(papers, PapersOptions(), 0).overlap()


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("linx", {}, UsageError, "no such task 'linx'.*links.*topics:NAME"),
        ("topics", {}, UsageError, "no such task 'topics'"),
        ("year:a", {}, UsageError, "no such task"),
        ("topics:colour", {}, InputError, "no collection 'colour'.*area, terms"),
        ("target:height", {}, InputError, "no target 'height'"),
        ("couple", {"options": {"least": 99}}, InputError, "nothing to learn couple from"),
        ("links", {"options": {"hops": 3}}, UsageError, "no option 'hops'.*per_query"),
        ("year", {"options": {"a": 3}}, UsageError, "takes no options"),
        ("links", {"mining": "scincl", "options": {"k_plus": 5}}, UsageError, "both or neither"),
        ("links", {"mining": "scincl", "options": {"embeddings": {"size": 5}}}, UsageError, "graph embeddings.*size"),
        ("links", {"mining": "scincl", "options": {"hard": "a"}}, UsageError, "takes no hard = 'a'.*integer"),
        ("links", {"mining": "scincl", "options": {"embeddings": 3}}, UsageError, "takes no embeddings = 3"),
        ("cocite", {"options": {"least": "x"}}, UsageError, "the task cocite takes no least = 'x'"),
        ("links", {"mining": "specter", "options": {"easy": "specter2"}}, InputError, "no fields of its papers"),
    ],
)
def test_mistakes(material, name, options, error, words):
    with pytest.raises(error, match=words):
        lesson(material, name, **options)


@pytest.mark.parametrize(
    "name",
    [
        "links",
        "cocite",
        "authors",
        "topics:terms",
        "class:area",
        "class:terms",
        "year",
        "citations",
        "search",
        "titles",
    ],
)
def test_dev_questions_hold_no_test_paper(material, papers, name):
    question = dev_question(material, TaskOptions(name=name), 0, 15)
    assert question.route == route_of_task(name)
    test = {material.texts[row] for row in papers.papers().rows("test")}
    if isinstance(question, DevTexts):
        assert len(question.texts) == len(question.targets) and not test & set(question.texts)
        return
    assert question.relevant.shape == question.allowed.shape == (len(question.queries), len(question.documents))
    assert (question.relevant & question.allowed).any(1).all() and not test & set(question.queries)
    again = dev_question(material, TaskOptions(name=name), 0, 15)
    assert again.documents == question.documents and (again.relevant == question.relevant).all()


def test_a_set_without_what_a_task_needs(tmp_path):
    from sectioncls.papersets import create_paperset
    from sectioncls.records import Paper

    with create_paperset(tmp_path / "bare", name="bare", form="edges", command="") as writer:
        for number in range(6):
            split = ("train", "train", "train", "train", "dev", "test")[number]
            writer.add_paper(Paper(str(number), f"paper number {number}", "words" * (number % 2)), split)
    from sectioncls.papersets import open_paperset

    bare = material_of(open_paperset(tmp_path / "bare"), PapersOptions(), 0)
    for name, words in (
        ("links", "no citations among its training papers"),
        ("authors", "nothing to learn authors from"),
        ("year", "knows no year"),
        ("search", "no judged searches.*titles"),
        ("cocite", "nothing to learn cocite from"),
    ):
        with pytest.raises(InputError, match=words):
            lesson(bare, name)
        assert dev_question(bare, TaskOptions(name=name), 0, 5) is None


def test_one_topic_teaches_nothing(tmp_path):
    from sectioncls.papersets import create_paperset, open_paperset
    from sectioncls.records import Paper

    with create_paperset(tmp_path / "one", name="one", form="edges", command="") as writer:
        writer.add_topic("area", "soil")
        for number in range(4):
            writer.add_paper(Paper(str(number), f"paper number {number}"), ("train", "train", "dev", "test")[number])
            writer.add_paper_topic("area", str(number), "soil")
    one = material_of(open_paperset(tmp_path / "one"), PapersOptions(), 0)
    for name in ("topics:area", "class:area"):
        with pytest.raises(InputError, match="1 topics of area"):
            lesson(one, name)
