"""``sectioncls context``: the table from no text to whole articles, and what it refuses."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sectioncls.cli import app
from sectioncls.corpora import open_corpus
from sectioncls.errors import ModelError
from sectioncls.recipes import FinetuneOptions, finetune
from sectioncls.recipes.context import compare_contexts


def test_every_way_of_reading_is_a_line(small_corpus, tiny_bert):
    arguments = ["context", "--model", str(tiny_bert), "--corpus", str(small_corpus), "--quiet"]
    shown = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == [
        "majority",
        "position-logistic-regression",
        "logistic-regression",
    ]
    rows = json.loads(CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False).stdout)
    ways = {(row["method"], row["context"]) for row in rows if row["encoder"]}
    by_row = {("logistic-regression", seen) for seen in ("none", "neighbours", "own+neighbours")}
    assert ways == by_row | {("hsln", seen) for seen in ("none", "shuffled", "article")}
    labels = open_corpus(small_corpus).split("test").labels
    assert {row["n"] for row in rows if row["metric"] == "f1-micro"} == {len(labels)}
    majority = next(row["value"] for row in rows if row["method"] == "majority" and row["metric"] == "f1-micro")
    train = list(open_corpus(small_corpus).split("train").labels)
    frequent = max(set(train), key=train.count)
    assert majority == pytest.approx(sum(label == frequent for label in labels) / len(labels))


def test_an_encoder_of_windows_is_refused(small_corpus, tiny_bert, tmp_path):
    options = FinetuneOptions(model=str(tiny_bert), epochs=0.2, context="window", objective="ce")
    finetune(open_corpus(small_corpus), options, tmp_path / "m", seed=1)
    with pytest.raises(ModelError, match="in their context already"):
        compare_contexts(open_corpus(small_corpus), str(tmp_path / "m"))
