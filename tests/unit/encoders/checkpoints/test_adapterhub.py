"""Adapters in AdapterHub's form: what is read, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from sectioncls.encoders.checkpoints import adapters_in, convert_weights, read_adapter, read_weights
from sectioncls.errors import ModelError

SPECTER2 = Path(__file__).parents[3] / "data" / "specter2-tiny"


@pytest.fixture
def adapter(tmp_path) -> Path:
    folder = tmp_path / "proximity"
    shutil.copytree(SPECTER2 / "adapters" / "proximity", folder)
    return folder


def edit(folder: Path, **changes) -> None:
    path = folder / "adapter_config.json"
    facts = json.loads(path.read_text())
    facts["config"].update({key: value for key, value in changes.items() if key in facts["config"]})
    facts.update({key: value for key, value in changes.items() if key not in facts["config"]})
    path.write_text(json.dumps(facts))


def test_an_adapter_is_read():
    read = read_adapter(SPECTER2 / "adapters" / "proximity")
    assert (read.name, read.base, read.activation, read.normed) == ("specter2_proximity", "../..", "relu", True)
    assert len(read.after_ffn) == 2 and not read.after_attention
    assert read.after_ffn[0].down_weight.shape == (2, 32)
    assert read.after_ffn[1].up_weight.shape == (32, 2)


def test_adapters_of_a_folder():
    assert [folder.name for folder in adapters_in(SPECTER2)] == ["adhoc_query", "proximity"]


def test_an_adapter_published_pickled_says_how_to_convert(adapter):
    torch.save(read_weights(adapter / "adapter.safetensors"), adapter / "pytorch_adapter.bin")
    (adapter / "adapter.safetensors").rename(adapter / "kept")
    with pytest.raises(ModelError, match="only pickled weights") as caught:
        read_adapter(adapter)
    assert "convert_weights" in str(caught.value)
    assert convert_weights(adapter) == [adapter / "adapter.safetensors"]
    torch.testing.assert_close(
        read_adapter(adapter).after_ffn[0].up_bias,
        read_adapter(SPECTER2 / "adapters" / "proximity").after_ffn[0].up_bias,
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phm_layer": True}, "phm_layer = True"),
        ({"is_parallel": True}, "is_parallel"),
        ({"ln_before": True}, "ln_before"),
        ({"scaling": "learned"}, "scaling"),
        ({"leave_out": [1]}, "leave_out"),
        ({"mh_adapter": True}, "not those of the described adapter"),
        ({"model_type": "roberta"}, "not to a BERT"),
    ],
)
def test_other_kinds_are_refused(adapter, changes, message):
    edit(adapter, **changes)
    with pytest.raises(ModelError, match=message):
        read_adapter(adapter)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"config": 3', '{"config": null, "model_type": []}'])
def test_broken_descriptions_are_one_line(adapter, text):
    (adapter / "adapter_config.json").write_text(text)
    with pytest.raises(ModelError):
        read_adapter(adapter)


def test_parts_that_do_not_fit_are_refused(adapter):
    whole = read_weights(adapter / "adapter.safetensors")
    name = next(name for name in whole if name.endswith("adapter_up.weight"))
    save_file({**whole, name: torch.ones(32, 3)}, adapter / "adapter.safetensors")
    with pytest.raises(ModelError, match="don't fit each other"):
        read_adapter(adapter)


def test_missing_and_foreign_parts_are_refused(adapter):
    whole = read_weights(adapter / "adapter.safetensors")
    for name in whole:
        save_file({n: w for n, w in whole.items() if n != name}, adapter / "adapter.safetensors")
        with pytest.raises(ModelError, match="missing"):
            read_adapter(adapter)
    save_file({**whole, "heads.x.weight": torch.ones(1)}, adapter / "adapter.safetensors")
    with pytest.raises(ModelError, match=r"heads\.x\.weight"):
        read_adapter(adapter)
