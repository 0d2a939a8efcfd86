"""SciMult's names, put into a BERT's."""

from __future__ import annotations

import pytest
import torch

from sectioncls.encoders.checkpoints import read_weights, scimult_weights
from sectioncls.errors import ModelError


def dpr(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A DPR trainer's names for one encoder, shared by both sides."""
    state = {**state, "embeddings.position_ids": torch.arange(4)[None]}
    return {f"{side}.encoder.{name}": w for side in ("question_model", "ctx_model") for name, w in state.items()}


def moe(state: dict[str, torch.Tensor], kind: str, layers: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """TASER's names: layers with three copies of their attention or FFN; the copies differ by their number."""
    if kind == "mha-experts":
        new = {f"attention.self.{part}": f"attention.self.moe_{part}.#" for part in ("query", "key", "value")}
        new["attention.output.dense"] = "attention.output.moe_dense.#"
    else:
        new = {"intermediate": "moe_layer.interm_layers.#", "output": "moe_layer.output_layers.#"}
    made = dict(state)
    for layer in layers:
        for plain, copied in new.items():
            before = f"encoder.layer.{layer}.{plain}."
            for name in [name for name in made if name.startswith(before)]:
                weight = made.pop(name)
                for number in range(3):
                    to = name.replace(before, f"encoder.layer.{layer}.{copied.replace('#', str(number))}.")
                    made[to] = weight + number
    return made


@pytest.fixture(scope="module")
def state(tiny_bert) -> dict[str, torch.Tensor]:
    return read_weights(tiny_bert / "model.safetensors")


def test_vanilla_is_a_plain_bert(state):
    read = scimult_weights(dpr(state))
    assert (read.kind, read.experts) == ("none", ())
    assert read.shared.keys() == state.keys()
    assert all(torch.equal(read.shared[name], weight) for name, weight in state.items())


@pytest.mark.parametrize("kind", ["mha-experts", "ffn-experts"])
def test_experts_are_put_apart(state, kind):
    read = scimult_weights(dpr(moe(state, kind, (1,))))
    assert read.kind == kind
    part = "attention.self.query.weight" if kind == "mha-experts" else "output.LayerNorm.weight"
    name = f"encoder.layer.1.{part}"
    assert name not in read.shared and "encoder.layer.0.attention.self.query.weight" in read.shared
    for number, expert in enumerate(read.experts):
        torch.testing.assert_close(expert[name], state[name] + number)
    assert read.experts[0].keys() | read.shared.keys() == state.keys()
    assert "encoder.layer.1.attention.output.LayerNorm.weight" in read.shared


def test_two_encoders_are_refused(state):
    weights = dpr(state)
    weights["ctx_model.encoder.encoder.layer.0.output.dense.bias"] = torch.full((32,), 7.0)
    with pytest.raises(ModelError, match="two different encoders"):
        scimult_weights(weights)


def test_other_files_are_refused(state):
    with pytest.raises(ModelError, match="not a SciMult checkpoint"):
        scimult_weights(state)
    weights = dpr(moe(state, "mha-experts", (1,)))
    for side in ("question_model", "ctx_model"):
        weights.pop(f"{side}.encoder.encoder.layer.1.attention.self.moe_key.2.bias")
    with pytest.raises(ModelError, match="same parts of 3 experts"):
        scimult_weights(weights)
    name = "encoder.encoder.layer.1.attention.self.moe_key.999999999.bias"
    huge = {**dpr(state), f"question_model.{name}": torch.ones(1), f"ctx_model.{name}": torch.ones(1)}
    with pytest.raises(ModelError, match="same parts of 3 experts"):
        scimult_weights(huge)
