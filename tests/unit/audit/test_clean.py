"""The clean twin: what goes, what stays, and that it passes the check."""

from __future__ import annotations

import pytest

from sectioncls.audit import check_corpus, failed, survey_corpus, write_clean
from sectioncls.errors import InputError

COPIED = [("We count sheep on four farms.", "method"), ("The flock grew.", "result")]
LONG = "the flock was counted at dawn and at dusk by two shepherds who did not know the aim of the study"
SPLITS = {
    "train": {
        "a-copy": COPIED,
        "a-around": [*COPIED, ("A third sentence.", "other")],
        "b-mixed": [
            ("Rams were older than ewes.", "result"),  # stands in test
            (f"Indeed {LONG}.", "method"),  # nearly stands in test
            ("Lambs sleep.", "background"),  # label disagrees with b-torn
            ("Wool was weighed.", "method"),  # stands in dev, goes from train
            ("Own sentence of train.", "method"),
        ],
        "b-torn": [("Lambs sleep.", "result"), ("Goats do not.", "result")],
        "c": [("Hay is dear.", "background"), ("Hay is sold.", "method"), ("Hay is gone.", "result")],
        "c-again": [("Hay is dear.", "background"), ("Hay is sold.", "method")],
        "d": [("Own sentence of train.", "method"), ("Dogs bark.", "other")],
        "e-shared": [("Part one.", "method")],
    },
    "dev": {
        "f": [("Wool was weighed.", "method"), ("Only in dev.", "result"), ("Also only in dev.", "other")],
        "e-shared": [("Part two.", "method")],
    },
    "test": {
        "g": COPIED,
        "h": [("Rams were older than ewes.", "result"), (f"{LONG.capitalize()}.", "method"), ("Stock.", "other")],
        "i": [("Stock.", "method")],  # test disagrees with itself and repeats: it stays as published
        "j": [("Only in test.", "result")],
    },
}


def texts(corpus) -> dict[str, list[tuple[str, str]]]:
    return {
        name: list(zip(corpus.split(name).article_ids, corpus.split(name).texts, strict=True)) for name in corpus.splits
    }


def test_the_twin(make_corpus, tmp_path) -> None:
    corpus = make_corpus(SPLITS)
    twin, removed = write_clean(corpus, survey_corpus(corpus), tmp_path / "twin", command="sectioncls check")
    assert removed == {
        "train": {
            "article-in-two-splits": 1,
            "article-copied": 5,
            "sentence-copied": 2,
            "sentence-nearly-copied": 1,
            "labels-disagree": 2,
            "article-repeated": 2,
            "sentence-repeated": 1,
        },
        "dev": {},
        "test": {},
    }
    got = texts(twin)
    assert got["train"] == [
        ("b-mixed", "Own sentence of train."),
        ("b-torn", "Goats do not."),
        ("c", "Hay is dear."),
        ("c", "Hay is sold."),
        ("c", "Hay is gone."),
        ("d", "Dogs bark."),
    ]
    assert (got["dev"], got["test"]) == (texts(corpus)["dev"], texts(corpus)["test"])
    assert twin.table("test").equals(corpus.table("test"))
    assert twin.split("train").index.tolist() == [4, 1, 0, 1, 2, 1]
    assert twin.name == "sheep-clean"
    assert twin.info.notes[0] == f"clean twin of sheep (fingerprint {corpus.info.fingerprint}), near 0.8"
    assert twin.info.notes[3] == "test: nothing removed"
    assert twin.info.dropped == removed["train"]


def test_the_twin_passes(make_corpus, tmp_path) -> None:
    corpus = make_corpus(SPLITS)
    before = check_corpus(survey_corpus(corpus))
    assert failed(before)
    leaks = {"article-in-two-splits", "article-copied", "sentence-copied", "sentence-nearly-copied"}
    assert leaks <= {finding.check for finding in before}
    for keep in ("test", "train"):
        twin, _ = write_clean(corpus, survey_corpus(corpus), tmp_path / keep, command="x", keep=keep)
        after = check_corpus(survey_corpus(twin))
        assert not failed(after)
        assert not leaks & {finding.check for finding in after}
        assert twin.table(keep).equals(corpus.table(keep))
        again, removed = write_clean(twin, survey_corpus(twin), tmp_path / f"{keep}-again", command="x", keep=keep)
        assert not any(removed.values())
        assert again.info.fingerprint == twin.info.fingerprint


def test_train_as_published(make_corpus, tmp_path) -> None:
    corpus = make_corpus(SPLITS)
    twin, removed = write_clean(corpus, survey_corpus(corpus), tmp_path / "twin", command="x", keep="train")
    assert removed["train"] == {}
    assert removed["dev"] == {"article-in-two-splits": 1, "sentence-copied": 1}
    assert (
        removed["test"]
        == {
            "article-copied": 2,
            "sentence-copied": 1,
            "sentence-nearly-copied": 1,
            "labels-disagree": 2,
        }
        or "test" not in twin.splits
    )
    assert twin.name == "sheep-clean-keep-train"


def test_the_same_bytes_again(make_corpus, tmp_path) -> None:
    corpus = make_corpus(SPLITS)
    for name in ("one", "two"):
        write_clean(corpus, survey_corpus(corpus), tmp_path / name, command="x")
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert {"corpus.json", "train.parquet", "paragraphs.parquet"} <= set(one)


def test_nothing_left_is_said_and_nothing_written(make_corpus, tmp_path) -> None:
    corpus = make_corpus({"train": {"a": COPIED}, "test": {"b": COPIED}})
    with pytest.raises(InputError, match="no sentence of train would be left"):
        write_clean(corpus, survey_corpus(corpus), tmp_path / "twin", command="x")
    assert not (tmp_path / "twin").exists()
