"""Pickled weights: converted when asked to, never opened by loading."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sectioncls.encoders.checkpoints import convert_weights, read_weights
from sectioncls.errors import ModelError


def test_pickled_weights_are_converted_and_nothing_else(tmp_path):
    shared = torch.arange(6.0).view(2, 3)
    torch.save({"a": shared, "b": shared, "c": shared.T, "n": 3, "name": "x"}, tmp_path / "pytorch_model.bin")
    assert convert_weights(tmp_path) == [tmp_path / "model.safetensors"]
    read = read_weights(tmp_path / "model.safetensors")
    assert read.keys() == {"a", "b", "c"}
    torch.testing.assert_close(read["c"], shared.T)


def test_the_model_of_a_trainers_checkpoint_is_kept(tmp_path):
    held = {"model_dict": {"w": torch.ones(2)}, "optimizer_dict": {"w": torch.zeros(2)}, "encoder_params": {"n": 1}}
    torch.save(held, tmp_path / "scimult_vanilla.ckpt")
    (target,) = convert_weights(tmp_path / "scimult_vanilla.ckpt")
    assert target.name == "scimult_vanilla.safetensors"
    assert read_weights(target).keys() == {"w"}


def test_a_pickle_that_calls_something_is_refused_and_not_run(tmp_path):
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (mark,))

    torch.save({"w": torch.ones(1), "evil": Evil()}, tmp_path / "pytorch_adapter.bin")
    with pytest.raises(ModelError, match="not a plain file of weights") as caught:
        convert_weights(tmp_path)
    assert "\n" not in str(caught.value)
    assert not mark.exists() and not (tmp_path / "adapter.safetensors").exists()


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("content", [b"", b"\x80\x04junk", b"PK\x03\x04"])
def test_broken_files_are_one_line(tmp_path, content):
    (tmp_path / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(ModelError) as caught:
        convert_weights(tmp_path)
    assert "\n" not in str(caught.value)


def test_files_without_weights(tmp_path):
    with pytest.raises(ModelError, match="holds no pickled weights"):
        convert_weights(tmp_path)
    torch.save([1, 2], tmp_path / "x.pt")
    with pytest.raises(ModelError, match="holds no weights"):
        convert_weights(tmp_path / "x.pt")


def test_reading_never_opens_a_pickle(tmp_path):
    torch.save({"w": torch.ones(1)}, tmp_path / "x.ckpt")
    with pytest.raises(ModelError, match="pickled") as caught:
        read_weights(tmp_path / "x.ckpt")
    assert "convert_weights" in str(caught.value)
