from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from sectioncls.encoders import delta_of, encode, fingerprint, fold_delta, load_encoder, save_encoder, tune_only
from sectioncls.errors import ModelError

TEXTS = ["we aim to study data", "results show", "the background of patients"]


def changed(encoder):
    """Give every trainable weight another value."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in encoder.parameters():
            if weight.requires_grad:
                weight.add_(0.05 * torch.randn(weight.shape, generator=generator))


@pytest.mark.parametrize("how", ["bitfit", "lora"])
def test_it_starts_as_the_encoder_and_trains_few_weights(tiny_bert, how):
    encoder = load_encoder(tiny_bert, device="cpu").eval()
    before, every = encode(encoder, TEXTS), sum(w.numel() for w in encoder.parameters())
    tune_only(encoder, how, rank=2)
    np.testing.assert_array_equal(encode(encoder, TEXTS), before)
    few = sum(w.numel() for w in encoder.parameters() if w.requires_grad)
    assert 0 < few < every / 4
    names = [name for name, w in encoder.named_parameters() if w.requires_grad]
    assert all(("lora_" in name) if how == "lora" else name.endswith("bias") for name in names)


def test_folding_keeps_the_vectors_and_leaves_a_plain_model(tiny_bert):
    plain = {name for name, _ in load_encoder(tiny_bert, device="cpu").named_parameters()}
    encoder = load_encoder(tiny_bert, device="cpu").eval()
    tune_only(encoder, "lora", rank=3)
    changed(encoder)
    before = encode(encoder, TEXTS)
    fold_delta(encoder)
    np.testing.assert_allclose(encode(encoder, TEXTS), before, atol=1e-6)
    assert {name for name, _ in encoder.named_parameters()} == plain


@pytest.mark.parametrize("how", ["bitfit", "lora"])
def test_a_delta_loads_on_top_of_its_base_only(tiny_bert, tmp_path, how):
    encoder = load_encoder(tiny_bert, device="cpu").eval()
    facts = {"base": str(tiny_bert), "sha256": fingerprint(encoder), "tune": how, "rank": 4, "pooling": None}
    tune_only(encoder, how, rank=4)
    changed(encoder)
    expected = encode(encoder, TEXTS)
    save_encoder(encoder, tmp_path / "d", facts={}, delta=(delta_of(encoder), facts))
    whole = sum(file.stat().st_size for file in tiny_bert.rglob("*.safetensors"))
    assert (tmp_path / "d" / "delta.safetensors").stat().st_size < whole / 2
    np.testing.assert_allclose(encode(load_encoder(tmp_path / "d", device="cpu"), TEXTS), expected, atol=1e-6)

    facts["sha256"] = "0" * 64
    (tmp_path / "d" / "delta.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(ModelError, match="other weights"):
        load_encoder(tmp_path / "d", device="cpu")


def test_broken_deltas_are_named(tiny_bert, tmp_path):
    base = load_encoder(tiny_bert, device="cpu")
    facts = {"base": str(tiny_bert), "sha256": fingerprint(base), "tune": "bitfit", "rank": 4, "pooling": None}
    (tmp_path / "delta.json").write_text(json.dumps(facts), encoding="utf-8")
    (tmp_path / "delta.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match="can't be applied"):
        load_encoder(tmp_path, device="cpu")
    (tmp_path / "delta.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="description"):
        load_encoder(tmp_path, device="cpu")
