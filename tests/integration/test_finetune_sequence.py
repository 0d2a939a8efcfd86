"""A sequence head on a small BERT: the folder, its labels, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sectioncls.corpora import open_corpus
from sectioncls.encoders import SequenceHead, articles_of, encode, load_encoder, load_head, read_facts, read_history
from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.predict import load_model
from sectioncls.recipes import FinetuneOptions, finetune
from sectioncls.recipes.context import context_scores
from sectioncls.recipes.sequence import SequenceOptions


@pytest.fixture(scope="module")
def corpus(small_corpus):
    return open_corpus(small_corpus)


def options(tiny_bert, **values):
    return FinetuneOptions(**{"model": str(tiny_bert), "objective": "hsln", "epochs": 3, **values})


@pytest.fixture(scope="module")
def done(corpus, tiny_bert, tmp_path_factory):
    return finetune(corpus, options(tiny_bert), tmp_path_factory.mktemp("encoders") / "e", seed=1)


def test_the_folder_labels_as_the_head_did(done, corpus, tiny_bert):
    encoder, head = load_encoder(done.folder), load_head(done.folder)
    assert isinstance(head, SequenceHead) and head.labels == corpus.labels
    dev = corpus.split("dev")
    vectors = encode(encoder, dev.texts)
    np.testing.assert_allclose(vectors, encode(load_encoder(str(tiny_bert)), dev.texts), atol=1e-6)  # as it was
    predicted = head.predict(vectors, list(articles_of(dev.article_ids, dev.index)))
    assert (predicted == dev.labels).mean() == pytest.approx(done.dev["f1-micro-head"])
    assert done.dev["f1-micro-head"] == max(row["f1-micro-head"] for row in done.history if row["kind"] == "dev")
    facts = read_facts(done.folder)
    assert facts["training"]["objective"] == "hsln" and facts["temperature"] > 0
    assert read_history(done.folder) == list(done.history)


def test_predict_gives_one_label_a_sentence(done):
    model = load_model(done.folder)
    sentences = ["Sheep are little known.", "We counted them.", "There were twelve.", "Zwölf. Δ", "x " * 5000]
    found = model.predict(sentences)
    assert [sentence.text for sentence in found] == sentences
    assert all(sentence.label in model.labels for sentence in found)
    together = list(model.predict_each([sentences, [], ["One."], sentences[:2]]))
    assert [len(part) for part in together] == [5, 0, 1, 2]
    assert [s.label for s in together[0]] == [s.label for s in found]
    assert [s.prob for s in together[3]] == pytest.approx([s.prob for s in model.predict(sentences[:2])], abs=1e-5)


def test_same_seed_same_weights(done, corpus, tiny_bert, tmp_path):
    again = finetune(corpus, options(tiny_bert), tmp_path / "e", seed=1)
    assert (again.folder / "head.safetensors").read_bytes() == (done.folder / "head.safetensors").read_bytes()


def test_what_would_do_nothing_is_refused(done, corpus, tiny_bert, tmp_path):
    with pytest.raises(UsageError, match="weigh-rows"):
        finetune(corpus, options(tiny_bert, weigh_rows=True), tmp_path / "e")
    with pytest.raises(UsageError, match="tune"):
        finetune(corpus, options(tiny_bert, tune="lora"), tmp_path / "e")
    with pytest.raises(OutputError):
        finetune(corpus, options(tiny_bert), done.folder)


def test_the_table_of_context(corpus, tiny_bert):
    encoder = load_encoder(str(tiny_bert))
    vectors = {name: encode(encoder, corpus.split(name).texts) for name in corpus.splits}
    rows = context_scores(corpus, vectors, encoder="tiny", options=SequenceOptions(hidden=8, epochs=2))
    found = {(row.method, row.context, row.encoder): row for row in rows if row.metric == "f1-micro"}
    assert list(found) == [
        ("majority", "none", ""),
        ("position-logistic-regression", "none", ""),
        ("logistic-regression", "none", "tiny"),
        ("logistic-regression", "neighbours", "tiny"),
        ("logistic-regression", "own+neighbours", "tiny"),
        ("hsln", "none", "tiny"),
        ("hsln", "shuffled", "tiny"),
        ("hsln", "article", "tiny"),
    ]
    assert all(row.unit == "article" and row.n == len(corpus.split("test")) for row in found.values())
    test = corpus.split("test")
    commonest = np.bincount(corpus.split("train").labels).argmax()
    assert found["majority", "none", ""].value == pytest.approx((test.labels == commonest).mean())


def test_a_corpus_without_articles_is_refused(corpus, tiny_bert, tmp_path):
    loose = replace(corpus, info=replace(corpus.info, has_articles=False))
    with pytest.raises(InputError, match="no articles"):
        finetune(loose, options(tiny_bert), tmp_path / "e")
    with pytest.raises(InputError, match="no articles"):
        context_scores(loose, {}, encoder="tiny")
