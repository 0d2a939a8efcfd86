"""A saved encoder loads with plain sentence-transformers, says what it is, and keeps its head."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import LinearHead, encode, load_encoder, load_head, read_facts, save_encoder
from sectioncls.errors import ModelError, OutputError

FACTS = {
    "name": "tiny-tuned",
    "base_model": "tiny",
    "corpus": {"name": "demo", "labels": ["a", "b"], "train": 3, "fingerprint": "f" * 64},
    "training": {"epochs": 1},
    "dev": {"f1-micro": 0.5},
    "notes": ["a note"],
}


def test_round_trip_and_plain_loading(tiny_bert, tmp_path):
    encoder = load_encoder(tiny_bert, device="cpu")
    save_encoder(encoder, tmp_path / "e", facts=FACTS)
    texts = ["We aim to show.", "Results"]
    before = encode(encoder, texts)
    np.testing.assert_array_equal(encode(load_encoder(tmp_path / "e", device="cpu"), texts), before)
    np.testing.assert_allclose(SentenceTransformer(str(tmp_path / "e"), device="cpu").encode(texts), before, atol=2e-6)


def test_facts_and_card(tiny_bert, tmp_path):
    save_encoder(load_encoder(tiny_bert, device="cpu"), tmp_path / "e", facts=FACTS)
    facts = read_facts(tmp_path / "e")
    assert facts["name"] == "tiny-tuned"
    assert "model.safetensors" in facts["files"]
    card = (tmp_path / "e" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: sentence-transformers")
    assert "50.00" in card and "a note" in card
    config = json.loads((tmp_path / "e" / "config.json").read_text())
    assert str(tiny_bert) not in json.dumps(config)


def test_the_folder_is_refused_unless_it_is_ours(tiny_bert, tmp_path):
    encoder = load_encoder(tiny_bert, device="cpu")
    folder = tmp_path / "e"
    save_encoder(encoder, folder, facts=FACTS)
    with pytest.raises(OutputError, match="exists already"):
        save_encoder(encoder, folder, facts=FACTS)
    save_encoder(encoder, folder, facts=FACTS, overwrite=True)
    (folder / "thesis.doc").write_text("precious")
    with pytest.raises(OutputError, match="not ours"):
        save_encoder(encoder, folder, facts=FACTS, overwrite=True)
    assert (folder / "thesis.doc").read_text() == "precious"


def test_head_round_trip(tmp_path):
    torch.manual_seed(0)
    from sectioncls.encoders import save_head

    head = LinearHead(4, ("a", "b", "c"))
    save_head(head, tmp_path)
    kept = load_head(tmp_path)
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    np.testing.assert_array_equal(kept.predict(x), head.predict(x))
    assert kept.labels == ("a", "b", "c")
    logits = torch.from_numpy(x) @ head.linear.weight.T + head.linear.bias
    np.testing.assert_array_equal(head.predict(x), logits.argmax(1).numpy())


def test_no_head_and_a_broken_head(tmp_path):
    assert load_head(tmp_path) is None
    (tmp_path / "head.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="head"):
        load_head(tmp_path)
