"""Adapters, their fusion and PALs against formulas computed row by row with transformers' own parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu, softmax

from sectioncls.encoders import TASKS, condition, encode


def _add(bottleneck, hidden):
    return (
        torch.relu(hidden @ bottleneck.down.weight.T + bottleneck.down.bias) @ bottleneck.up.weight.T
        + bottleneck.up.bias
    )


def test_pfeiffer_is_seq_bn(conditioned, vectors_by_hand, texts):
    encoder = conditioned("adapters")
    assert encoder.conditioning.adapters["search"][0].down.weight.shape == (2, 32)  # a sixteenth
    for task in TASKS:

        def layer_by_hand(layer, index, hidden, route=task):
            mixed = layer.attention(hidden)[0]
            block = layer.output.dense(layer.intermediate(mixed))
            own = encoder.conditioning.adapters[route][index]
            normed = layer.output.LayerNorm(block + mixed)
            return layer.output.LayerNorm((_add(own, normed) + block) + mixed)

        expected = vectors_by_hand(encoder, texts, layer_by_hand, lambda hidden: hidden.mean(0))
        np.testing.assert_allclose(encode(encoder, texts, task, "query"), expected, atol=2e-6)


def test_houlsby_stands_before_both_residuals(conditioned, plain, vectors_by_hand, texts):
    encoder = conditioned("adapters", placement="houlsby")

    def layer_by_hand(layer, index, hidden):
        outer = encoder.conditioning.adapters["regression"][index]
        inner = encoder.conditioning.inner["regression"][index]
        block = layer.attention.output.dense(layer.attention.self(hidden)[0])
        mixed = layer.attention.output.LayerNorm(block + _add(inner, block) + hidden)
        block = layer.output.dense(layer.intermediate(mixed))
        return layer.output.LayerNorm(block + _add(outer, block) + mixed)

    expected = vectors_by_hand(encoder, texts, layer_by_hand, lambda hidden: hidden.mean(0))
    np.testing.assert_allclose(encode(encoder, texts, "regression"), expected, atol=2e-6)
    start = conditioned("adapters", stirred=False, placement="houlsby")
    np.testing.assert_allclose(encode(start, texts, "search"), encode(plain, texts), atol=1e-6)


def test_activations(conditioned, texts):
    vectors = [encode(conditioned("adapters", activation=name), texts, "search") for name in ("relu", "gelu", "swish")]
    assert all(np.abs(a - b).max() > 1e-4 for i, a in enumerate(vectors) for b in vectors[:i])


def test_size_of_minilms_adapters():
    from sectioncls.encoders import load_encoder

    minilm = load_encoder("minilm", device="cpu")
    for placement, size in (("pfeiffer", 113_040), ("houlsby", 226_080)):
        encoder = condition(minilm, "adapters", tasks=["classification"], placement=placement)
        assert sum(w.numel() for w in encoder.parameters() if w.requires_grad) == size


def test_fusion_is_attention_over_the_adapters(conditioned, vectors_by_hand, texts):
    encoder = conditioned("fusion")
    adapters, fusions = encoder.conditioning.adapters.adapters, encoder.conditioning.fusions["proximity"]

    def layer_by_hand(layer, index, hidden):
        mixed = layer.attention(hidden)[0]
        block = layer.output.dense(layer.intermediate(mixed))
        normed = layer.output.LayerNorm(block + mixed)
        own, rows = fusions[index], []
        for token in normed[0]:
            added = [_add(adapters[task][index], token) for task in TASKS]
            scores = torch.stack([own.query(token) @ own.key(value) for value in added])
            weights = softmax(scores, 0)
            rows.append(sum(weight * own.value(value) for weight, value in zip(weights, added, strict=True)))
        return layer.output.LayerNorm(torch.stack(rows)[None] + block + mixed)

    expected = vectors_by_hand(encoder, texts[:4], layer_by_hand, lambda hidden: hidden.mean(0))
    np.testing.assert_allclose(encode(encoder, texts[:4], "proximity"), expected, atol=2e-6)


def test_fusion_takes_the_adapters_over_and_leaves_them(plain, conditioned):
    from sectioncls.errors import UsageError

    adapters = conditioned("adapters", tasks=["classification", "proximity"])
    fusion = condition(adapters, "fusion")
    assert fusion.routes == adapters.routes
    own, former = fusion.conditioning.adapters.state_dict(), adapters.conditioning.state_dict()
    assert own.keys() == former.keys() and all(torch.equal(own[name], former[name]) for name in own)
    learn = {name for name, weight in fusion.named_parameters() if weight.requires_grad}
    assert learn and all(".fusions." in name for name in learn)
    for options in ({"tasks": ["proximity"]}, {"adapters": {}}):
        with pytest.raises(UsageError, match=r"tasks of its adapters|no option"):
            condition(adapters, "fusion", **options)
    with pytest.raises(UsageError, match="only an encoder with adapters"):
        condition(conditioned("adapters", placement="houlsby"), "fusion")


def test_pals_stand_beside_each_layer(conditioned, vectors_by_hand, texts):
    encoder = conditioned("pals", size=12, heads=3)
    pal = encoder.conditioning.pals["classification"]

    def layer_by_hand(layer, index, hidden):
        own, narrow = pal.attention[index], pal.down(hidden[0])
        heads = []
        for head in range(3):
            part = slice(4 * head, 4 * head + 4)
            query, key, value = (matrix(narrow)[:, part] for matrix in (own.query, own.key, own.value))
            heads.append(softmax(query @ key.T / math.sqrt(4), 1) @ value)
        beside = gelu(pal.up(torch.cat(heads, 1)))
        mixed = layer.attention(hidden)[0]
        return layer.output.LayerNorm(layer.output.dense(layer.intermediate(mixed)) + mixed + beside)

    expected = vectors_by_hand(encoder, texts, layer_by_hand, lambda hidden: hidden.mean(0))
    np.testing.assert_allclose(encode(encoder, texts, "classification"), expected, atol=2e-6)


def test_a_pals_width_is_scaled_from_bert_base(conditioned):
    from transformers import BertConfig, BertModel

    from sectioncls.encoders.conditioning.pals import Pals

    assert conditioned("pals").backbone.config.conditioning["options"] == {"heads": 6, "size": 6}

    class Model(list):
        """As much of a SentenceTransformer as is asked."""

    for width, size in ((768, 204), (384, 102)):
        config = BertConfig(vocab_size=9, hidden_size=width, num_hidden_layers=1, num_attention_heads=12)
        model = Model([type("Module", (), {"auto_model": BertModel(config)})])
        assert Pals.resolve(model, TASKS, {}) == {"heads": 6, "size": size}


def test_a_pals_projections_are_shared_by_its_layers(conditioned):
    names = [name for name, _ in conditioned("pals").conditioning.named_parameters()]
    assert sum(name.startswith("pals.search.down.weight") for name in names) == 1
    assert sum(name.startswith("pals.search.attention.") for name in names) == 4 * 6


def test_low_rank_layers_stand_beside_each_layer(conditioned, vectors_by_hand, texts):
    encoder = conditioned("pals", low_rank=True, size=5)
    pal = encoder.conditioning.pals["regression"]

    def layer_by_hand(layer, index, hidden):
        beside = pal[index].up(gelu(pal[index].down(hidden)))
        mixed = layer.attention(hidden)[0]
        return layer.output.LayerNorm(layer.output.dense(layer.intermediate(mixed)) + mixed + beside)

    expected = vectors_by_hand(encoder, texts, layer_by_hand, lambda hidden: hidden.mean(0))
    np.testing.assert_allclose(encode(encoder, texts, "regression"), expected, atol=2e-6)


def test_a_low_rank_layers_width_is_scaled_and_costs_what_attention_costs(conditioned):
    options = conditioned("pals", low_rank=True).backbone.config.conditioning["options"]
    assert options == {"low_rank": True, "size": 4}  # 32 of 768: 100 becomes 4
    base, layers = 768, 12
    attention = 2 * base * 204 + layers * 3 * 204 * 204
    assert layers * 2 * base * 100 == pytest.approx(attention, rel=0.03)


def test_the_penalty_is_the_distance_of_the_values_from_the_identity(conditioned, texts):
    encoder = conditioned("fusion", penalty=0.3).train()
    fusions = encoder.conditioning.fusions
    values = [mixer.value.weight for mixer in fusions["search"]]
    encoder(encoder.tokenise(texts, "search", "query").batch(np.arange(len(texts)))).sum().backward()
    before = [weight.grad.clone() for weight in values]
    copies = [weight.detach().clone().requires_grad_() for weight in values]
    (0.3 * sum((copy - torch.eye(len(copy))).pow(2).sum() for copy in copies)).backward()
    encoder.conditioning.penalise()
    for weight, was, copy in zip(values, before, copies, strict=True):
        torch.testing.assert_close(weight.grad, was + copy.grad)
    for route in ("classification", "regression", "proximity"):  # a step of one format leaves the others alone
        assert all(mixer.value.weight.grad is None for mixer in fusions[route])


def test_no_penalty(conditioned, texts):
    encoder = conditioned("fusion", penalty=0)
    encoder(encoder.tokenise(texts, "search", "query").batch(np.arange(len(texts)))).sum().backward()
    before = {name: weight.grad.clone() for name, weight in encoder.named_parameters() if weight.grad is not None}
    encoder.conditioning.penalise()
    assert all(torch.equal(weight.grad, before[name]) for name, weight in encoder.named_parameters() if name in before)
