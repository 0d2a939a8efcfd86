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


def test_on_ray_the_same_rows_as_here(model, tmp_path, demo):
    pytest.importorskip("ray")
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("demo-01", "demo-02", "demo-03"):
        (folder / f"{name}.xml").write_bytes((demo / "jats" / f"{name}.xml").read_bytes())
    (folder / "bad.xml").write_text("<article><p>", encoding="utf-8")
    (folder / "link.xml").symlink_to(folder / "demo-01.xml")
    lines = tmp_path / "more.jsonl"
    lines.write_text("".join(f'{{"id": "{n}", "sentences": ["One.", "Two."]}}\n' for n in range(70)), encoding="utf-8")
    paths = [folder, lines, "--model", model]
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    first = call(*paths, "-o", here, "--json")
    second = call(*paths, "-o", there, "--json", "--engine", "ray", "--jobs", "2", "--html", tmp_path / "pages")
    assert second.returncode == 0, second.stderr
    assert {**json.loads(first.stdout), "output": ""} == {**json.loads(second.stdout), "output": ""}
    rows = [[json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in (here, there)]
    chances = [[row.pop("prob") for row in part] for part in rows]
    assert rows[0] == rows[1]
    assert chances[0] == pytest.approx(chances[1], abs=1e-4)
    refused = [tmp_path / f"{name}.rejected.jsonl" for name in ("here", "there")]
    assert refused[0].read_text(encoding="utf-8") == refused[1].read_text(encoding="utf-8")
    assert len(list((tmp_path / "pages").iterdir())) == 73
    assert not list(tmp_path.glob("*.labelling"))


def test_ray_needs_files(model, tmp_path):
    for arguments, said in (
        ((tmp_path, "--engine", "ray"), "give -o"),
        (("-", "--engine", "ray", "-o", tmp_path / "o.jsonl"), "standard input"),
        ((tmp_path, "--jobs", "2", "-o", tmp_path / "o.jsonl"), "add --engine ray"),
    ):
        done = call(*arguments, "--model", model, given="")
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_a_share_that_is_whole_is_not_labelled_again(model, tmp_path, monkeypatch):
    """A call that goes on takes the pieces that are there, drops none and repeats none."""
    from sectioncls.predict import clustered

    lines = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for file in lines:
        file.write_text(f'{{"id": "{file.stem}", "sentences": ["One.", "Two."]}}\n', encoding="utf-8")
    asked = []

    def here(function, rows, **options):
        for row in rows:
            asked.append(row["files"])
            if "b.jsonl" in row["files"][0] and len(asked) == 2:
                yield next(function(row))
                raise KeyboardInterrupt
            yield from function(row)

    monkeypatch.setattr(clustered, "flat_map_on_ray", here)
    out = tmp_path / "o.jsonl"
    with pytest.raises(KeyboardInterrupt):
        clustered.label_on_ray(model, lines, out, settings={})
    done = clustered.label_on_ray(model, lines, out, settings={}, resume=True)
    assert [files[0][-7:] for files in asked] == ["a.jsonl", "b.jsonl", "b.jsonl"]
    assert (done.articles, done.sentences) == (2, 4)
    ids = [json.loads(line)["article_id"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert ids == ["a", "a", "b", "b"]


def test_the_model_in_the_box_is_exported_by_its_name(tmp_path):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    from typer.testing import CliRunner

    from sectioncls import load_model
    from sectioncls.cli import app

    arguments = ["export", "sections", "--backend", "onnx", "-o", str(tmp_path / "box"), "--quiet"]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0
    text = "Little is known about sheep. We counted them. There were twelve."
    here, there = load_model(device="cpu").predict(text), load_model(tmp_path / "box").predict(text)
    assert [s.label for s in here] == [s.label for s in there]
    assert [s.prob for s in here] == pytest.approx([s.prob for s in there], abs=1e-4)
