"""A static encoder is the normed mean of its tokens' vectors, for us, sentence-transformers and model2vec."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import StaticEncoder, encode, load_encoder, save_encoder, save_static, static_tokens
from sectioncls.errors import ModelError, OutputError, UsageError

TEXTS = ["We propose a method.", "", "Results", "an unknown 漢字 in this study", "漢", "data " * 700]


@pytest.fixture(scope="module")
def tokenizer(tiny_bert):
    return load_encoder(tiny_bert, device="cpu").model.tokenizer.backend_tokenizer


@pytest.fixture(scope="module")
def table(tokenizer):
    return np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 7)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(table, tokenizer, tmp_path_factory):
    place = tmp_path_factory.mktemp("static") / "s"
    save_static(table, tokenizer, place, facts={"name": "tiny-static", "base_model": "tiny", "dev": {"f1-micro": 0.5}})
    return place


def naive(table, tokenizer, text):
    """One text, one token after the other; the unknown word counts nothing."""
    unknown = tokenizer.token_to_id("[UNK]")
    total = np.zeros(table.shape[1])
    for token in tokenizer.encode(text, add_special_tokens=False).ids:
        if token != unknown:
            total += table[token]
    return total / max(np.linalg.norm(total), 1e-12)


def test_a_vector_is_the_normed_mean_of_its_words(folder, table, tokenizer):
    encoder = load_encoder(folder, device="cpu")
    assert isinstance(encoder, StaticEncoder)
    vectors = encode(encoder, TEXTS)
    np.testing.assert_allclose(vectors, [naive(table, tokenizer, text) for text in TEXTS], atol=1e-5)
    assert encoder.dimension == 7 and encoder.normalises and not encoder.routes


def test_others_give_the_same(folder):
    ours = encode(load_encoder(folder, device="cpu"), TEXTS)
    np.testing.assert_allclose(SentenceTransformer(str(folder), device="cpu").encode(TEXTS), ours, atol=1e-6)


def test_model2vec_gives_the_same(folder):
    static = pytest.importorskip("model2vec").StaticModel.from_pretrained(str(folder))
    np.testing.assert_allclose(static.encode(TEXTS), encode(load_encoder(folder, device="cpu"), TEXTS), atol=1e-6)


def test_tokens_lie_end_to_end(tokenizer):
    tokens = static_tokens(tokenizer, TEXTS)
    for row, text in enumerate(TEXTS):
        expected = tokenizer.encode(text, add_special_tokens=False).ids
        assert tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]].tolist() == expected
    assert len(static_tokens(tokenizer, [])) == 0


def test_it_says_what_it_is(folder):
    facts = json.loads((folder / "sectioncls.json").read_text())
    assert "model.safetensors" in facts["files"]
    assert "50.00" in (folder / "README.md").read_text()


def test_it_is_saved_again_like_any_encoder(folder, tmp_path):
    encoder = load_encoder(folder, device="cpu")
    save_encoder(encoder, tmp_path / "again", facts={"base_model": "tiny"})
    np.testing.assert_array_equal(encode(load_encoder(tmp_path / "again", device="cpu"), TEXTS), encode(encoder, TEXTS))


def test_a_taken_folder_stays(folder, table, tokenizer):
    with pytest.raises(OutputError, match="exists already"):
        save_static(table, tokenizer, folder, facts={})
    save_static(table, tokenizer, folder, facts={"name": "tiny-static", "dev": {"f1-micro": 0.5}}, overwrite=True)


def test_what_can_not_be(folder, table, tokenizer, tmp_path):
    with pytest.raises(UsageError, match="vectors for"):
        save_static(table[1:], tokenizer, tmp_path / "s", facts={})
    with pytest.raises(ModelError, match="neither pooling nor context"):
        load_encoder(folder, pooling="cls", device="cpu")
