"""The error browser: pairs as a plain count gives them, every error once, reliability as the calibration has it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lxml import html as parser

from sectioncls.downstream.calibration import calibration_error
from sectioncls.report import summarize, write_report
from sectioncls.report.panels import errors
from sectioncls.runs import Run

Maker = Callable[..., Run]


def wrong_rows(run: Run) -> list[tuple[str, int, str, str]]:
    table = run.read_table("predictions")
    rows = zip(*(table[name] for name in ("encoder", "article_id", "index", "label", "predicted")), strict=True)
    return [tuple(row[1:]) for row in rows if row[0] == "tuned" and row[3] != row[4]]


def test_pairs_and_errors_are_those_of_a_plain_count(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    page = parser.fromstring(write_report([run.path], tmp_path / "p.html").read_text())
    wrong = wrong_rows(run)
    counts = Counter(row[2:] for row in wrong)
    table = page.xpath("//section[@id='errors']//table")[0]
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in table.xpath("./tbody/tr")]
    assert len(rows) == errors.PAIRS
    for true, predicted, n, of_label, of_errors, back in rows:
        assert int(n) == counts[true, predicted] and int(back) == counts[predicted, true]
        assert float(of_errors) == pytest.approx(100 * int(n) / len(wrong), abs=0.05)
        total = {"background": 493, "objective": 155, "method": 421, "result": 219, "other": 61}[true]
        assert float(of_label) == pytest.approx(100 * int(n) / total, abs=0.05)
    assert [int(row[2]) for row in rows] == [n for _, n in counts.most_common(errors.PAIRS)]
    data = json.loads(page.get_element_by_id("errors-0").text)
    listed = [(row[0], row[1], data["labels"][row[2]], data["labels"][row[3]]) for row in data["rows"]]
    assert sorted(listed) == sorted(wrong)
    assert all(row[4] is None and len(row) == 7 and row[6] == -1 for row in data["rows"])
    assert data["sections"] == [] and all(row[5] == row[1] // 2 for row in data["rows"] if row[0] != "a224")
    assert "Reliability" not in page.get_element_by_id("errors").text_content()


def test_many_errors_are_thinned_evenly_and_said(maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "LISTED", 50)
    run = maker(tmp_path / "r")
    page = write_report([run.path], tmp_path / "p.html").read_text()
    assert "50 of them, evenly spread, can be filtered" in page
    assert len(json.loads(parser.fromstring(page).get_element_by_id("errors-0").text)["rows"]) == 50


@pytest.mark.parametrize("seed", [0, 1])
def test_reliability_is_the_calibration_error(seed: int) -> None:
    chance = np.random.default_rng(seed)
    scores = chance.dirichlet(np.ones(3), 500)
    truth, predicted = chance.integers(0, 3, 500), scores.argmax(1)
    bins, ece = errors.reliability_of(list(scores.max(1)), list(truth), list(predicted))
    assert ece == pytest.approx(calibration_error(scores, truth, errors.BINS))
    assert sum(n for _, _, n in bins) == 500


def test_the_edges_have_a_bin() -> None:
    bins, ece = errors.reliability_of([1.0, 0.0, None], ["a", "a", "a"], ["a", "b", "a"])
    assert bins == [(0.0, 0.0, 1), (1.0, 1.0, 1)] and ece == 0


def test_probabilities_sort_errors_and_draw_a_diagram(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    rows = run.read_table("predictions")
    chance = np.random.default_rng(0)
    run.write_table("predictions", {**rows, "probability": chance.uniform(0.2, 1, len(rows["label"]))})
    run.finish()
    page = parser.fromstring(write_report([run.path], tmp_path / "p.html").read_text())
    sure = [row[4] for row in json.loads(page.get_element_by_id("errors-0").text)["rows"]]
    assert sure == sorted(sure, reverse=True) and 0.2 <= sure[-1] <= sure[0] <= 1
    (alt,) = page.xpath("//section[@id='errors']//img/@alt")
    known = errors.calibration(summarize([run.path]).runs[0])
    assert known and f"expected calibration error {100 * known['first']['ece']:.1f} points" in alt
