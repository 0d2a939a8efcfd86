"""Indexes of a made-up paper set: what is in them, what makes them stale, and facets against a loop."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
import torch

from sectioncls.encoders import LinearHead, encode, load_encoder, save_encoder
from sectioncls.errors import InputError, ModelError
from sectioncls.papersets import create_paperset, open_paperset
from sectioncls.predict import load_model
from sectioncls.recipes.facets import facet_scores, facet_vectors, load_roles
from sectioncls.recipes.search import build_index, open_index
from sectioncls.records import Paper
from sectioncls.vectors.index import index_folder, load_index

PAPERS = (
    ("a", "Edges of large graphs", "Graphs have edges. We propose a method. The results show that it is fast."),
    ("b", "Graphs that move", "Little is known of moving graphs. We draw them. We conclude that they move."),
    ("c", "Sleep and memory in mice", "Mice sleep. We woke them. They forgot."),
    ("d", "A title alone", ""),
    ("e", "Patients and data", "In this study we aim at patients."),
)


def make_papers(folder, papers=PAPERS, grades=()):
    with create_paperset(folder, name="small", form="edges", command="made up") as writer:
        for place, (name, title, abstract) in enumerate(papers):
            writer.add_paper(Paper(name, title, abstract, 2000 + place if place else None), "test")
        for task in sorted({task for task, *_ in grades}):
            writer.add_task(task)
        for task, query, paper, grade in grades:
            writer.add_judgement(task, query, paper, grade, "test")
    return folder


@pytest.fixture
def papers(tmp_path):
    return make_papers(tmp_path / "papers")


@pytest.fixture(scope="module")
def roles(tiny_bert, tmp_path_factory):
    """A section model with random weights."""
    torch.manual_seed(2)
    encoder = load_encoder(tiny_bert, device="cpu")
    head = LinearHead(encoder.dimension, ("background", "objective", "method", "result", "other"))
    torch.nn.init.normal_(head.linear.weight)
    folder = tmp_path_factory.mktemp("roles") / "roles"
    save_encoder(encoder, folder, facts={"name": "roles"}, head=head)
    return folder


def test_vectors_are_the_encoders_and_titles_stand_for_papers_without_abstract(papers, tiny_bert):
    index = open_index(papers, model=str(tiny_bert))
    texts = [f"{title}. {abstract}" if abstract else title for _, title, abstract in PAPERS]
    expected = encode(load_encoder(tiny_bert, device="cpu"), texts)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(index.dense, expected, atol=2e-6)
    assert index.ids == ("a", "b", "c", "d", "e")
    assert index.years.tolist() == [-1, 2001, 2002, 2003, 2004]
    assert index.info["without_abstract"] == 1
    assert index.search("a title alone", 1)[0].id == "d"
    assert index.path == papers.parent / "papers.index" / "tiny-bert"


def test_a_saved_index_answers_alike_without_torch(papers, tiny_bert):
    built = open_index(papers, model=str(tiny_bert))
    saved = load_index(built.path)
    assert saved.info["encoder"]["quick"]["folder"] == str(tiny_bert.resolve())
    for one, other in zip(built.search("graphs", 5), saved.search("graphs", 5), strict=True):
        assert (one.id, one.score, one.words) == (other.id, other.score, other.words)
        assert one.similarity == pytest.approx(other.similarity, abs=1e-5)


def test_the_same_papers_are_not_encoded_again_and_changed_ones_are(papers, tiny_bert, monkeypatch, tmp_path):
    open_index(papers, model=str(tiny_bert))
    builds = []
    watched = lambda *a, **k: builds.append(a) or build_index(*a, **k)  # noqa: E731
    monkeypatch.setattr("sectioncls.recipes.search.build_index", watched)
    open_index(papers, model=str(tiny_bert))
    assert not builds
    changed = make_papers(tmp_path / "other", PAPERS[:3])
    (papers / "papers.parquet").write_bytes((changed / "papers.parquet").read_bytes())
    (papers / "corpus.json").write_bytes((changed / "corpus.json").read_bytes())
    assert len(open_index(papers, model=str(tiny_bert))) == 3
    open_index(papers, model=str(tiny_bert), rebuild=True)
    assert len(builds) == 2


def test_an_encoder_trained_on_is_another(papers, tiny_bert, tmp_path):
    folder = tmp_path / "encoder"
    encoder = load_encoder(tiny_bert, device="cpu")
    save_encoder(encoder, folder, facts={"name": "one"})
    open_index(papers, model=str(folder))
    with torch.no_grad():
        next(encoder.backbone.parameters()).add_(1)
    save_encoder(encoder, folder, facts={"name": "two"}, overwrite=True)
    with pytest.raises(ModelError, match=r"another encoder than the one that made the index.*--rebuild"):
        open_index(papers, model=str(folder)).search("graphs")
    assert open_index(papers, model=str(folder)).related("a")  # the vectors stand by themselves


def test_the_separator_is_the_one_of_the_training(papers, tiny_bert, tmp_path):
    encoder = load_encoder(tiny_bert, device="cpu")
    save_encoder(encoder, tmp_path / "encoder", facts={"name": "one", "separator": " [SEP] "})
    index = open_index(papers, model=str(tmp_path / "encoder"))
    expected = encode(encoder, [f"{PAPERS[0][1]} [SEP] {PAPERS[0][2]}"])[0]
    np.testing.assert_allclose(index.dense[0], expected / np.linalg.norm(expected), atol=2e-6)


def test_facet_vectors_against_a_loop(tiny_bert, roles):
    encoder, model = load_encoder(tiny_bert, device="cpu"), load_model(roles, device="cpu")
    titles = ["Graphs", "Nothing", "Results"]
    sentences = [["Graphs have edges.", "We propose a method."], [], ["They show results."]]
    vectors, shares = facet_vectors(encoder, model, titles, sentences)
    groups = {0: ("background", "objective"), 1: ("method", "objective"), 2: ("result",)}
    named = encode(encoder, titles)
    for paper, texts in enumerate(sentences):
        chances = model.probabilities(texts, ["x"] * len(texts), list(range(len(texts))))
        single = encode(encoder, texts)
        for facet, labels in groups.items():
            total, weight = np.zeros(encoder.dimension), 0.0
            for row in range(len(texts)):
                p = sum(chances[row][model.labels.index(label)] for label in labels)
                total, weight = total + p * single[row], weight + p
            expected = total
            if texts:
                expected = total / np.linalg.norm(total) + named[paper] / np.linalg.norm(named[paper])
            np.testing.assert_allclose(vectors[facet, paper], expected, atol=1e-5)
            assert shares[paper, facet] == pytest.approx(weight / max(1, len(texts)), abs=1e-6)


def test_facets_are_added_once_and_searched(papers, tiny_bert, roles):
    plain = open_index(papers, model=str(tiny_bert))
    assert not plain.has_facets()
    index = open_index(papers, model=str(tiny_bert), facets=True, roles=roles)
    assert index.has_facets(roles)
    found = index.search("we propose a method", facet="method")
    assert {hit.id for hit in found} == {"a", "b", "c", "e"}  # d has no sentence
    assert set(found[0].shares) == {"background", "method", "result"}
    assert all(0 <= share <= 1.0001 for share in found[0].shares.values())
    assert load_index(index.path).related("a", facet="result")[0].id in "bce"
    with pytest.raises(InputError, match="no sentence of the facet"):
        index.related("d", facet="method")


def test_facets_hold_for_an_index_that_is_built_again_and_no_other(papers, tiny_bert, roles):
    open_index(papers, model=str(tiny_bert), facets=True, roles=roles)
    assert open_index(papers, model=str(tiny_bert), rebuild=True).has_facets(roles)
    manifest = index_folder(papers, tiny_bert).with_name("tiny-bert.facets") / "index.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "papers": "0" * 64}))
    assert not open_index(papers, model=str(tiny_bert)).has_facets()


def test_a_section_model_without_facets_is_refused(tiny_bert, tmp_path):
    encoder = load_encoder(tiny_bert, device="cpu")
    save_encoder(encoder, tmp_path / "e", facts={"name": "e"}, head=LinearHead(encoder.dimension, ("up", "down")))
    with pytest.raises(ModelError, match="labels of no facet: up, down"):
        load_roles(tmp_path / "e")


def test_scores_by_facet(tmp_path, tiny_bert, roles):
    grades = [("method", "a", "b", 3), ("method", "a", "c", 0), ("method", "a", "e", 1), ("method", "b", "c", 2)]
    grades += [("result", "c", "a", 2), ("result", "c", "d", 0), ("cite", "a", "b", 1)]
    papers = open_paperset(make_papers(tmp_path / "papers", grades=grades))
    index = open_index(papers.path, model=str(tiny_bert), facets=True, roles=roles)
    rows = facet_scores(index, papers, encoder="tiny")
    assert {row.task for row in rows} == {"facet:method", "facet:result"}
    assert {row.method for row in rows} == {"bm25", "tfidf", "whole", "facet", "fused", "related"}
    found = {(row.task, row.method): row for row in rows if row.metric == "map"}
    assert found["facet:method", "related"].n == 2 and found["facet:method", "related"].unit == "query"
    # By hand: for a, b is the only paper of grade 2 or more; for b, c is alone.
    ranks = [hit.id for hit in index.related("a", facet="method", among=np.array([1, 2, 4]))]
    assert found["facet:method", "related"].value == pytest.approx((1 / (1 + ranks.index("b")) + 1) / 2)
    # d has no sentence, so it is not found and ranks last.
    assert found["facet:result", "related"].value == 1


def test_two_builds_at_once_leave_one_whole_index(papers, tiny_bert):
    opened, encoder = open_paperset(papers), load_encoder(tiny_bert, device="cpu")
    builders = [threading.Thread(target=build_index, args=(opened, encoder, str(tiny_bert))) for _ in range(2)]
    for one in builders:
        one.start()
    for one in builders:
        one.join()
    assert load_index(index_folder(papers, tiny_bert)).related("a")
    left = [path.name for path in index_folder(papers, tiny_bert).parent.iterdir()]
    assert left == ["tiny-bert"]


def test_strange_files_in_the_place_of_an_index_are_left_alone(papers, tiny_bert):
    folder = index_folder(papers, tiny_bert)
    folder.mkdir(parents=True)
    (folder / "thesis.doc").write_text("precious")
    with pytest.raises(Exception, match="not a folder that sectioncls made"):
        open_index(papers, model=str(tiny_bert))
    assert (folder / "thesis.doc").read_text() == "precious"


@pytest.mark.parametrize("kind", ["control-codes", "mha-experts"])
def test_conditioned_encoders_read_both_sides_of_a_search(papers, tiny_bert, tmp_path, kind):
    from sectioncls.encoders.conditioning import condition

    encoder = condition(load_encoder(tiny_bert, device="cpu"), kind, seed=1)
    save_encoder(encoder, tmp_path / "encoder", facts={"name": "conditioned"})
    index = open_index(papers, model=str(tmp_path / "encoder"))
    assert index.info["encoder"]["quick"] is None
    texts = [f"{title}. {abstract}" if abstract else title for _, title, abstract in PAPERS]
    expected = encode(encoder, texts, "search", "document")
    np.testing.assert_allclose(index.dense, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=2e-6)
    asked = encode(encoder, ["graphs"], "search", "query")[0]
    found = {hit.id: hit.similarity for hit in index.search("graphs", 5)}
    assert found["a"] == pytest.approx(float(index.dense[0] @ asked / np.linalg.norm(asked)), abs=1e-5)
    with pytest.raises(ModelError, match="knows no encoder"):
        load_index(index.path).search("graphs")
    assert (
        open_index(papers, model=str(tmp_path / "encoder")).search("graphs", 1)[0].id == index.search("graphs", 1)[0].id
    )
