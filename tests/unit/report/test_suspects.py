"""Doubted labels on the page: those of the table, the most doubtful first, no text without leave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lxml import html as parser

from sectioncls.report import summarize, write_report
from sectioncls.report.panels import suspects
from sectioncls.runs import Run

Maker = Callable[..., Run]


def doubted(run: Run, count: int) -> dict[str, list[object]]:
    """Add the predictions of a method that doubts ``count`` labels; give its columns."""
    known = run.read_table("predictions")
    mine = [at for at, encoder in enumerate(known["encoder"]) if encoder == "tuned"]
    chance = np.random.default_rng(3)
    label = [known["label"][at] for at in mine]
    other = ["method" if name != "method" else "result" for name in label]
    suggested = [other[at] if at < count else None for at in range(len(mine))]
    columns: dict[str, list[object]] = {
        **{name: [known[name][at] for at in mine] for name in ("article_id", "index", "encoder")},
        "label": label,
        "method": ["random-forest"] * len(mine),
        "predicted": [s or t for s, t in zip(suggested, label, strict=True)],
        "probability": (0.5 + chance.random(len(mine)) / 2).tolist(),
        "own_probability": (chance.random(len(mine)) / 2).tolist(),
        "suggested": suggested,
    }
    (run.path / "predictions.parquet").unlink()
    run.add_rows("predictions", columns)
    return columns


def page_of(run: Run, path: Path) -> parser.HtmlElement:
    return parser.fromstring(write_report([run.path], path).read_text())


def test_the_most_doubtful_come_first(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    columns = doubted(run, 200)
    panel = page_of(run, tmp_path / "p.html").get_element_by_id("suspects")
    assert "200 of 1,349 test labels" in " ".join(panel.text_content().split())
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in panel.xpath(".//tbody/tr")]
    gaps = np.float32(columns["own_probability"][:200]) - np.float32(columns["probability"][:200])
    order = np.argsort(gaps, kind="stable")[: suspects.LISTED].tolist()
    assert [(row[4], int(row[5])) for row in rows] == [
        (columns["article_id"][at], columns["index"][at]) for at in order
    ]
    for at, row in zip(order, rows, strict=True):
        assert row[0].endswith(str(columns["label"][at])) and row[1].endswith(str(columns["suggested"][at]))
        assert float(row[2]) == pytest.approx(100 * columns["own_probability"][at], abs=0.051)
    assert all(len(row) == 6 for row in rows)  # no sentence


def test_nothing_doubted_is_said_and_nothing_known_is_no_panel(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    assert suspects.build(summarize([run.path])) is None
    doubted(run, 0)
    text = page_of(run, tmp_path / "p.html").get_element_by_id("suspects").text_content()
    assert "doubts none of the 1,349 test labels" in " ".join(text.split())
