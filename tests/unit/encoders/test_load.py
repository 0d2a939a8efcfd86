"""What is loaded, and what is refused."""

from __future__ import annotations

import contextlib
import json
import shutil

import pytest
import torch

from sectioncls.encoders import MODELS, PackagedModel, backbones, load_encoder
from sectioncls.errors import ModelError


def test_a_plain_bert_folder_gets_mean_pooling(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    assert encoder.model[1].pooling_mode == "mean"
    assert not encoder.normalises


def test_pooling_replaces_what_follows_the_transformer():
    encoder = load_encoder("minilm", pooling="cls", device="cpu")
    assert encoder.model[1].pooling_mode == "cls"
    assert len(encoder.model) == 2


def test_scibert_has_the_papers_settings():
    card = MODELS["scibert"]
    assert (card.hub_id, card.pooling, card.max_length) == ("allenai/scibert_scivocab_uncased", "mean", 512)


@pytest.mark.parametrize("name", ["scibert", "nobody/nothing"])
def test_an_unreachable_hub_is_one_line(name, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError) as caught:
        load_encoder(name)
    line = str(caught.value)
    assert "\n" not in line
    assert "model hub" in line and "online once" in line and "--model FOLDER" in line


def test_no_such_folder():
    with pytest.raises(ModelError, match="no such model folder"):
        load_encoder("./nowhere")


def test_changed_weights_are_refused(monkeypatch, tmp_path):
    package = tmp_path / "fake_minilm"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(tmp_path)
    card = PackagedModel("fake_minilm", "0" * 64, "x/y", "mit")
    monkeypatch.setattr(backbones, "MODELS", {"minilm": card})
    with pytest.raises(ModelError, match="SHA-256"):
        load_encoder("minilm")


def test_pickled_weights_are_refused(tiny_bert, tmp_path):
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_bert, folder)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        load_encoder(folder)


def test_foreign_classes_are_refused(tiny_bert, tmp_path):
    folder = tmp_path / "foreign"
    shutil.copytree(tiny_bert, folder)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "os.system"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match=r"os\.system"):
        load_encoder(folder)


def test_code_in_the_folder_is_not_run(tiny_bert, tmp_path):
    folder = tmp_path / "code"
    shutil.copytree(tiny_bert, folder)
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "modeling_evil.Evil"}
    (folder / "config.json").write_text(json.dumps(config))
    mark = tmp_path / "ran"
    (folder / "modeling_evil.py").write_text(f"open({str(mark)!r}, 'w')\n")
    with contextlib.suppress(ModelError):
        load_encoder(folder)
    assert not mark.exists()


def test_an_empty_folder(tmp_path):
    with pytest.raises(ModelError, match="holds no model"):
        load_encoder(tmp_path)


def test_a_broken_weight_file_is_one_line(tiny_bert, tmp_path):
    folder = tmp_path / "broken"
    shutil.copytree(tiny_bert, folder)
    (folder / "model.safetensors").write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00not json")
    with pytest.raises(ModelError) as caught:
        load_encoder(folder)
    assert "\n" not in str(caught.value)
