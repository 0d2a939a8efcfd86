"""Labels against clusters, with typical terms, as the page shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html as parser
from sklearn.metrics.cluster import contingency_matrix

from sectioncls.records import Score
from sectioncls.report import write_report
from sectioncls.report.panels import clusters
from sectioncls.report.summary import summarize
from sectioncls.runs import Run

Maker = Callable[..., Run]


@pytest.fixture
def run(maker: Maker, tmp_path: Path) -> Run:
    made = maker(tmp_path / "r", points=300)
    table = made.read_table("projection")
    rows = [row for row, name in enumerate(table["encoder"]) if name == "tuned"]
    same = {name: [table[name][row] for row in rows] for name in ("article_id", "index", "label")}
    for encoder, method, kinds in (("base", "kmeans", 5), ("tuned", "kmeans", 5), ("tuned", "hdbscan", 20)):
        found = [(row * 7) % kinds - (method == "hdbscan") for row in rows]
        columns = {**same, "encoder": [encoder] * len(rows), "method": [method] * len(rows), "cluster": found}
        made.add_rows("clusters", columns)
    terms = [("base", 0, "alpha", 0.1), ("tuned", 1, "beta", 0.1), ("tuned", 1, "<b>gamma", 0.4)]
    for encoder, cluster, term, weight in terms:
        one = {"cluster": [cluster], "size": [9], "term": [term], "weight": [weight]}
        old = made.read_table("descriptions") or {name: [] for name in ("encoder", "method", *one)}
        new = {"encoder": [encoder], "method": ["kmeans"], **one}
        made.write_table("descriptions", {name: [*old[name], *new[name]] for name in new})
    made.add_scores([Score("purity", 0.5, encoder="tuned", method="kmeans", corpus="csabstruct")])
    made.finish()
    return made


def entries(run: Run) -> list[dict[str, Any]]:
    found = clusters.build(summarize([run.path]))
    assert found is not None
    return list(found["entries"])


def test_counts_are_scikit_learns_contingency(run: Run) -> None:
    table = run.read_table("clusters")
    for entry, owner in zip(entries(run), [("tuned", "kmeans"), ("tuned", "hdbscan"), ("base", "kmeans")], strict=True):
        rows = [at for at, own in enumerate(zip(table["encoder"], table["method"], strict=True)) if own == owner]
        truth, found = ([table[name][at] for at in rows] for name in ("label", "cluster"))
        wanted = contingency_matrix(found, truth)
        names, labels = sorted(set(found)), sorted(set(truth))
        for row in entry["rows"]:
            place = names.index(-1 if row["name"] == "in no cluster" else int(row["name"]))
            assert row["size"] == wanted[place].sum()
            assert row["counts"] == [wanted[place][labels.index(label)] for label in entry["labels"]]
        assert entry["n"] == len(rows)


def test_the_largest_come_first_and_the_fine_tuned_encoder(run: Run) -> None:
    first, noisy, last = entries(run)
    assert first["title"] == "k-means on MiniLM, fine-tuned" and first["open"] and not last["open"]
    sizes = [row["size"] for row in first["rows"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(noisy["rows"]) == clusters.SHOWN and noisy["left_out"] == 5
    assert first["more"] == ["purity 50.00"] and not last["more"]


def test_terms_stand_by_weight_and_are_escaped(run: Run, tmp_path: Path) -> None:
    first, noisy, last = entries(run)
    assert {row["name"]: row["terms"] for row in first["rows"] if row["terms"]} == {"1": ["<b>gamma", "beta"]}
    assert {row["name"]: row["terms"] for row in last["rows"] if row["terms"]} == {"0": ["alpha"]}
    assert not noisy["terms"]
    page = parser.fromstring(write_report([run.path], tmp_path / "p.html").read_text())
    assert "<b>gamma, beta" in [cell.text_content() for cell in page.find_class("words")]


def test_a_run_without_clusters_has_no_panel(maker: Maker, tmp_path: Path) -> None:
    assert clusters.build(summarize([maker(tmp_path / "r").path])) is None
