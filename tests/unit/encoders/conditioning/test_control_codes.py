"""Control codes against transformers with a longer matrix of words."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from sectioncls.encoders import condition, encode, load_encoder

CODE = {"classification": "[CLF]", "regression": "[RGN]", "proximity": "[PRX]", "search": "[QRY]"}


def _states(encoder, plain, texts, code):
    """Give the states behind [CLS] of ``code text``, each text alone, by a BERT with four words more."""
    bert = copy.deepcopy(plain.backbone)
    vectors = encoder.conditioning.vectors
    words = torch.cat([bert.embeddings.word_embeddings.weight.detach(), torch.stack([v.detach() for v in vectors])])
    bert.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(words)
    tokenizer = encoder.model.tokenizer
    states = []
    with torch.inference_mode():
        for text in texts:
            encoded = tokenizer(f"{code} {text}", truncation=True, max_length=64, return_tensors="pt")
            assert encoded.input_ids[0, 1] == tokenizer.convert_tokens_to_ids(code)
            states.append(bert(**encoded).last_hidden_state[0, 1:])
    return states


def test_the_codes_state_is_the_vector(plain, conditioned, texts):
    encoder = conditioned("control-codes")
    for task, side, code in [
        *((task, "document", CODE[task]) for task in ("classification", "regression", "proximity")),
        ("search", "query", "[QRY]"),
        ("search", "document", "[PRX]"),
    ]:
        expected = np.stack([state[0].numpy() for state in _states(encoder, plain, texts, code)])
        np.testing.assert_allclose(encode(encoder, texts, task, side), expected, atol=2e-6)


def test_codes_differ_by_their_token_only(plain, conditioned, texts):
    encoder = conditioned("control-codes", stirred=False)
    with torch.no_grad():
        for vector in encoder.conditioning.vectors:
            vector.copy_(encoder.conditioning.vectors[3])
    vectors = [encode(encoder, texts, task) for task in encoder.routes]
    for others in vectors[1:]:
        np.testing.assert_array_equal(others, vectors[0])
    for name, weight in encoder.backbone.named_parameters():
        if not name.startswith("conditioning."):
            assert torch.equal(weight, dict(plain.backbone.named_parameters())[name])


def test_the_mean_leaves_cls_out(plain, texts):
    encoder = condition(plain, "control-codes", pooling="mean", seed=4)
    expected = np.stack([state.mean(0).numpy() for state in _states(encoder, plain, texts, "[RGN]")])
    np.testing.assert_allclose(encode(encoder, texts, "regression"), expected, atol=2e-6)
    np.testing.assert_allclose(encoder.model.encode(texts, task="regression"), expected, atol=2e-6)


def test_rows_are_told_their_code(conditioned, texts):
    encoder = conditioned("control-codes")
    tokenizer = encoder.model.tokenizer
    plain = tokenizer([text.strip() for text in texts], truncation=True, max_length=63)["input_ids"]
    tokens = encoder.tokenise(texts, "search", "query")
    assert tokens.routes.tolist() == [3] * len(texts)
    code = tokenizer.convert_tokens_to_ids("[QRY]")
    for row, ids in enumerate(plain):
        assert tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]].tolist() == [ids[0], code, *ids[1:]]
    assert tokens.lengths.max() == 64  # the code takes one of the model's places
    assert encoder.tokenise(texts, "search").routes.tolist() == [2] * len(texts)


@pytest.mark.parametrize("init", ["random", "mean", "cls"])
def test_how_codes_begin(plain, init):
    encoder = condition(plain, "control-codes", init=init, seed=1)
    words = plain.backbone.embeddings.word_embeddings.weight.detach()
    vectors = torch.stack([vector.detach() for vector in encoder.conditioning.vectors])
    if init == "random":
        assert 0.01 < vectors.std() < 0.03 and len(torch.unique(vectors)) > 100
    else:
        wanted = words.mean(0) if init == "mean" else words[plain.model.tokenizer.cls_token_id]
        assert torch.equal(vectors, wanted.expand(4, -1))


def test_codes_that_the_tokenizer_knows_keep_their_rows(four_layers, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    tokenizer, bert = AutoTokenizer.from_pretrained(four_layers), AutoModel.from_pretrained(four_layers)
    tokenizer.add_tokens(list(CODE.values()), special_tokens=True)
    bert.resize_token_embeddings(len(tokenizer))
    tokenizer.save_pretrained(tmp_path)
    bert.save_pretrained(tmp_path)
    start = load_encoder(tmp_path, device="cpu", pooling="cls")
    encoder = condition(start, "control-codes")
    rows = start.backbone.embeddings.word_embeddings.weight[-4:].detach()
    assert torch.equal(torch.stack([v.detach() for v in encoder.conditioning.vectors]), rows)


def test_a_normalisation_behind_the_pooling_stays():
    encoder = condition(load_encoder("minilm", device="cpu"), "control-codes", seed=1)
    assert encoder.normalises and encoder.max_length == 255
    vectors = encode(encoder, ["We propose a method."], "classification")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
