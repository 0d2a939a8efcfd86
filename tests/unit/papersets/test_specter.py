"""SPECTER's citation JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sectioncls.errors import InputError
from sectioncls.papersets import PaperSet, build_papers

DATA = {"a": {"b": {"count": 5}, "c": {"count": 1}}, "b": {"c": {"count": 5}, "gone": {"count": 5}}}


def build(folder: Path, data: Any = DATA, **lists: str) -> PaperSet:
    src = folder / "in"
    src.mkdir(exist_ok=True)
    (src / "data.json").write_text(json.dumps(data))
    papers = {name: {"paper_id": name, "title": f"Title {name}", "abstract": None, "year": 1999} for name in "abc"}
    (src / "metadata.json").write_text(json.dumps(papers))
    for name, text in lists.items():
        (src / f"{name}.txt").write_text(text)
    return build_papers([src], folder / "out", command="x", overwrite=True)[0]


def test_counts_and_lists(tmp_path: Path) -> None:
    found = build(tmp_path, train="a\nb\n", test="c\n")
    assert found.info.form == "specter"
    assert found.papers().splits == ("train", "train", "test")
    assert found.citations().tolist() == [[0, 1], [1, 2]]
    assert found.info.dropped == {"citations with a paper that is not in the set": 1}
    assert any(note.startswith("1 pairs with a count below 5") for note in found.info.notes)


def test_counts_of_one_only(tmp_path: Path) -> None:
    found = build(tmp_path, {"a": {"b": 1}, "c": {"b": {"count": 2}}})
    assert found.citations().tolist() == [[0, 1], [2, 1]]
    assert any("no pair has a count of 5" in note for note in found.info.notes)
    assert any("3 papers were put into splits by the hash" in note for note in found.info.notes)


def test_malformed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has a pair without a count"):
        build(tmp_path, {"a": {"b": {}}})
    with pytest.raises(InputError, match=r"test\.txt:1: a is in train and in test"):
        build(tmp_path, train="a\n", test="a\n")
    (tmp_path / "in" / "metadata.json").unlink()
    with pytest.raises(InputError, match=r"holds no metadata\.json"):
        build_papers([tmp_path / "in"], tmp_path / "out", command="x", form="specter")
