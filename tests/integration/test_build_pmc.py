"""JATS articles → a corpus: what is kept, where it goes, and that order and workers never show."""

from __future__ import annotations

import json
import random
import tarfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from sectioncls.cli import app
from sectioncls.corpora import build_pmc, open_corpus
from sectioncls.corpora.splits import split_of_article
from sectioncls.errors import InputError, OutputError, UsageError

LABEL = {
    "Introduction": "background",
    "Aims": "objective",
    "Methods": "method",
    "Results": "result",
    "Discussion": "other",
}


def jats(pmc: int, heads: list[str], sentences: int = 2) -> str:
    """Give an article with one paragraph under each heading."""
    sections = "".join(
        f"<sec><title>{head}</title><p>{' '.join(texts(pmc, head, sentences))}</p></sec>" for head in heads
    )
    return (
        f'<article xml:lang="en"><front><article-meta><article-id pub-id-type="pmc">{pmc}</article-id>'
        f"<title-group><article-title>Flock {pmc}</article-title></title-group></article-meta></front>"
        f"<body>{sections}</body></article>"
    )


def texts(pmc: int, head: str, sentences: int) -> list[str]:
    return [f"Sheep {n} of flock {pmc} stand under {head.lower()}." for n in range(sentences)]


def write(folder: Path, articles: dict[int, list[str]]) -> Path:
    folder.mkdir(parents=True)
    for pmc, heads in articles.items():
        (folder / f"a{pmc}.xml").write_text(jats(pmc, heads))
    return folder


@pytest.fixture
def src(tmp_path: Path) -> Path:
    draw = random.Random(5)
    heads = list(LABEL)
    articles = {pmc: heads if pmc % 2 else draw.sample(heads, 3) for pmc in range(100, 140)}
    folder = write(tmp_path / "src", articles)
    (folder / "broken.xml").write_text("<article><body><p>no end")
    (folder / "page.xml").write_text("<html><body><p>Hello.</p></body></html>")
    (folder / "twice.xml").write_text(jats(101, ["Methods"]))
    return folder


def frames(path: Path) -> pd.DataFrame:
    corpus = open_corpus(path)
    return pd.concat([corpus.to_pandas(split).assign(split=split) for split in corpus.splits])


def rejections(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (path / "rejected.jsonl").read_text().splitlines()]


def test_rows_are_the_sentences_of_the_sections(src: Path, tmp_path: Path) -> None:
    _, counts = build_pmc([src], tmp_path / "sheep", command="x", require="none")
    frame = frames(tmp_path / "sheep").sort_values(["article_id", "index"])
    one = frame[frame["article_id"].str.contains("101")]
    expected = [(text, label) for head, label in LABEL.items() for text in texts(101, head, 2)]
    assert list(zip(one["text"], one["label"], strict=True)) == expected
    assert one["index"].tolist() == list(range(10))
    assert [list(path) for path in one["path"]] == [[head] for head in LABEL for _ in range(2)]
    assert set(one["language"]) == {"en"}
    assert open_corpus(tmp_path / "sheep").name == "sheep"
    assert (counts.articles, counts.kept) == (41, 40)
    assert counts.documents == {str(src): 43}
    assert counts.left_out == {str(src): 3}
    assert counts.rejected == {"duplicate": 1, "malformed": 1, "not-jats": 1}
    assert {Path(row["source"]).name: row["reason"] for row in rejections(tmp_path / "sheep")} == {
        "broken.xml": "malformed",
        "page.xml": "not-jats",
        "twice.xml": "duplicate",
    }


def test_paragraphs_hold_the_sentences(src: Path, tmp_path: Path) -> None:
    build_pmc([src], tmp_path / "c", command="x", require="none")
    paragraphs = pd.read_parquet(tmp_path / "c" / "paragraphs.parquet").set_index(["article_id", "node"])
    frame = frames(tmp_path / "c")
    for row in frame.itertuples():
        assert paragraphs.loc[(row.article_id, row.node), "text"][row.start : row.end] == row.text
    assert len(paragraphs) * 2 == len(frame)


def test_required_labels(src: Path, tmp_path: Path) -> None:
    _, counts = build_pmc([src], tmp_path / "four", command="x")
    frame = frames(tmp_path / "four")
    for _, rows in frame.groupby("article_id"):
        assert set(rows["label"]) >= {"background", "objective", "method", "result"}
    assert counts.kept == frame["article_id"].nunique() >= 20
    assert counts.kept + counts.rejected["lacks-labels"] + counts.rejected["duplicate"] == counts.articles
    lacking = [row for row in rejections(tmp_path / "four") if row["reason"] == "lacks-labels"]
    assert all(row["detail"].startswith("no ") and row["article_id"] for row in lacking)
    build_pmc([src], tmp_path / "two", command="x", require="labels=method, result")
    assert all({"method", "result"} <= set(rows["label"]) for _, rows in frames(tmp_path / "two").groupby("article_id"))


def test_wrong_requirements(src: Path, tmp_path: Path) -> None:
    for require in ("five", "labels=", "labels=poem"):
        with pytest.raises(UsageError, match="--require"):
            build_pmc([src], tmp_path / "c", command="x", require=require)
    with pytest.raises(UsageError, match="no splitter"):
        build_pmc([src], tmp_path / "c", command="x", splitter="poem")


def test_split_by_article(src: Path, tmp_path: Path) -> None:
    build_pmc([src], tmp_path / "c", command="x", require="none", seed=3)
    frame = frames(tmp_path / "c")
    assert set(frame.groupby("article_id")["split"].nunique()) == {1}
    assert all(frame["split"] == [split_of_article(article, 3) for article in frame["article_id"]])


def test_split_by_sentence(src: Path, tmp_path: Path) -> None:
    corpus, _ = build_pmc([src], tmp_path / "c", command="x", require="none", split_by="sentence")
    counts = corpus.info.counts
    for label in corpus.labels:
        n = sum(counts[split][label] for split in counts)
        assert counts["dev"][label] + counts["test"][label] == round(n / 5)
        assert 0 <= counts["test"][label] - counts["dev"][label] <= 1
    assert any("as in the paper" in text for text in corpus.info.notes)


@pytest.mark.parametrize("split_by", ["article", "sentence"])
def test_order_and_workers_never_show(src: Path, tmp_path: Path, split_by: str) -> None:
    files = sorted(src.iterdir())
    shuffled = random.Random(1).sample(files, len(files))
    for name, paths, jobs in (("one", [src], 1), ("two", shuffled, 2)):
        build_pmc(paths, tmp_path / name / "c", command="x", require="labels=method", split_by=split_by, jobs=jobs)
    one, two = tmp_path / "one" / "c", tmp_path / "two" / "c"
    names = sorted(file.name for file in one.iterdir())
    assert names == sorted(file.name for file in two.iterdir())
    assert "rejected.jsonl" in names
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    assert not [path for path in (tmp_path / "two").iterdir() if path.name != "c"]


def test_archives_are_counted_apart(src: Path, tmp_path: Path) -> None:
    packed = tmp_path / "in" / "flock.tar.gz"
    packed.parent.mkdir()
    with tarfile.open(packed, "w:gz") as archive:
        for file in sorted(src.glob("a1*.xml")):
            archive.add(file, file.name)
    (tmp_path / "in" / "more").mkdir()
    (tmp_path / "in" / "more" / "x.xml").write_text(jats(999, list(LABEL)))
    _, counts = build_pmc([tmp_path / "in"], tmp_path / "c", command="x")
    assert counts.documents == {str(packed): 40, str(tmp_path / "in" / "more"): 1}


def test_nothing_to_build(src: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        build_pmc([tmp_path / "nowhere"], tmp_path / "c", command="x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no sentence was found"):
        build_pmc([tmp_path / "empty"], tmp_path / "c", command="x")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "mine.txt").touch()
    with pytest.raises(OutputError, match="exists already"):
        build_pmc([src], tmp_path / "c", command="x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "empty", "src"]


def test_the_verb(src: Path, tmp_path: Path) -> None:
    out = tmp_path / "flock"
    call = ["build-pmc", "--xml", str(src), "-o", str(out), "--require", "none", "--jobs", "1"]
    result = CliRunner().invoke(app, [*call, "--json"])
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    info = json.loads((out / "corpus.json").read_text())
    assert {key: content[key] for key in info} == info
    assert content["read"]["documents"] == {str(src): 43}
    assert info["command"] == f"sectioncls build-pmc --xml {src} --require none"
    assert "sentences/s" in result.stderr
    result = CliRunner().invoke(app, [*call, "--overwrite", "--quiet"])
    assert result.exit_code == 0
    assert f"{src}: 43 documents, 3 left out" in result.stdout
    assert result.stderr == ""


def test_near_duplicates_are_listed(src: Path, tmp_path: Path) -> None:
    words = " ".join(f"word{n}" for n in range(400))
    for pmc, text in ((901, words), (902, words.replace("word200", "another")), (903, words[::-1])):
        (src / f"near{pmc}.xml").write_text(jats(pmc, ["Methods"]).replace("</p>", f" {text}.</p>"))
    corpus, _ = build_pmc([src], tmp_path / "c", command="x", require="none", near_duplicates=True, jobs=2)
    rows = [json.loads(line) for line in (tmp_path / "c" / "near_duplicates.jsonl").read_text().splitlines()]
    assert [(row["article_id"], row["near"]) for row in rows] == [("PMC901", "PMC902")]
    assert 0.9 < rows[0]["share"] < 1
    assert any("1 pairs of articles are near duplicates" in text for text in corpus.info.notes)


def test_a_build_that_was_cut_off_on_the_command_line(src: Path, tmp_path: Path) -> None:
    from sectioncls.corpora import build as building

    call = ["build-pmc", "--xml", str(src), "-o", str(tmp_path / "c"), "--require", "none", "--jobs", "1"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(building, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert CliRunner().invoke(app, call).exit_code != 0
    assert (tmp_path / "c.building" / "settings.json").exists()
    refusal = CliRunner().invoke(app, call).exception
    assert isinstance(refusal, OutputError)
    assert "--resume to go on" in str(refusal)
    assert "begun with another seed" in str(CliRunner().invoke(app, [*call, "--seed", "1", "--resume"]).exception)
    assert CliRunner().invoke(app, [*call, "--resume"]).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "src"]


@pytest.mark.shared
def test_real_articles(tmp_path: Path, shared: Path) -> None:
    jats_folder = shared / "jats"
    corpus, counts = build_pmc([jats_folder / "pmc_xml_2.tar.xz"], tmp_path / "c", command="x", require="none")
    assert counts.documents == {str(jats_folder / "pmc_xml_2.tar.xz"): 2}
    assert counts.kept == 2
    assert corpus.info.sentences == sum(Counter(frames(tmp_path / "c")["label"]).values())
