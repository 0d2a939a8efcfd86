from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from sectioncls.encoders import Context, CrfHead, LinearHead, load_encoder, save_encoder
from sectioncls.errors import ModelError
from sectioncls.predict import SectionModel, load_model
from sectioncls.records import Article, Paragraph, Section

LABELS = ("background", "method", "result")
TEXT = "We aim to study. The results show data! Is the model in it?"


@pytest.fixture(params=["alone", "window"])
def model(request, tiny_bert):
    torch.manual_seed(0)
    context = Context(64, 8) if request.param == "window" else None
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=context).eval()
    head = (CrfHead if context else LinearHead)(encoder.dimension, LABELS).eval()
    with torch.no_grad():
        for weight in head.parameters():
            weight.copy_(torch.randn(weight.shape))
    return SectionModel(encoder, head, temperature=1.7)


def article(name="a"):
    body = Section("Methods", None, (Paragraph("Second one. Third one.", "p", ("Methods",), 1),))
    return Article(
        id=name,
        source=f"{name}.xml",
        title="T",
        abstract=(Section(None, None, (Paragraph("First one.", "p", ("Abstract",), 0),)),),
        body=(body,),
    )


def test_sentences_keep_their_place(model):
    found = model.predict(article())
    assert [s.text for s in found] == ["First one.", "Second one.", "Third one."]
    assert [(s.index, s.paragraph, s.path) for s in found] == [
        (0, 0, ("Abstract",)),
        (1, 1, ("Methods",)),
        (2, 1, ("Methods",)),
    ]
    assert all(s.label in LABELS and 1 / 3 <= s.prob <= 1 and s.article_id == "a" for s in found)


def test_titles_reach_a_model_that_reads_them(tiny_bert, tmp_path):
    torch.manual_seed(1)
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=Context(64, 8, titles=True, place=True))
    head = CrfHead(encoder.dimension, LABELS).eval()
    save_encoder(encoder.eval(), tmp_path / "e", facts={"context": dataclasses.asdict(encoder.context)}, head=head)
    loaded = load_model(tmp_path / "e", device="cpu")
    assert loaded.encoder.context == Context(64, 8, titles=True, place=True)
    texts = ["First one.", "Second one.", "Third one."]
    told = loaded.probabilities(texts, ["a"] * 3, range(3), [("Abstract",), ("Methods",), ("Methods",)])
    found = loaded.predict(article())
    assert [s.prob for s in found] == pytest.approx(told.max(1).tolist(), abs=1e-6)
    untold = loaded.probabilities(texts, ["a"] * 3, range(3))
    assert np.abs(told - untold).max() > 1e-4


def test_a_text_is_split_and_a_list_is_not(model):
    assert [s.text for s in model.predict(TEXT)] == [
        "We aim to study.",
        "The results show data!",
        "Is the model in it?",
    ]
    assert [s.text for s in model.predict([TEXT, ""])] == [TEXT, ""]


def test_many_at_once_are_as_one_by_one(model, monkeypatch):
    monkeypatch.setattr("sectioncls.predict.label._BLOCK", 5)
    articles = [article("a"), TEXT, [], ["one"] * 7, "", article("a")]
    together = list(model.predict_each(articles))
    assert [len(sentences) for sentences in together] == [3, 3, 0, 7, 0, 3]
    for given, sentences in zip(articles, together, strict=True):
        for one, other in zip(model.predict(given), sentences, strict=True):
            assert (one.text, one.label, one.index) == (other.text, other.label, other.index)
            assert one.prob == pytest.approx(other.prob, abs=1e-5)


def test_it_abstains_below_the_bar(model):
    probs = [s.prob for s in model.predict(TEXT)]
    bar = sorted(probs)[1]
    assert [s.label == "" for s in model.predict(TEXT, min_prob=bar)] == [p < bar for p in probs]


def test_probabilities_are_those_of_the_head_with_temperature(model):
    texts = ["we aim", "results show"]
    chances = model.probabilities(texts, ["x", "x"], [0, 1])
    np.testing.assert_allclose(chances.sum(1), 1, atol=1e-6)
    plain = SectionModel(model.encoder, model.head).probabilities(texts, ["x", "x"], [0, 1])
    expected = plain ** (1 / 1.7)
    np.testing.assert_allclose(chances, expected / expected.sum(1, keepdims=True), rtol=1e-4)


def test_it_is_kept_and_found(model, tmp_path):
    context = model.encoder.context
    facts = {"temperature": 1.7, "name": "n"}
    if context is not None:
        facts["context"] = {"max_length": context.max_length, "overlap": context.overlap}
    save_encoder(model.encoder, tmp_path / "m", facts=facts, head=model.head)
    kept = load_model(tmp_path / "m", device="cpu")
    assert kept.encoder.context == context and kept.labels == LABELS and kept.temperature == 1.7
    for one, other in zip(model.predict(article()), kept.predict(article()), strict=True):
        assert one.label == other.label and one.prob == pytest.approx(other.prob, abs=1e-5)


def test_a_model_without_classifier_is_refused(tiny_bert):
    with pytest.raises(ModelError, match="no classifier"):
        load_model(tiny_bert)
