"""``sectioncls predict`` as a user types it, on a model trained in windows with a chain of labels."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sectioncls.corpora import open_corpus
from sectioncls.recipes import FinetuneOptions, finetune


@pytest.fixture(scope="module")
def model(small_corpus, tiny_bert, tmp_path_factory):
    options = FinetuneOptions(
        model=str(tiny_bert),
        epochs=1,
        learning_rate=1e-3,
        context="window",
        objective="crf+0.5*supcon",
        tune="lora",
        delta=True,
    )
    folder = tmp_path_factory.mktemp("model") / "m"
    finetune(open_corpus(small_corpus), options, folder, seed=1)
    return folder


def call(*arguments, given=None):
    command = [sys.executable, "-c", "from sectioncls.cli import main; main()", "predict", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=240)


def test_five_sentences_of_a_text(model, tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("Sheep are known. We counted them. There were 12. We conclude. More is needed.\n", encoding="utf-8")
    done = call(text, "--model", model, "-o", tmp_path / "a.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert "5 sentences of 1 articles" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["index"] for row in rows] == [0, 1, 2, 3, 4]
    assert rows[1]["text"] == "We counted them." and 0 < rows[1]["prob"] <= 1


def test_mixed_documents_broken_ones_and_pages(model, tmp_path, demo):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.xml").write_bytes((demo / "jats" / "demo-02.xml").read_bytes())
    (folder / "bad.xml").write_text("<article><p>", encoding="utf-8")
    (folder / "scan.pdf").write_bytes(b"%PDF-1.4 nothing")
    lines = tmp_path / "more.jsonl"
    lines.write_text('{"id": "j", "sentences": ["One.", ""]}\n{"id": 3}\n', encoding="utf-8")
    done = call(folder, lines, "--model", model, "-o", tmp_path / "o.parquet", "--html", tmp_path / "pages", "--json")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["articles"] == 2 and sum(said["labels"].values()) == said["sentences"]
    assert said["rejected"] == {"malformed": 2, "needs-grobid": 1}
    assert sorted(file.name for file in (tmp_path / "pages").iterdir()) == ["PMC9900002.html", "j.html"]


def test_standard_input_to_standard_output(model):
    done = call("-", "--model", model, "--json", given="We counted sheep. They slept.")
    assert done.returncode == 0
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["We counted sheep.", "They slept."]


def test_what_is_wrong_is_one_line(model, tmp_path):
    (tmp_path / "a.txt").write_text("Sheep.", encoding="utf-8")
    for arguments, status, words in [
        ((tmp_path / "no.txt", "--model", model), 1, "no.txt"),
        ((tmp_path / "a.txt", "--model", tmp_path / "none"), 1, "none"),
        ((tmp_path / "a.txt", "--model", model, "-o", tmp_path / "a.xls"), 2, ".parquet"),
    ]:
        done = call(*arguments)
        assert done.returncode == status
        assert len(done.stderr.splitlines()) == 1 and words in done.stderr
