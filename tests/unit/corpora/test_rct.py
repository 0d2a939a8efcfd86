"""The PubMed-RCT text form."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sectioncls.corpora import build_rct
from sectioncls.corpora.rct import guess_scheme
from sectioncls.errors import InputError, UsageError

PUBMED = """###101
OBJECTIVE\tTo count sheep\tand lambs .
METHODS\tWe counted @ sheep .

###102
BACKGROUND\tSheep graze .
RESULTS\tThere were 12 .
CONCLUSIONS\tSheep are many .

"""
NICTA = "###7\nbackground\tSheep graze .\nstudy design\tA trial .\n\n###8\npopulation\tTen ewes .\n"


def folder(tmp_path: Path, **files: str) -> Path:
    src = tmp_path / "src"
    src.mkdir(exist_ok=True)
    for name, text in files.items():
        (src / f"{name}.txt").write_text(text, encoding="utf-8")
    return src


def test_rows_ids_and_order(tmp_path: Path) -> None:
    src = folder(tmp_path, train=PUBMED, dev=PUBMED.replace("10", "20"))
    (src / "test_clean.txt.gz").write_bytes(gzip.compress(PUBMED.replace("10", "30").encode()))
    corpus = build_rct(src, tmp_path / "c", command="x")
    assert (corpus.name, corpus.info.scheme) == ("pubmed-rct", "pubmed-rct")
    train = corpus.split("train")
    assert train.texts[0] == "To count sheep\tand lambs ."
    assert train.article_ids == ("101", "101", "102", "102", "102")
    assert train.index.tolist() == [0, 1, 0, 1, 2]
    names = [corpus.labels[label] for label in train.labels]
    assert names == ["objective", "method", "background", "result", "conclusion"]
    assert corpus.split("test").article_ids[0] == "301"


def test_default_folder_is_named_after_the_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = build_rct(folder(tmp_path, train=NICTA), None, command="x")
    assert corpus.path == Path("corpora/nicta-piboso")
    assert corpus.info.counts["train"]["study-design"] == 1
    assert "no dev and no test split" in corpus.info.notes


def test_scheme_is_guessed_from_all_files(tmp_path: Path) -> None:
    only_background = "###1\nBACKGROUND\tSheep graze .\n"
    src = folder(tmp_path, train=only_background, dev=NICTA)
    assert guess_scheme([src / "train.txt"]).name == "pubmed-rct"
    assert guess_scheme([src / "train.txt", src / "dev.txt"]).name == "nicta-piboso"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("###1\nMETHODS We counted .\n", r"train\.txt:2: has no tab"),
        ("METHODS\tWe counted .\n", r"train\.txt:1: is a sentence before the first ###"),
        ("###1\nMETHODS\tWe .\nPOEM\tBaa .\n", r"train\.txt:3: unknown label 'POEM' \(not one of pubmed-rct\)"),
        ("###1\nMETHODS\tWe .\npopulation\tEwes .\n", r"train\.txt:3: unknown label 'population'"),
        ("###1\nMETHODS\t \n", r"train\.txt:2: a sentence is empty"),
        ("###1\n\n", "holds no sentence"),
        ("", "is empty"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_rct(folder(tmp_path, train=text), tmp_path / "c", command="x")
    assert not (tmp_path / "c").exists()


def test_sizes_cut_one_file_in_order(tmp_path: Path) -> None:
    text = "".join(f"###{n}\nMETHODS\tWe counted {n} .\nRESULTS\tSheep {n} .\n\n" for n in range(10))
    src = folder(tmp_path, train=text)
    corpus = build_rct(src, tmp_path / "c", command="x", sizes=(5, 2, 2))
    ids = {name: sorted(set(corpus.split(name).article_ids)) for name in corpus.splits}
    assert ids == {"train": list("01234"), "dev": list("56"), "test": list("78")}
    with pytest.raises(InputError, match="holds 10 abstracts, --sizes asks for 11"):
        build_rct(src, tmp_path / "d", command="x", sizes=(5, 3, 3))
    with pytest.raises(UsageError, match="three numbers"):
        build_rct(src, tmp_path / "d", command="x", sizes=(5, 3))
    with pytest.raises(UsageError, match="single file"):
        build_rct(folder(tmp_path, dev=text), tmp_path / "d", command="x", sizes=(1, 1, 1))


def test_abstracts_without_id_and_ids_that_come_back(tmp_path: Path) -> None:
    text = "###\nMETHODS\tA .\n\n###9\nMETHODS\tB .\n\n###9\nRESULTS\tC .\n"
    train = build_rct(folder(tmp_path, train=text), tmp_path / "c", command="x").split("train")
    assert train.article_ids == ("train-00000", "9", "9")
    assert train.index.tolist() == [0, 0, 1]


@pytest.mark.shared
def test_real_nicta_piboso(tmp_path: Path, shared: Path) -> None:
    src = shared / "sentences" / "nicta_piboso_clean"
    info = build_rct(src, tmp_path / "c", command="x").info
    assert info.articles == {"train": 720, "dev": 80, "test": 200}
    assert {split: sum(counts.values()) for split, counts in info.counts.items()} == {
        "train": 6979,
        "dev": 801,
        "test": 1991,
    }


@pytest.mark.shared
def test_real_pubmed_head(tmp_path: Path, shared: Path) -> None:
    src = shared / "sentences" / "pubmed20k_clean_head1000"
    corpus = build_rct(src, tmp_path / "c", command="x", conflicts="paper")
    assert corpus.info.articles == {"train": 1000}
    assert corpus.info.sentences == 11_738 - 5
    assert corpus.info.dropped == {"conflict": 5}
