"""Experts against plain networks with an expert's weights, and against plain training where there is one task."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from sectioncls.encoders import TASKS, Encoder, condition, encode, load_encoder


def _plain_with_expert(plain, encoder, route):
    """Give a plain encoder, computed by transformers with padding, in which the route's experts stand."""
    model = copy.deepcopy(plain.model)
    for index, experts in encoder.conditioning.experts.items():
        layer, expert = model[0].auto_model.encoder.layer[int(index)], experts[route]
        if "self" in expert:
            layer.attention.self.load_state_dict(expert["self"].state_dict())
            layer.attention.output.dense.load_state_dict(expert["dense"].state_dict())
        else:
            layer.intermediate.load_state_dict(expert["intermediate"].state_dict())
            layer.output.load_state_dict(expert["output"].state_dict())
    return model


@pytest.mark.parametrize("kind", ["mha-experts", "ffn-experts"])
def test_a_route_is_a_plain_network_with_its_experts(plain, conditioned, texts, kind):
    encoder = conditioned(kind)
    for route, task in enumerate(TASKS):
        expected = _plain_with_expert(plain, encoder, route).encode(texts, batch_size=3)
        np.testing.assert_allclose(encode(encoder, texts, task), expected, atol=2e-6)


def test_which_blocks_and_weights_are_multiplied(plain, conditioned):
    layer = plain.backbone.encoder.layer[1]
    attention = sum(w.numel() for w in (*layer.attention.self.parameters(), *layer.attention.output.dense.parameters()))
    block = sum(w.numel() for w in (*layer.intermediate.parameters(), *layer.output.parameters()))
    before = sum(w.numel() for w in plain.backbone.parameters())
    for kind, size in (("mha-experts", attention), ("ffn-experts", block)):
        encoder = conditioned(kind, stirred=False)
        assert list(encoder.conditioning.experts) == ["1", "3"]  # the second and the last block
        assert sum(w.numel() for w in encoder.backbone.parameters()) == before + 2 * (len(TASKS) - 1) * size
    assert list(conditioned("mha-experts", every=3).conditioning.experts) == ["2"]
    # MHA experts share the LayerNorm behind them, FFN experts have their own.
    names = dict(conditioned("mha-experts").conditioning.named_parameters())
    assert not any("LayerNorm" in name for name in names)
    assert any("LayerNorm" in name for name in dict(conditioned("ffn-experts").conditioning.named_parameters()))


@pytest.mark.parametrize("kind", ["mha-experts", "ffn-experts"])
def test_with_one_task_it_trains_like_none(four_layers, texts, kind):
    start = load_encoder(four_layers, device="cpu", pooling="mean")

    def train(encoder: Encoder, task):
        tokens = encoder.tokenise(texts, task)
        optimiser = torch.optim.AdamW(encoder.parameters(), lr=1e-3, weight_decay=0.01)
        torch.manual_seed(5)  # the same dropout
        encoder.train()
        losses = []
        for _ in range(6):
            vectors = encoder(tokens.batch(np.arange(len(texts))))
            loss = (vectors @ vectors.T).softmax(1).diagonal().log().mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(float(loss.detach()))
        return losses, encode(encoder, texts, task)

    losses, vectors = train(condition(start, "none"), None)
    ours, same = train(condition(start, kind, tasks=["search"]), "search")
    assert len(set(losses)) == len(losses)
    np.testing.assert_allclose(ours, losses, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(same, vectors, atol=1e-6)
    assert np.abs(vectors - encode(start, texts)).max() > 1e-3
