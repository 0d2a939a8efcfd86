"""Packed encoding against sentence-transformers' padded one, and the parts around it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import Batch, Encoder, encode, encode_batches, load_encoder
from sectioncls.encoders.pooling import cls, mean
from sectioncls.errors import ModelError, UsageError

TEXTS = [
    "We propose a method.",
    "",
    "The results show that the data of patients in this study (n = 12) improve by 3.5 %, which we did not expect.",
    "a",
    "Background: the model of " + "data " * 100,  # longer than the 64 tokens that the model reads
    "  In this study  ",
]


@pytest.fixture(scope="module")
def encoder(tiny_bert) -> Encoder:
    return load_encoder(tiny_bert, device="cpu")


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_equals_sentence_transformers(tiny_bert, pooling):
    ours = load_encoder(tiny_bert, pooling=pooling, device="cpu")
    theirs = ours.model.encode(TEXTS, batch_size=3)
    np.testing.assert_allclose(encode(ours, TEXTS), theirs, atol=2e-6)


def test_gradients_equal_the_padded_pass(encoder):
    encoder.eval()
    tokens = encoder.tokenise(TEXTS)
    weights = torch.randn(len(TEXTS), encoder.dimension, generator=torch.Generator().manual_seed(1))

    def gradients(vectors):
        encoder.zero_grad()
        (vectors * weights).sum().backward()
        return {name: p.grad.clone() for name, p in encoder.named_parameters() if p.grad is not None}

    packed = gradients(encoder(tokens.batch(np.arange(len(TEXTS)))))
    padded = gradients(encoder.model(encoder.model.preprocess(TEXTS))["sentence_embedding"])
    assert packed.keys() == padded.keys()
    for name, value in packed.items():
        assert (value - padded[name]).abs().max() <= 1e-5 * (1e-3 + padded[name].abs().max()), name


def test_a_backbone_that_is_no_bert_takes_the_padded_way(tmp_path, tiny_bert):
    from transformers import AutoTokenizer, DistilBertConfig, DistilBertModel

    torch.manual_seed(1)
    folder = tmp_path / "distil"
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    config = DistilBertConfig(vocab_size=100, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=64)
    DistilBertModel(config).save_pretrained(folder)
    ours = load_encoder(folder, device="cpu")
    np.testing.assert_allclose(encode(ours, TEXTS), ours.model.encode(TEXTS), atol=2e-6)


def test_order_and_budget_change_nothing(encoder):
    whole = encode(encoder, TEXTS)
    tokens = encoder.tokenise(TEXTS)
    for budget in (1, 20, 10_000):
        seen = np.zeros_like(whole)
        for rows, vectors in encode_batches(encoder, tokens, budget):
            assert len(rows) == 1 or tokens.lengths[rows].max() * len(rows) <= budget
            seen[rows] = vectors
        np.testing.assert_allclose(seen, whole, atol=2e-6)


def test_no_text_gives_no_row(encoder):
    assert encode(encoder, []).shape == (0, encoder.dimension)


def test_encoding_leaves_the_training_mode_alone(encoder):
    encoder.train()
    encode(encoder, TEXTS)
    assert encoder.training
    encoder.eval()


def test_sixteen_bit_are_near(encoder):
    exact, near = encode(encoder, TEXTS), encode(encoder, TEXTS, precision="bf16")
    assert near.dtype == np.float32 and not np.array_equal(near, exact)
    cosines = (exact * near).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(near, axis=1)
    assert cosines.min() > 0.999
    with pytest.raises(UsageError, match="unknown precision 'int8'"):
        encode(encoder, TEXTS, precision="int8")


def test_whoever_takes_batches_is_left_with_gradients(encoder):
    for _ in encode_batches(encoder, encoder.tokenise(TEXTS), 20):
        assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


def test_tasks_are_checked_even_where_they_change_nothing(encoder):
    np.testing.assert_array_equal(encode(encoder, TEXTS, "search", "query"), encode(encoder, TEXTS))
    with pytest.raises(UsageError, match="unknown task 'links'"):
        encode(encoder, TEXTS, "links")


def test_a_search_takes_the_prompt_of_its_side(tiny_bert):
    prompted = load_encoder(tiny_bert, device="cpu")
    prompted.model.prompts = {"query": "we study ", "document": "the data "}
    for side in ("query", "document"):
        expected = prompted.model.encode(TEXTS, prompt_name=side)
        np.testing.assert_allclose(encode(prompted, TEXTS, "search", side), expected, atol=2e-6)
    np.testing.assert_allclose(encode(prompted, TEXTS, "proximity"), prompted.model.encode(TEXTS), atol=2e-6)


def test_spans_pool_parts_of_a_row():
    hidden = torch.arange(12.0).view(6, 2)
    starts, ends = torch.tensor([0, 3, 1]), torch.tensor([2, 6, 2])
    expected = torch.stack([hidden[s:e].mean(0) for s, e in zip(starts, ends, strict=True)])
    torch.testing.assert_close(mean(hidden, starts, ends), expected)
    torch.testing.assert_close(cls(hidden, starts, ends), hidden[starts])


def test_spans_reach_the_encoder(encoder):
    tokens = encoder.tokenise(TEXTS[:1])
    whole = tokens.batch(np.array([0]))
    half = Batch(whole.ids, whole.lengths, torch.tensor([[0, 2], [2, len(whole.ids)]]))
    encoder.eval()
    with torch.inference_mode():
        parts, one = encoder(half), encoder(whole)
    n = len(whole.ids)
    torch.testing.assert_close((2 * parts[0] + (n - 2) * parts[1]) / n, one[0], atol=1e-6, rtol=1e-5)


def test_dropout_acts_in_training(encoder):
    tokens = encoder.tokenise(TEXTS)
    batch = tokens.batch(np.arange(len(TEXTS)))
    encoder.train()
    assert not torch.equal(encoder(batch), encoder(batch))
    encoder.eval()
    assert torch.equal(encoder(batch), encoder(batch))


def test_truncated_dimension(tiny_bert):
    short = load_encoder(tiny_bert, truncate_dim=8, device="cpu")
    np.testing.assert_allclose(encode(short, TEXTS), short.model.encode(TEXTS), atol=2e-6)


def test_other_models_are_refused():
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models

    static = SentenceTransformer(modules=[StaticEmbedding(Tokenizer(models.WordLevel({"a": 0})), embedding_dim=4)])
    with pytest.raises(ModelError, match="pooling"):
        Encoder(static)


def test_packaged_minilm_equals_the_library():
    ours = load_encoder("minilm", device="cpu")
    assert ours.normalises
    assert (ours.dimension, ours.max_length) == (384, 256)
    np.testing.assert_allclose(encode(ours, TEXTS[:4]), ours.model.encode(TEXTS[:4]), atol=1e-6)
