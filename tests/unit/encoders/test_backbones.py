"""The table of backbones, and what a row does to a model."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from sectioncls.encoders import MODELS, HubModel, backbones, encode, load_encoder
from sectioncls.errors import ModelError

TEXTS = ["we propose a model", "this study"]


def rows() -> list[tuple[str, HubModel]]:
    return [(name, row) for name, row in MODELS.items() if isinstance(row, HubModel)]


@pytest.fixture
def stands_for(tiny_bert, tmp_path, monkeypatch):
    """Let a short name stand for a small folder instead of its hub id."""

    def put(name: str, **changes):
        import dataclasses

        folder = tmp_path / name
        shutil.copytree(tiny_bert, folder)
        row = dataclasses.replace(MODELS[name], hub_id=str(folder), **changes)
        monkeypatch.setattr(backbones, "MODELS", {**MODELS, name: row})
        return folder

    return put


@pytest.mark.parametrize(("name", "row"), rows())
def test_rows_are_well_formed(name, row):
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", row.hub_id)
    assert row.pooling in ("mean", "cls")
    assert row.max_length >= 512
    assert row.revision is None or re.fullmatch(r"[0-9a-f]{40}", row.revision)
    assert row.loaded_revision is None or not row.pickled
    assert row.prompt is None or row.prompt in row.prompts
    assert set(row.prompts) <= {"query", "document"}


def test_the_guide_has_the_table(repository):
    guide = (repository / "docs" / "guides" / "encoders.md").read_text(encoding="utf-8").splitlines()
    for name, row in rows():
        (line,) = [line for line in guide if line.startswith(f"| `{name}` |")]
        for said in (row.hub_id, row.pooling, str(row.max_length), row.licence, (row.revision or "—")[:12]):
            assert said in line
        assert line.endswith("| pickled |" if row.pickled else "| safetensors |")


def test_hub_ids_are_rows_too():
    for name, row in rows():
        assert backbones.model_of(name) is row
        if not row.adapters:
            assert backbones.model_of(row.hub_id) is row
        for adapter in row.adapters:
            assert backbones.adapter_of(adapter.hub_id) == (row, adapter)
            assert backbones.model_of(adapter.hub_id) is None
    assert backbones.model_of("allenai/specter2_base") is MODELS["specter2-base"]
    assert backbones.model_of("nobody/nothing") is None


def test_e5_pools_normalises_and_prompts(stands_for, tiny_bert):
    stands_for("e5-small")
    ours = load_encoder("e5-small", device="cpu")
    plain = load_encoder(tiny_bert, device="cpu")
    expected = encode(plain, ["query: " + text for text in TEXTS])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(encode(ours, TEXTS), expected, atol=2e-6)
    np.testing.assert_allclose(ours.model.encode(TEXTS), expected, atol=2e-6)
    documents = encode(plain, ["passage: " + text for text in TEXTS])
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    np.testing.assert_allclose(ours.model.encode_document(TEXTS), documents, atol=2e-6)


def test_bge_takes_cls_and_prompts_queries_alone(stands_for, tiny_bert):
    stands_for("bge-small")
    ours = load_encoder("bge-small", device="cpu")
    plain = load_encoder(tiny_bert, pooling="cls", device="cpu")
    assert ours.normalises
    for texts, got in (
        (TEXTS, ours.model.encode_document(TEXTS)),
        ([MODELS["bge-small"].prompts["query"] + text for text in TEXTS], ours.model.encode_query(TEXTS)),
    ):
        expected = encode(plain, texts)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(got, expected, atol=2e-6)


def test_specter_pools_by_cls(stands_for, tiny_bert):
    stands_for("specter")
    ours = load_encoder("specter", device="cpu")
    assert not ours.normalises
    np.testing.assert_allclose(encode(ours, TEXTS), encode(load_encoder(tiny_bert, pooling="cls", device="cpu"), TEXTS))


def test_lengths_keep_to_the_positions_that_the_model_has(stands_for):
    stands_for("scibert")
    assert load_encoder("scibert", device="cpu").max_length == 64


def test_modernbert_takes_the_padded_way(tiny_bert, tmp_path, monkeypatch):
    import dataclasses

    import torch
    from transformers import AutoTokenizer, ModernBertConfig, ModernBertModel

    torch.manual_seed(1)
    folder = tmp_path / "modern"
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    config = ModernBertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=64, pad_token_id=0, bos_token_id=2, cls_token_id=2, eos_token_id=3, sep_token_id=3,
    )  # fmt: skip
    ModernBertModel(config).save_pretrained(folder)
    row = dataclasses.replace(MODELS["modernbert"], hub_id=str(folder))
    monkeypatch.setattr(backbones, "MODELS", {"modernbert": row})
    ours = load_encoder("modernbert", device="cpu")
    np.testing.assert_allclose(encode(ours, TEXTS), ours.model.encode(TEXTS), atol=5e-6)


def test_a_folder_like_a_row(tiny_bert):
    ours = load_encoder(tiny_bert, like="e5-base", device="cpu")
    assert ours.normalises and ours.model.prompts["query"] == "query: "
    with pytest.raises(ModelError, match="the table has no model 'e6'"):
        load_encoder(tiny_bert, like="e6", device="cpu")


def test_another_pooling_keeps_the_prompts(stands_for):
    stands_for("e5-small")
    ours = load_encoder("e5-small", pooling="cls", device="cpu")
    assert not ours.normalises
    assert ours.model.prompts["document"] == "passage: "
    assert ours.model.default_prompt_name == "query"


def test_prompts_are_saved(stands_for, tmp_path):
    from sectioncls.encoders import save_encoder

    stands_for("e5-small")
    ours = load_encoder("e5-small", device="cpu")
    save_encoder(ours, tmp_path / "saved", facts={})
    again = load_encoder(tmp_path / "saved", device="cpu")
    assert again.model.default_prompt_name == "query"
    np.testing.assert_allclose(encode(again, TEXTS), encode(ours, TEXTS), atol=1e-7)


def test_a_folder_behind_a_hub_id_is_checked(stands_for):
    folder = stands_for("scibert")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        load_encoder("scibert")
