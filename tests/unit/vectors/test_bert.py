"""BERT in numpy against the encoder that the same folder gives sentence-transformers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sectioncls.errors import ModelError
from sectioncls.vectors.bert import folder_digest, open_bert

TEXTS = ["we propose a new method for graphs", "x", "", "data data " * 60, "Ünïcode 中文 % (a), 12"]


@pytest.fixture(scope="module", params=["mean", "cls", "mean-normalised"])
def saved(request: pytest.FixtureRequest, tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers folder of each pooling."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    folder = tmp_path_factory.mktemp("st") / request.param
    transformer = Transformer(str(tiny_bert))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode=request.param.partition("-")[0])
    last = [Normalize()] if "normalised" in request.param else []
    model = SentenceTransformer(modules=[transformer, pooling, *last], device="cpu")
    model.max_seq_length = 32
    model.save(str(folder), create_model_card=False)
    return folder


def test_vectors_are_the_encoders(saved: Path) -> None:
    from sentence_transformers import SentenceTransformer

    bert = open_bert(saved)
    assert bert is not None
    expected = SentenceTransformer(str(saved), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(bert.encode(TEXTS), expected, atol=2e-6)
    assert bert.agrees(TEXTS, expected)
    assert not bert.agrees(TEXTS, expected[:, ::-1])
    assert bert.encode([]).shape == (0, 32)


def test_a_folder_without_modules_is_mean_pooled(tiny_bert: Path) -> None:
    from sectioncls.encoders import encode, load_encoder

    bert = open_bert(tiny_bert)
    assert bert is not None
    np.testing.assert_allclose(bert.encode(TEXTS), encode(load_encoder(tiny_bert, device="cpu"), TEXTS), atol=2e-6)


def test_weights_in_half_precision(tiny_bert: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "half"
    shutil.copytree(tiny_bert, folder)
    weights = load_file(folder / "model.safetensors")
    halves = {name: w.astype(np.float16) if w.dtype == np.float32 else w for name, w in weights.items()}
    save_file(halves, folder / "model.safetensors")
    half, whole = open_bert(folder), open_bert(tiny_bert)
    assert half is not None and whole is not None
    np.testing.assert_allclose(half.encode(TEXTS), whole.encode(TEXTS), atol=0.02)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "relu"}),
        ("modules.json", [{"type": "sectioncls.encoders.Other", "path": ""}]),
        ("modules.json", [{"type": "sentence_transformers.models.Transformer", "path": ""}]),
        ("config_sentence_transformers.json", {"prompts": {"query": "query: "}}),
        ("config_sentence_transformers.json", {"prompts": {"a": "a: "}, "default_prompt_name": "a"}),
    ],
)
def test_other_shapes_are_left_to_torch(
    saved: Path, tmp_path: Path, file: str, change: dict[str, object] | list[object]
) -> None:
    folder = tmp_path / "other"
    shutil.copytree(saved, folder)
    kept = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**kept, **change} if isinstance(change, dict) else change))
    assert open_bert(folder) is None


def test_a_broken_folder_is_one_line(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(tiny_bert, folder)
    (folder / "model.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(ModelError, match="can't be read"):
        open_bert(folder)
    with pytest.raises(ModelError, match="can't be read"):
        open_bert(tmp_path / "nowhere")


def test_the_digest_sees_weights_and_settings(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(tiny_bert, folder)
    assert folder_digest(folder) == folder_digest(tiny_bert)
    config = folder / "config.json"
    config.write_text(config.read_text() + " ")
    assert folder_digest(folder) != folder_digest(tiny_bert)
