from __future__ import annotations

import pytest
import spacy
import torch

from sectioncls.encoders import Context, CrfHead, load_encoder, save_encoder
from sectioncls.errors import InputError
from sectioncls.predict import load_model
from sectioncls.predict.component import SectionLabels

LABELS = ("background", "method", "result")
TEXTS = ["We aim to study. The results show data!", "", "One. Two e.g. three. Four.", "   "]


@pytest.fixture(scope="module")
def folder(tiny_bert, tmp_path_factory):
    torch.manual_seed(0)
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=Context(64, 8))
    head = CrfHead(encoder.dimension, LABELS)
    with torch.no_grad():
        for weight in head.parameters():
            weight.copy_(torch.randn(weight.shape))
    place = tmp_path_factory.mktemp("models") / "m"
    facts = {"temperature": 1.3, "context": {"max_length": 64, "overlap": 8}}
    save_encoder(encoder, place, facts=facts, head=head)
    return place


@pytest.fixture
def nlp(folder):
    made = spacy.blank("en")
    made.add_pipe("sectioncls", config={"model": str(folder)})
    return made


def roles(doc):
    return [(sent.text, sent._.role) for sent in doc.sents] if len(doc) else []


def test_roles_are_those_of_the_model(nlp, folder):
    model = load_model(folder)
    for text in TEXTS:
        expected = [(s.text, s.label, s.prob) for s in model.predict(text)]
        doc = nlp(text)
        found = [
            (sent.text, sent._.role, sent._.role_probs[sent._.role])
            for sent in (doc.sents if len(doc) else ())
            if sent._.role
        ]
        assert [row[:2] for row in found] == [row[:2] for row in expected]
        assert [row[2] for row in found] == pytest.approx([row[2] for row in expected], abs=1e-5)


def test_many_docs_are_as_one_by_one(nlp):
    assert [roles(doc) for doc in nlp.pipe(TEXTS, batch_size=2)] == [roles(nlp(text)) for text in TEXTS]


def test_sentences_of_earlier_components_stay(nlp):
    nlp.add_pipe("sentencizer", first=True)
    assert [text for text, _ in roles(nlp(TEXTS[2]))] == ["One.", "Two e.g. three.", "Four."]


def test_it_is_kept_on_disk_and_in_bytes(nlp, tmp_path):
    nlp.to_disk(tmp_path / "p")
    again = spacy.load(tmp_path / "p")
    assert roles(again(TEXTS[0])) == roles(nlp(TEXTS[0]))
    other = SectionLabels()
    other.from_bytes(nlp.get_pipe("sectioncls").to_bytes())
    assert roles(other(spacy.blank("en")(TEXTS[0]))) == roles(nlp(TEXTS[0]))


def test_what_is_wrong_is_said():
    with pytest.raises(InputError):
        SectionLabels().from_bytes(b"\xff\x00 nothing")
    import srsly

    with pytest.raises(InputError, match="outside"):
        SectionLabels().from_bytes(srsly.msgpack_dumps({"../x": b""}))
