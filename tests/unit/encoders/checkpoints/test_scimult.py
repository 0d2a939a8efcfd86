"""A made-up SciMult checkpoint, read into our modules."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from sectioncls.encoders import convert_weights, encode, load_encoder, save_encoder, scimult_encoder
from sectioncls.encoders.checkpoints import EXPERTS, read_weights
from sectioncls.errors import ModelError

TEXTS = ["we propose a model", "", "the results of this study"]


def noisy(state: dict[str, torch.Tensor], seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: weight + 0.1 * torch.randn(weight.shape, generator=generator) for name, weight in state.items()}


def checkpoint(shared: dict, experts: list[dict], kind: str, layer: int = 1) -> dict[str, torch.Tensor]:
    """Names as the trainer writes them: what `experts` hold of the layer is copied, the rest is `shared`."""
    prefix = f"encoder.layer.{layer}."
    named = {
        "mha": {
            "attention.self.query.": "attention.self.moe_query.{}.",
            "attention.self.key.": "attention.self.moe_key.{}.",
            "attention.self.value.": "attention.self.moe_value.{}.",
            "attention.output.dense.": "attention.output.moe_dense.{}.",
        },
        "ffn": {"intermediate.": "moe_layer.interm_layers.{}.", "output.": "moe_layer.output_layers.{}."},
        "none": {},
    }[kind]
    made = {"embeddings.position_ids": torch.arange(64)[None]}
    for name, weight in shared.items():
        part = name.removeprefix(prefix) if name.startswith(prefix) else ""
        old = next((old for old in named if part.startswith(old)), None)
        if old is None:
            made[name] = weight
            continue
        for number, expert in enumerate(experts):
            made[prefix + part.replace(old, named[old].format(number), 1)] = expert[name]
    sides = ("question_model", "ctx_model")
    return {f"{side}.encoder.{name}": weight.clone() for side in sides for name, weight in made.items()}


@pytest.fixture(scope="module")
def base(tiny_bert):
    return load_encoder(tiny_bert, pooling="cls", device="cpu")


@pytest.fixture(scope="module")
def state(tiny_bert):
    return noisy(read_weights(tiny_bert / "model.safetensors"), 1)


def plain(base, weights: dict[str, torch.Tensor]) -> np.ndarray:
    """The vectors of a plain encoder with these weights."""
    import copy

    other = copy.deepcopy(base)
    other.backbone.load_state_dict(weights)
    return encode(other, TEXTS)


def test_vanilla(base, state, tmp_path):
    before = encode(base, TEXTS)
    torch.save({"model_dict": checkpoint(state, [], "none"), "epoch": 3}, tmp_path / "scimult_vanilla.ckpt")
    with pytest.raises(ModelError, match="convert_weights"):
        scimult_encoder(base, tmp_path / "scimult_vanilla.ckpt")
    (path,) = convert_weights(tmp_path / "scimult_vanilla.ckpt")
    ours = scimult_encoder(base, path)
    assert ours.conditioning is None
    np.testing.assert_allclose(encode(ours, TEXTS), plain(base, state), atol=1e-6)
    np.testing.assert_array_equal(encode(base, TEXTS), before)


@pytest.mark.parametrize("kind", ["mha", "ffn"])
def test_experts_are_those_of_their_task(base, state, kind, tmp_path):
    experts = [noisy(state, seed) for seed in (2, 3, 4)]
    save_file(checkpoint(state, experts, kind), tmp_path / "scimult_moe.safetensors")
    ours = scimult_encoder(base, tmp_path / "scimult_moe.safetensors")
    assert ours.conditioning.name == f"{kind}-experts"
    assert set(ours.routes) == set(EXPERTS)
    save_encoder(ours, tmp_path / "ours", facts={})
    again = load_encoder(tmp_path / "ours", device="cpu")
    own = ("attention.self.", "attention.output.dense.") if kind == "mha" else ("intermediate.", "output.")
    for task, expert in zip(("search", "proximity", "classification"), experts, strict=True):
        whole = {
            name: expert[name] if name.startswith(tuple("encoder.layer.1." + part for part in own)) else weight
            for name, weight in state.items()
        }
        for encoder in (ours, again):
            np.testing.assert_allclose(encode(encoder, TEXTS, task=task), plain(base, whole), atol=1e-6)


def test_another_backbone_is_refused(base, state, tmp_path):
    path = tmp_path / "x.safetensors"
    weights = checkpoint(state, [], "none")
    for changes in (
        {"embeddings.word_embeddings.weight": torch.ones(7, 32)},
        {"encoder.layer.9.output.dense.bias": torch.ones(32)},
    ):
        sides = ("question_model", "ctx_model")
        changed = {f"{side}.encoder.{name}": w for side in sides for name, w in changes.items()}
        changed = {name: w.clone() for name, w in changed.items()}
        save_file({**weights, **changed}, path)
        with pytest.raises(ModelError, match="another backbone") as caught:
            scimult_encoder(base, path)
        assert "\n" not in str(caught.value)
    save_file({name: w for name, w in weights.items() if "layer.0.output.dense.bias" not in name}, path)
    with pytest.raises(ModelError, match="another backbone"):
        scimult_encoder(base, path)


def test_experts_in_other_layers_are_refused(base, state, tmp_path):
    experts = [noisy(state, seed) for seed in (2, 3, 4)]
    every = checkpoint(state, experts, "mha", layer=0)
    save_file(every, tmp_path / "x.safetensors")
    with pytest.raises(ModelError, match="not every n-th"):
        scimult_encoder(base, tmp_path / "x.safetensors")
