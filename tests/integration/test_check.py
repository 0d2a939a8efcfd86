"""`check` and `split` as verbs, and the known faults of the published corpora."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from sectioncls.audit import check_corpus, split_corpus, survey_corpus, write_clean
from sectioncls.cli.check import check
from sectioncls.cli.split import split
from sectioncls.corpora import build_csabstruct, build_pmc_sents, build_rct, open_corpus
from sectioncls.errors import InputError, OutputError, UsageError

app = typer.Typer()
app.command("check")(check)
app.command("split")(split)

OWN = [
    ["Sheep graze on four farms.", "We weighed every animal twice.", "Weight rose in summer."],
    ["Goats climb.", "We watched goats from a tower.", "Most goats climbed before noon."],
    ["Wool keeps warm.", "We burnt samples of wool.", "Wet wool burnt slowly."],
]
LABELS = ["background", "method", "result"]


def corpus(folder: Path, *, leak: bool) -> Path:
    """A corpus in which dev is unlike train, and test has an article of train when ``leak`` is set."""
    src = folder / "src"
    src.mkdir()
    for name, number in (("train", 0), ("dev", 1), ("test", 2)):
        articles = [OWN[number], *([OWN[0]] if leak and name == "test" else [])]
        lines = (json.dumps({"sentences": texts, "labels": LABELS}) + "\n" for texts in articles)
        (src / f"{name}.jsonl").write_text("".join(lines))
    more = [
        json.dumps({"sentences": [f"Herd {n} {word}." for word in ("lives", "was counted", "grew")], "labels": LABELS})
        for n in range(5)
    ]
    with (src / "train.jsonl").open("a") as stream:
        stream.write("\n".join(more) + "\n")
    build_csabstruct(src, folder / "c", command="x")
    return folder / "c"


def run(*words: object):
    return CliRunner().invoke(app, list(map(str, words)))


def test_a_sound_corpus_exits_with_0(tmp_path: Path) -> None:
    path = corpus(tmp_path, leak=False)
    result = run("check", path)
    assert result.exit_code == 0, result.output
    assert "0 errors" in result.stdout
    assert "article-copied, sentence-copied" in result.stdout.split("nothing found: ")[1]


def test_a_leak_exits_with_1_and_the_twin_with_0(tmp_path: Path) -> None:
    path = corpus(tmp_path, leak=True)
    result = run("check", path, "--write-clean", tmp_path / "twin")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "csabstruct: 27 sentences of 9 articles (train 18, dev 3, test 6)"
    assert "  error   1 of  2  test articles stand whole in train: 3 sentences  (test-00001 = train-00000)" in lines
    assert "  train        18 →        15  3 article-copied" in lines
    assert "  test          6 →         6  as it was" in lines
    assert result.stderr == "the corpus fails this check: exit 1\n"
    assert run("check", tmp_path / "twin").exit_code == 0
    assert open_corpus(tmp_path / "twin").info.command == f"sectioncls check {path} --write-clean"


def test_json(tmp_path: Path) -> None:
    path = corpus(tmp_path, leak=True)
    result = run("check", path, "--json", "--with-text", "--write-clean", tmp_path / "twin", "--keep", "train")
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["failed"] is True
    found = {finding["check"]: finding for finding in content["findings"]}
    assert found["article-copied"]["examples"] == [
        [{"split": "test", "article_id": "test-00001"}, {"split": "train", "article_id": "train-00000"}]
    ]
    assert found["sentence-copied"]["examples"][0][0] == {
        "split": "test",
        "article_id": "test-00001",
        "index": 0,
        "text": OWN[0][0],
    }
    assert content["clean"]["removed"] == {"train": {}, "dev": {}, "test": {"article-copied": 3}}
    assert content["clean"]["fingerprint"] == open_corpus(tmp_path / "twin").info.fingerprint
    assert json.loads(run("check", tmp_path / "twin", "--json").stdout)["failed"] is False


def test_strict_counts_warnings(tmp_path: Path) -> None:
    path = tmp_path / "c"
    src = tmp_path / "src"
    src.mkdir()
    (src / "train.jsonl").write_text(json.dumps({"sentences": ["Sheep graze.", "12."], "labels": LABELS[:2]}) + "\n")
    build_csabstruct(src, path, command="x")
    assert run("check", path).exit_code == 0
    assert run("check", path, "--strict").exit_code == 1


def test_articles_that_are_not_known_are_not_judged(tmp_path: Path) -> None:
    rows = {"id": [0, 1], "sentence": ["Sheep graze.", "We count."], "subject_label": LABELS[:2], "label_id": [0, 2]}
    (tmp_path / "src").mkdir()
    pq.write_table(pa.table(rows), tmp_path / "src" / "csabstruct_train.parquet")
    build_csabstruct(tmp_path / "src", tmp_path / "c", command="x")
    output = run("check", tmp_path / "c").stdout
    assert output.startswith("csabstruct: 2 sentences (train 2)\n")
    assert "article-copied" not in output.split("nothing found: ")[1].split("\n\n")[0]
    assert "not looked for, as the articles are not known: article-in-two-splits, article-copied" in output


def test_texts_are_quoted_when_asked_for(tmp_path: Path) -> None:
    path = corpus(tmp_path, leak=True)
    assert OWN[0][0] not in run("check", path).stdout
    assert f"train-00000:0: {OWN[0][0]}" in run("check", path, "--with-text").stdout


def test_the_list_of_doubtful_labels(tmp_path: Path, small_corpus: Path) -> None:
    for file, words in (("ids.jsonl", ()), ("texts.jsonl", ("--with-text",))):
        result = run("check", small_corpus, "--label-errors", tmp_path / file, *words)
        assert "doubtful labels: " in result.stdout
    ids, texts = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("ids.jsonl", "texts.jsonl")
    )
    assert len(ids) == len(texts) > 0
    assert [set(row) for row in texts[:1]] == [{*ids[0], "text"}]
    part = open_corpus(small_corpus).to_pandas(texts[0]["split"])
    row = part[(part["article_id"] == texts[0]["article_id"]) & (part["index"] == texts[0]["index"])].iloc[0]
    assert (row["text"], row["label"]) == (texts[0]["text"], texts[0]["label"])


def test_calls_that_are_refused_before_any_work(tmp_path: Path) -> None:
    path = corpus(tmp_path, leak=True)
    taken = tmp_path / "taken.jsonl"
    taken.write_text("mine")
    for words, error in (
        (("check", tmp_path / "src"), InputError),
        (("check", path, "--near", "0.2"), UsageError),
        (("check", path, "--write-clean", path), OutputError),
        (("check", path, "--label-errors", taken), OutputError),
        (("check", path, "--label-errors", tmp_path / "x.csv"), UsageError),
        (("split", path, "-o", path), OutputError),
        (("split", path, "--sizes", "a,b"), UsageError),
    ):
        assert isinstance(run(*words).exception, error), words
    assert taken.read_text() == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c", "src", "taken.jsonl"]


def test_split_as_a_verb(tmp_path: Path) -> None:
    path = corpus(tmp_path, leak=False)
    result = run("split", path, "--sizes", "4,2,1", "--order", "file")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[:3] for row in rows[1:4]] == [["train", "4", "12"], ["dev", "2", "6"], ["test", "1", "3"]]
    assert rows[-1] == ["21", "sentences", "in", str(tmp_path / "c-split")]
    assert "beyond the sizes asked for: 1 article" in result.stderr
    made = open_corpus(tmp_path / "c-split")
    assert made.info.command == f"sectioncls split {path} --sizes 4,2,1 --order file"
    content = json.loads(run("split", path, "-o", tmp_path / "x", "--json").stdout)
    assert sum(content["articles"].values()) == 8


@pytest.mark.shared
def test_csabstruct_has_the_known_leaks(tmp_path: Path, shared: Path) -> None:
    built = build_csabstruct(shared / "sentences" / "csabstruct_official", tmp_path / "c", command="x")
    survey = survey_corpus(built)
    found = {(finding.check, *finding.splits): finding for finding in check_corpus(survey)}
    train, dev = found["article-copied", "test", "train"], found["article-copied", "test", "dev"]
    assert (train.count, train.of, train.sentences) == (26, 226, 158)
    assert (dev.count, dev.of) == (6, 226)
    assert not any(check == "article-copied" and splits[0] == "dev" for check, *splits in found)
    assert (found["sentence-copied", "test", "train"].count, found["sentence-copied", "test", "train"].of) == (
        172,
        1349,
    )
    assert found["labels-disagree", "train", "dev"].count == 85
    twin, _ = write_clean(built, survey, tmp_path / "twin", command="x")
    assert twin.table("test").equals(built.table("test"))
    assert not any(finding.severity == "error" for finding in check_corpus(survey_corpus(twin)))


@pytest.mark.shared
def test_pmc_sents_full_has_the_known_faults(tmp_path: Path, shared: Path) -> None:
    built = build_pmc_sents(shared / "sentences" / "paper_pmc_sents_full", tmp_path / "c", command="x")
    found = {finding.check: finding for finding in check_corpus(survey_corpus(built))}
    shared_articles = found["article-in-two-splits"]
    assert (shared_articles.count, shared_articles.sentences) == (1548, 17_263)
    assert "17,263 of 17,310 sentences" in shared_articles.text
    assert "pt 2,5" in found["other-language"].text
    assert abs(found["other-language"].count - 2522) <= 0.03 * 2522
    cut = split_corpus(built, tmp_path / "cut", sizes=(0.8, 0.1, 0.1), command="x")
    articles = [set(cut.split(name).article_ids) for name in cut.splits]
    assert sum(map(len, articles)) == len(set.union(*articles)) == 1569


@pytest.mark.shared
def test_pubmed_head_is_cut_as_build_rct_cuts_it(tmp_path: Path, shared: Path) -> None:
    src = shared / "sentences" / "pubmed20k_clean_head1000" / "train_head1000_clean.txt.gz"
    whole = build_rct(src, tmp_path / "whole", command="x")
    wanted = build_rct(src, tmp_path / "wanted", command="x", sizes=(700, 100, 200))
    cut = split_corpus(whole, tmp_path / "cut", sizes=(700, 100, 200), order="file", command="x")
    assert cut.info.fingerprint == wanted.info.fingerprint
