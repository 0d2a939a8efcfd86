"""The points of the maps as the page's script reads them, and figures as files."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import html as parser

from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.report import write_figures, write_report
from sectioncls.runs import Run, create_run

Maker = Callable[..., Run]


def points(page: Path) -> dict[str, Any]:
    return json.loads(parser.fromstring(page.read_text()).get_element_by_id("points-0").text)


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_every_point_stands_where_the_run_has_it(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    data = points(write_report([run.path], tmp_path / "p.html"))
    table = run.read_table("projection")
    articles, index = numbers(data["article"], "<u4"), numbers(data["index"], "<i4")
    labels = numbers(data["label"], "<u2")
    where = {(data["articles"][a], i): row for row, (a, i) in enumerate(zip(articles, index, strict=True))}
    assert len(where) == data["n"] == 1349
    for place, encoder in enumerate(("base", "tuned")):
        rows = [row for row, name in enumerate(table["encoder"]) if name == encoder]
        x, y = (numbers(data["maps"][place][axis], "<u2").astype(float) for axis in "xy")
        order = [where[table["article_id"][row], table["index"][row]] for row in rows]
        assert [data["labels"][labels[at]] for at in order] == [table["label"][row] for row in rows]
        for found, axis in ((x, "x"), (y, "y")):
            wanted = np.array([table[axis][row] for row in rows])
            slope, offset = np.polyfit(found[order], wanted, 1)
            assert np.abs(slope * found[order] + offset - wanted).max() < 1e-3
        guess = numbers(data["maps"][place]["predicted"], "<u2")
        assert guess.max() < len(data["labels"])


def test_the_order_of_rows_changes_nothing(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    before = points(write_report([run.path], tmp_path / "1.html"))
    for name in ("projection", "predictions"):
        table = run.read_table(name)
        order = np.random.default_rng(1).permutation(len(table["label"]))
        run.write_table(name, {column: [values[at] for at in order] for column, values in table.items()})
    run.finish()
    after = points(write_report([run.path], tmp_path / "2.html"))
    for place in (0, 1):  # articles are numbered as they come, and so do maps
        assert sorted(before["maps"][place]) == sorted(after["maps"][place])
    assert {key: before[key] for key in ("label", "article", "index", "articles")} == {
        key: after[key] for key in ("label", "article", "index", "articles")
    }
    assert {one["x"] for one in before["maps"]} == {one["x"] for one in after["maps"]}


def test_clusters_travel_and_noise_has_no_colour(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    table = run.read_table("projection")
    rows = [row for row, name in enumerate(table["encoder"]) if name == "tuned"]
    same = {name: [table[name][row] for row in rows] for name in ("article_id", "index", "label", "encoder")}
    cluster = [row % 3 - 1 for row in range(len(rows))]
    run.write_table("clusters", {**same, "method": ["hdbscan"] * len(rows), "cluster": cluster})
    run.finish()
    data = points(write_report([run.path], tmp_path / "p.html"))
    assert data["maps"][0]["cluster"] is None
    values, counts = np.unique(numbers(data["maps"][1]["cluster"], "<u2"), return_counts=True)
    assert values.tolist() == [0, 1, 65535] and counts.sum() == len(rows)
    assert len(data["clusters"]) == 2


def test_figures_become_files(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r", points=50)
    paths = write_figures([run.path], tmp_path / "f", form="svg")
    assert [path.name for path in paths] == [
        "csabstruct-minilm-tsne-base.svg",
        "csabstruct-minilm-tsne-base-by-error.svg",
        "csabstruct-minilm-tsne-tuned.svg",
        "csabstruct-minilm-tsne-tuned-by-error.svg",
        "csabstruct-minilm-training-loss.svg",
        "csabstruct-minilm-scores-on-the-dev-split.svg",
        "csabstruct-minilm-pipeline.svg",
    ]
    before = [path.read_bytes() for path in paths]
    with pytest.raises(OutputError, match="exists already"):
        write_figures([run.path], tmp_path / "f", form="svg")
    again = write_figures([run.path], tmp_path / "f", form="svg", overwrite=True)
    assert [path.read_bytes() for path in again] == before


def test_files_say_what_their_colours_mean(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r", points=600)
    table = run.read_table("projection")
    same = {name: table[name] for name in ("article_id", "index", "label", "encoder")}
    rows = len(table["label"])
    run.write_table("clusters", {**same, "method": ["hdbscan"] * rows, "cluster": [row % 3 - 1 for row in range(rows)]})
    run.finish()
    files = {path.stem: path.read_text() for path in write_figures([run.path], tmp_path / "f")}
    for name, words in {
        "csabstruct-minilm-tsne-tuned": ["background", "objective"],
        "csabstruct-minilm-tsne-tuned-by-cluster": ["cluster 0", "cluster 1", "in no cluster"],
        "csabstruct-minilm-tsne-tuned-by-error": ["right", "wrong"],
    }.items():
        assert all(f">{word}</text>" in files[name] for word in words), name


def test_names_of_runs_can_not_leave_the_folder(maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r", name="../../x", points=50)
    paths = write_figures([run.path], tmp_path / "f", form="png")
    assert {path.parent for path in paths} == {tmp_path / "f"}


def test_what_can_not_be_drawn_is_said(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.finish()
    with pytest.raises(InputError, match="no figure to write"):
        write_figures([run.path], tmp_path / "f")
    with pytest.raises(UsageError, match="no figure format 'gif'"):
        write_figures([run.path], tmp_path / "f", form="gif")
