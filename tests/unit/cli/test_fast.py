"""The verbs of fast encoders: what they print, and vectors that are taken from the cache."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sectioncls.cli.distill import distill
from sectioncls.cli.encode import encode
from sectioncls.cli.export import export
from sectioncls.errors import ModelError, UsageError


def test_distilling_prints_what_came_of_it(tiny_bert, tmp_path, capsys):
    distill(str(tiny_bert), output=tmp_path / "s", dims=8, as_json=True, quiet=True)
    told = json.loads(capsys.readouterr().out)
    assert told == {"folder": str(tmp_path / "s"), "name": "tiny-bert-static", "way": "zipf", "teacher": {}, "dev": {}}
    distill(str(tiny_bert), output=tmp_path / "s", dims=8, overwrite=True, quiet=True)
    assert capsys.readouterr().out == f"{tmp_path / 's'}: tiny-bert-static, zipf\n"


def test_exporting_says_what_is_wrong_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="no such model folder"):
        export("./nowhere", output=tmp_path / "e", quiet=True)
    with pytest.raises(UsageError, match="tolerance"):
        export("minilm", output=tmp_path / "e", tolerance=-1, quiet=True)
    assert not (tmp_path / "e").exists()


def test_encoding_again_takes_vectors_from_the_cache(tiny_bert, tmp_path, capsys):
    source = tmp_path / "sentences.txt"
    source.write_text("we propose a method\nresults show\n", encoding="utf-8")
    for name in ("a", "b"):
        encode(source, model=str(tiny_bert), output=tmp_path / f"{name}.npy", cache=tmp_path / "kept", quiet=True)
    (kept,) = (tmp_path / "kept").iterdir()
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes() == kept.read_bytes()
    np.save(kept, np.ones((2, 32), dtype=np.float32))
    encode(source, model=str(tiny_bert), output=tmp_path / "c.npy", cache=tmp_path / "kept", quiet=True)
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.ones((2, 32)))
