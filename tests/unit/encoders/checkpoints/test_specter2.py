"""SPECTER2-shaped folders against the vectors of the library `adapters` (see tests/data/specter2-tiny)."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import MODELS, backbones, convert_weights, encode, load_encoder, save_encoder
from sectioncls.encoders.checkpoints import read_adapter, read_weights, with_adapters
from sectioncls.errors import ModelError, UsageError

FOLDER = Path(__file__).parents[3] / "data" / "specter2-tiny"
TEXTS = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))["texts"]


@pytest.fixture(scope="module")
def reference() -> dict[str, np.ndarray]:
    names = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))["vectors"]
    return dict(zip(names, np.load(FOLDER / "reference.npy", allow_pickle=False), strict=True))


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "specter2"))


def test_the_librarys_vectors(reference):
    ours = load_encoder(FOLDER, device="cpu")
    assert ours.routes == ("proximity", "search")
    for task, side, name in (
        ("proximity", "document", "specter2_proximity"),
        ("proximity", "query", "specter2_proximity"),
        ("search", "query", "specter2_adhoc_query"),
        ("search", "document", "specter2_proximity"),
    ):
        np.testing.assert_allclose(encode(ours, TEXTS, task=task, side=side), reference[name], atol=1e-5)
    assert np.abs(reference["specter2_proximity"] - reference["base"]).max() > 0.5


def test_an_adapter_alone_names_its_base(reference):
    ours = load_encoder(FOLDER / "adapters" / "proximity", device="cpu")
    np.testing.assert_allclose(encode(ours, TEXTS, task="proximity"), reference["specter2_proximity"], atol=1e-5)
    with pytest.raises(UsageError, match="unknown task 'search'"):
        encode(ours, TEXTS, task="search")


def test_houlsbys_placement(reference):
    ours = load_encoder(FOLDER / "houlsby" / "proximity", device="cpu")
    np.testing.assert_allclose(encode(ours, TEXTS, task="proximity"), reference["houlsby"], atol=1e-5)


def test_without_adapters_it_is_the_base(folder, reference):
    shutil.rmtree(folder / "adapters")
    np.testing.assert_allclose(encode(load_encoder(folder, pooling="cls"), TEXTS), reference["base"], atol=1e-5)


def test_saved_as_ours(tmp_path, reference):
    save_encoder(load_encoder(FOLDER, device="cpu"), tmp_path / "ours", facts={})
    again = load_encoder(tmp_path / "ours", device="cpu")
    theirs = SentenceTransformer(str(tmp_path / "ours"), device="cpu")
    for vectors in (encode(again, TEXTS, task="proximity"), theirs.encode(TEXTS, task="proximity")):
        np.testing.assert_allclose(vectors, reference["specter2_proximity"], atol=1e-5)


def test_only_adapters_learn():
    ours = load_encoder(FOLDER, device="cpu")
    assert all(weight.requires_grad == (".conditioning." in name) for name, weight in ours.named_parameters())


def test_a_download_is_converted_and_read(folder, reference):
    """As the hub has it: pickled base, pickled adapters."""
    for path in (folder / "model.safetensors", *folder.glob("adapters/*/adapter.safetensors")):
        name = "pytorch_model.bin" if path.parent == folder else "pytorch_adapter.bin"
        torch.save(read_weights(path), path.with_name(name))
        path.unlink()
    with pytest.raises(ModelError, match="convert_weights"):
        load_encoder(folder, device="cpu")
    assert len(convert_weights(folder)) == 3
    ours = load_encoder(folder, device="cpu")
    np.testing.assert_allclose(
        encode(ours, TEXTS, task="search", side="query"), reference["specter2_adhoc_query"], atol=1e-5
    )


@pytest.mark.parametrize("name", ["specter2", "allenai/specter2"])
def test_hub_ids(name, reference, monkeypatch):
    """The hub's part is played by folders; what is asked of it is looked at."""
    asked = []

    def download(hub_id, **rest):
        asked.append((hub_id, rest["revision"]))
        return str(FOLDER / "adapters" / ("adhoc_query" if "adhoc" in hub_id else "proximity"))

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    adapters = tuple(a for a in MODELS["specter2"].adapters if a.task in ("proximity", "search"))
    row = dataclasses.replace(MODELS["specter2"], hub_id=str(FOLDER / "."), adapters=adapters)
    monkeypatch.setattr(backbones, "MODELS", {"specter2": row})
    ours = load_encoder(name, device="cpu")
    np.testing.assert_allclose(encode(ours, TEXTS, task="proximity"), reference["specter2_proximity"], atol=1e-5)
    proximity = ("allenai/specter2", "2081559630a80fc5851d8f798a05ba81e9468089")
    assert proximity in asked
    assert len(asked) == (2 if name == "specter2" else 1)
    if name == "specter2":
        vectors = encode(ours, TEXTS, task="search", side="query")
        np.testing.assert_allclose(vectors, reference["specter2_adhoc_query"], atol=1e-5)


def test_an_unreachable_adapter_is_one_line(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="online once") as caught:
        load_encoder("allenai/specter2", local_files_only=True)
    assert "\n" not in str(caught.value)


def test_queries_alone_are_refused():
    with pytest.raises(ModelError, match="can't encode documents"):
        load_encoder(FOLDER / "adapters" / "adhoc_query", device="cpu")


def test_adapters_of_another_backbone_are_refused(tiny_bert, folder):
    base = load_encoder(tiny_bert, pooling="cls", device="cpu")
    read = read_adapter(folder / "adapters" / "proximity")
    with_adapters(base, {"proximity": read})  # the shapes fit, and that is all that can be known
    for wrong in (
        dataclasses.replace(read, after_ffn=read.after_ffn[:1]),
        dataclasses.replace(read, after_ffn=read.after_ffn * 2),
    ):
        with pytest.raises(ModelError, match="another backbone"):
            with_adapters(base, {"proximity": wrong})
    other = dataclasses.replace(read, activation="gelu")
    with pytest.raises(ModelError, match="different shapes"):
        with_adapters(base, {"proximity": read, "search": other})
    with pytest.raises(ModelError, match="'mish' is not known"):
        with_adapters(base, {"proximity": dataclasses.replace(read, activation="mish")})
    with pytest.raises(ModelError, match="neither"):
        with_adapters(base, {"proximity": dataclasses.replace(read, normed=False)})


def test_adapters_without_a_task_and_two_of_one(folder):
    (folder / "adapters" / "adhoc_query").rename(folder / "adapters" / "prx2")
    with pytest.raises(ModelError, match="two adapters serve the task proximity"):
        load_encoder(folder)
    (folder / "adapters" / "prx2").rename(folder / "adapters" / "mine")
    config = folder / "adapters" / "mine" / "adapter_config.json"
    config.write_text(config.read_text().replace("specter2_adhoc_query", "mine"))
    with pytest.raises(ModelError, match="does not say which task"):
        load_encoder(folder)
