"""Records in SciRepEval's shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sectioncls.errors import InputError
from sectioncls.papersets import PaperSet, build_papers, split_of_paper
from sectioncls.papersets.scirepeval import shape_of


def paper(number: int, **more: Any) -> dict[str, Any]:
    return {"corpus_id": number, "title": f"Flock {number}", "abstract": f"About {number}."} | more


def build(src: Path) -> PaperSet:
    return build_papers([src], src.parent / "out", command="x", overwrite=True)[0]


def lines(path: Path, *records: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def test_all_shapes(tmp_path: Path) -> None:
    src = tmp_path / "samples"
    lines(src / "fos.jsonl", paper(1, labels=[2, 0], labels_text=["Farming", "Art"]), paper(2, labels=[7]))
    (src / "fos.jsonl").write_text((src / "fos.jsonl").read_text().replace('"labels": [7]', '"labels_text": ["Art"]'))
    lines(src / "labels_fos.jsonl", {"name": "Art", "definition": "Pictures."})
    lines(src / "mesh.jsonl", paper(3, mag_id=9, descriptor="Wool", qualifier="dyeing"))
    lines(
        src / "search.jsonl",
        {"query": "bells", "candidates": [paper(1, year=1999.0, venue="V", n_citations=4, score=2), paper(4, score=0)]},
    )
    lines(
        src / "s2and.jsonl", {"dataset": "d", "query": paper(5), "candidates": [paper(1, score=1), paper(6, score=0)]}
    )
    lines(src / "specter.jsonl", {"query": paper(7, sha="x"), "pos": paper(1), "neg": paper(3)})
    found = build(src)
    assert found.info.form == "scirepeval"
    assert sorted(found.papers().ids) == ["1", "2", "3", "4", "5", "6", "7"]
    fos = found.topics("fos")
    assert (fos.names, fos.definitions, len(fos.pairs)) == (("Art", "Farming"), ("Pictures.", ""), 3)
    assert found.topics("mesh").names == ("Wool",)
    assert found.queries().texts == ("bells",)
    rows = found.papers().row_of()
    for task, queries in (("search", None), ("same_author", rows["5"]), ("specter", rows["7"])):
        qrels = found.qrels(task)
        assert sorted(qrels.scores.tolist())[0] == 0
        assert len(qrels) == 2
        assert qrels.query_rows is None if queries is None else set(qrels.query_rows.tolist()) == {queries}
    assert set(found.qrels("specter").splits) == {split_of_paper("Flock 7", "")}
    assert found.papers().splits[rows["2"]] == split_of_paper("Flock 2", "")


def test_a_paper_with_two_texts_is_counted(tmp_path: Path) -> None:
    src = tmp_path / "samples"
    lines(src / "t.jsonl", {"query": paper(1), "pos": paper(2), "neg": paper(1) | {"title": "Other"}})
    found = build(src)
    assert found.info.dropped == {"papers given again with another text": 1, "judgements of the query itself": 1}


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([{"query": "a", "candidates": [paper(1)]}], "s.jsonl:1: has a score that is no number"),
        ([{"query": "a", "candidates": [3]}], "s.jsonl:1: holds no object where a paper is expected"),
        ([{"query": "a", "candidates": []}, paper(1)], "s.jsonl:2: is no record of search"),
        ([{"query": "a", "candidates": [{"title": "x", "score": 1}]}], "s.jsonl:1: has no id"),
    ],
)
def test_malformed_records(tmp_path: Path, records: list[Any], words: str) -> None:
    lines(tmp_path / "in" / "s.jsonl", *records)
    with pytest.raises(InputError, match=words):
        build(tmp_path / "in")


def test_shapes() -> None:
    assert shape_of({"query": {}, "candidates": []}) == "authors"
    assert shape_of({"query": 3, "candidates": []}) is None
    assert shape_of({"title": "a", "labels": [1]}) is None
