"""Published numbers are complete, and stand beside ours only on the same data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sectioncls.errors import InputError
from sectioncls.report.published import compare_data, load_published

Info = Callable[..., dict[str, Any]]


def test_all_printed_scores_are_there() -> None:
    kinds = Counter(
        "cls" if state == "cls" else "clustering" if method == "kmeans" else "classification"
        for _, _, state, method, _ in load_published().scores
    )
    assert kinds == {"classification": 60, "cls": 6, "clustering": 36}


@pytest.mark.shared
def test_every_value_is_the_one_that_was_read(shared: Path) -> None:
    values = json.loads((shared.parent / "published" / "arxiv_2404_00224.json").read_text())["values"]
    printed = Counter(
        value["value"] for value in values if value["table"].startswith(("classification", "fine-tuned", "clustering"))
    )
    assert Counter(load_published().scores.values()) == printed


def test_some_values_by_hand() -> None:
    scores = load_published().scores
    assert scores["csabstruct", "minilm", "base", "svm", "f1-micro"] == 61.23
    assert scores["csabstruct", "scibert", "tuned", "random-forest", "f1-micro"] == 78.50
    assert scores["pubmed-rct", "minilm", "cls", "cls-head", "f1-micro"] == 82.40
    assert scores["pmc-sents-full", "minilm", "tuned", "kmeans", "silhouette"] == 97.51


def test_sources_are_short_and_hold_no_address() -> None:
    for source in load_published().sources.values():
        assert source.startswith("arXiv 2404.00224, notebook ")
        assert "://" not in source


def test_the_same_test_split_is_compared(info: Info) -> None:
    comparison = compare_data(info())
    assert comparison.value("minilm", "base", "svm", "f1-micro") == pytest.approx(0.6123)
    assert comparison.best("f1-micro") == (78.50, "scibert", "tuned", "random-forest")
    assert comparison.notes == ()


def test_another_size_is_not_compared(info: Info) -> None:
    test = {"background": 493, "objective": 155, "method": 421, "result": 219, "other": 60}
    comparison = compare_data(info(test=test))
    assert comparison.value("minilm", "base", "svm", "f1-micro") is None
    assert comparison.best("f1-micro") is None
    assert "other data: test has 1,348 sentences, the published CSAbstruct 1,349" in comparison.why


def test_the_same_size_with_other_labels_is_not_compared(info: Info) -> None:
    test = {"background": 492, "objective": 156, "method": 421, "result": 219, "other": 61}
    comparison = compare_data(info(test=test))
    assert comparison.corpus is None
    assert "492 sentences labelled background, the published CSAbstruct 493" in comparison.why


def test_labels_that_never_occur_do_not_matter(info: Info) -> None:
    test = {**info()["counts"]["test"], "conclusion": 0}
    assert compare_data(info(test=test)).corpus == "csabstruct"


def test_another_train_split_is_said(info: Info) -> None:
    content = info()
    content["counts"] = {**content["counts"], "train": {"background": 11333}}
    assert compare_data(content).notes == ("Our train split has 11,333 sentences, the published CSAbstruct 11,250.",)


@pytest.mark.parametrize(("n", "corpus"), [(30122, "pubmed-rct"), (30135, None)])
def test_pubmed_is_known_by_its_size(info: Info, n: int, corpus: str | None) -> None:
    assert compare_data(info(scheme="pubmed-rct", test={"method": n})).corpus == corpus


def test_pmc_sents_is_known_by_its_labels(info: Info) -> None:
    test = {"other": 9289, "objective": 603, "method": 4096, "result": 2039, "background": 1283}
    assert compare_data(info(scheme="pmc-sents", test=test)).corpus == "pmc-sents-full"
    test = {"background": 9289, "objective": 603, "method": 4096, "result": 2039, "other": 1283}
    assert compare_data(info(scheme="pmc-sents", test=test)).corpus is None


def test_another_scheme_has_no_published_numbers(info: Info) -> None:
    comparison = compare_data(info(scheme="nicta-piboso"))
    assert comparison.corpus is None
    assert "nicta-piboso" in comparison.why


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(InputError, match="arxiv_2404_00224"):
        load_published("arxiv_0000")
