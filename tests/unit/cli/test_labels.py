from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sectioncls.cli import app
from sectioncls.errors import UsageError


def said(*words: str) -> str:
    result = CliRunner().invoke(app, ["labels", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_title_is_explained() -> None:
    text = said("explain", "Results and Discussion", "Sheep")
    assert "result   title:Results and Discussion, scheme pmc-sents" in text
    assert "the word “Results” (result); also the word “Discussion” at 13 (other)" in text
    assert "the word that occurs first decides" in text
    assert "other   none, scheme pmc-sents\n  names no label" in text


def test_a_path_is_explained() -> None:
    text = said("explain", "--path", "Introduction", "Aims")
    assert text.startswith("Introduction › Aims\n  objective")
    assert "Aims: the word “Aims” (objective)  ← decides" in text
    assert len(said("explain", "Introduction", "Aims").split("\n\n")) == 2


def test_sec_types_belong_to_the_titles_in_turn() -> None:
    rows = json.loads(said("explain", "A", "B", "--sec-type", "methods", "--sec-type", "results", "--json"))
    assert [row["label_source"] for row in rows] == ["sec-type:methods", "sec-type:results"]
    assert "(methods)\n  method" in said("explain", "--sec-type", "methods")


def test_json_holds_what_was_found() -> None:
    [row] = json.loads(said("explain", "Background & Aims", "--scheme", "pubmed-rct", "--json"))
    assert (row["label"], row["decided"]) == ("objective", 0)
    assert [hit["kind"] for hit in row["levels"][0]["hits"]] == ["heading", "word", "word"]
    assert row["reason"] == "a whole heading counts before its words"


def test_the_list() -> None:
    assert "imrad: introduction, method, result, discussion, other" in said("list")
    assert next(row["name"] for row in json.loads(said("list", "--json"))) == "csabstruct"
    assert "objective inside background" in said("list", "--scheme", "pmc-sents")
    assert "no rules for headings" in said("list", "--scheme", "nicta-piboso")
    row = json.loads(said("list", "--scheme", "pubmed-rct", "--json"))
    assert sum(map(len, row["titles"].values())) == 2260


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nlabels = ["a", "b"]\n[words]\na = ["flock(s)"]\n')
    assert "a   title:Two flocks, scheme mine" in said("explain", "Two flocks", "--scheme", str(file))
    assert "no label   none" in said("explain", "Barn", "--scheme", str(file))


def test_nothing_to_explain() -> None:
    result = CliRunner().invoke(app, ["labels", "explain"])
    assert isinstance(result.exception, UsageError)
    with pytest.raises(UsageError, match="no rules"):
        raise CliRunner().invoke(app, ["labels", "explain", "x", "--scheme", "nicta-piboso"]).exception  # type: ignore[misc]


def test_the_guide_shows_what_the_verb_says(repository: Path, tmp_path: Path) -> None:
    guide = (repository / "docs" / "guides" / "labels.md").read_text(encoding="utf-8")
    [console] = [block for block in guide.split("```") if "$ sectioncls labels explain" in block]
    shown = [part.partition("\n") for part in console.strip().split("$ sectioncls ")[1:]]
    assert len(shown) == 2
    for call, _, text in shown:
        assert said(*shlex.split(call)[1:]).strip() == text.strip()
    file = tmp_path / "clinical.toml"
    file.write_text(guide.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    assert "who   title:Cohorts, scheme clinical" in said("explain", "Cohorts", "--scheme", str(file))
