from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from sectioncls.audit.stats import corpus_stats
from sectioncls.cli import app
from sectioncls.cli.stats import content_lines
from sectioncls.corpora import create_corpus, open_corpus
from sectioncls.records import Sentence
from sectioncls.schemes import load_scheme


def test_the_verb(small_corpus: Path) -> None:
    result = CliRunner().invoke(app, ["stats", str(small_corpus)])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].endswith("420 sentences, scheme csabstruct")
    assert lines[4].split() == ["sentences", "287", "66", "67", "420"]
    assert any(line.startswith("tokens (MiniLM)") for line in lines)
    row = json.loads(CliRunner().invoke(app, ["stats", str(small_corpus), "--json"]).stdout)
    assert row["path"] == str(small_corpus)
    assert row["splits"]["test"]["sentences"] == 67


def test_lines_on_the_content(tmp_path: Path) -> None:
    scheme = load_scheme("pmc-sents")
    with create_corpus(tmp_path / "c", name="c", scheme=scheme, command="x", grouped=True) as writer:
        for number in range(20):
            row = Sentence(f"a{number:02}", 0, 0, "Sheep graze.", 0, 12, ("Flock",), "other", label_source="none")
            writer.add("train", [row], licence=f"L{number:02}" if number else None)
        row = Sentence("b", 0, 0, "We counted.", 0, 11, ("Methods",), "method", label_source="title:Methods")
        writer.add("train", [row], language="en")
    lines = content_lines(corpus_stats(open_corpus(tmp_path / "c"), tokens=False))
    assert lines[0] == "relevant (any label but other): 4.8 %"
    assert lines[1] == "labels come from: none 20 (95.2 %), title 1 (4.8 %)"
    assert lines[3].split() == ["flock", "20", "20"]
    assert lines[4].startswith("licences of articles: none stated 2 (9.5 %), L01 1 (4.8 %)")
    assert lines[4].endswith("8 more")
    assert lines[5] == "languages of articles: not known 20 (95.2 %), en 1 (4.8 %)"
