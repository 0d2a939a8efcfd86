"""Printed values to the digit; arXiv 2404.00224 has 61.23, 55.37 and ARI 1.11 for MiniLM as released."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sectioncls.records import Score
from sectioncls.report.reproduced import reproduced
from sectioncls.report.summary import summarize
from sectioncls.runs import create_run

Info = Callable[..., dict[str, Any]]
VALUES = {("svm", "f1-micro"): 0.61231, ("random-forest", "f1-micro"): 0.5515, ("kmeans", "ari"): 0.01112}


def run_of(
    path: Path, info: Info, values: dict[tuple[str, str], float], protocol: str = "paper", **corpus: Any
) -> Path:
    encoders = {"minilm": {"backbone": "minilm", "state": "base", "model": "m"}}
    run = create_run(path, {"name": "r", "corpus": info(**corpus), "encoders": encoders, "protocol": protocol})
    run.add_scores(
        Score(metric, value, None, None, 1349, "article", encoder="minilm", method=method)
        for (method, metric), value in values.items()
    )
    run.finish()
    return path


def test_equal_to_two_decimals_is_to_the_digit(info: Info, tmp_path: Path) -> None:
    (text,) = reproduced(summarize([run_of(tmp_path / "r", info, VALUES)]))
    assert "2 of 3 printed values come out to the digit (Support vector machine, ARI)" in text
    assert "Others do not: Random forest −0.22." in text and "order of rows" in text and "likelier" not in text


def test_a_steady_method_that_differs_has_another_cause(info: Info, tmp_path: Path) -> None:
    (text,) = reproduced(summarize([run_of(tmp_path / "r", info, VALUES | {("svm", "f1-micro"): 0.6124})]))
    assert "1 of 3" in text and "Support vector machine +0.01" in text and "likelier" in text


def test_all_equal_needs_no_reason(info: Info, tmp_path: Path) -> None:
    (text,) = reproduced(summarize([run_of(tmp_path / "r", info, {("svm", "f1-micro"): 0.6123})]))
    assert text.endswith("1 of 1 printed values come out to the digit (Support vector machine).")


def test_only_by_the_papers_protocol(info: Info, tmp_path: Path) -> None:
    assert reproduced(summarize([run_of(tmp_path / "r", info, VALUES, protocol="default")])) == []


def test_classifiers_of_another_train_split_are_left_out(info: Info, tmp_path: Path) -> None:
    counts = info()["counts"]
    fewer = {**counts, "train": {"method": 100}}
    (text,) = reproduced(summarize([run_of(tmp_path / "r", info, VALUES, counts=fewer)]))
    assert "1 of 1 printed values come out to the digit (ARI)" in text and "another train split" in text
