"""Pictures of a run: the same sentences whatever the order of the file, trust beside them, too few said."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.corpora import create_corpus, open_corpus
from sectioncls.recipes.projection import draw_maps
from sectioncls.recipes.schema import EvaluateOptions
from sectioncls.records import Sentence
from sectioncls.runs import create_run
from sectioncls.schemes import load_scheme

LABELS = ("background", "method", "result")
OPTIONS = EvaluateOptions(projections=("tsne", "pca"), points=20)


def corpus_of(folder, rows):
    """A corpus whose test sentences are ``rows`` in that order; sentence 7 is the third of article a2."""
    with create_corpus(folder, name="c", scheme=load_scheme("csabstruct"), command="x") as writer:
        for split in ("train", "test"):
            for row in rows:
                text = f"Sentence {row}."
                sentence = Sentence(f"a{row // 3}", row % 3, -1, text, 0, len(text), label=LABELS[row % 3])
                writer.add(split, [sentence])
    return open_corpus(folder)


@pytest.fixture(scope="module")
def vectors():
    return np.random.default_rng(3).normal(size=(30, 8)).astype(np.float32)


def test_another_order_of_the_file_gives_the_same_picture(tmp_path, vectors):
    pictures, scores = [], []
    for name, order in (("a", np.arange(30)), ("b", np.random.default_rng(1).permutation(30))):
        run = create_run(tmp_path / f"run-{name}")
        corpus = corpus_of(tmp_path / name, order.tolist())
        test = corpus.split("test")
        rows = [3 * int(article[1:]) + index for article, index in zip(test.article_ids, test.index, strict=True)]
        scores.append(draw_maps(run, corpus, vectors[rows], "e", OPTIONS, seed=4).scores)
        table = run.read_table("projection")
        keys = zip(table["method"], table["article_id"], table["index"], strict=True)
        places = zip(table["label"], table["x"], table["y"], strict=True)
        pictures.append(dict(zip(keys, places, strict=True)))
    assert len(pictures[0]) == 40 and pictures[0] == pictures[1]
    assert [(s.metric, s.value) for s in scores[0]] == [(s.metric, s.value) for s in scores[1]]


def test_every_picture_has_its_trust(tmp_path, vectors):
    run = create_run(tmp_path / "r")
    found = draw_maps(run, corpus_of(tmp_path / "c", range(30)), vectors, "e", OPTIONS, seed=4, context="window")
    kinds = [(s.method, s.metric, s.n, s.seed, s.context) for s in found.scores]
    assert kinds == [
        ("tsne", "trustworthiness", 20, 4, "window"),
        ("tsne", "kl-divergence", 20, 4, "window"),
        ("pca", "trustworthiness", 20, 4, "window"),
    ]
    assert found.settings["e"]["pca"] == {"method": "pca", "engine": "numpy"}
    assert found.settings["e"]["tsne"]["perplexity"] == pytest.approx(19 / 3)


def test_too_few_sentences_are_said(tmp_path, vectors):
    run = create_run(tmp_path / "r")
    found = draw_maps(run, corpus_of(tmp_path / "c", range(3)), vectors[:3], "e", OPTIONS)
    assert found.scores == [] and run.read_table("projection") == {}
    assert run.info["notes"] == ["3 test sentences are too few to draw (5 are needed): no picture of e"]
