"""Curves of a run on the page: means and ranges by hand, tables in every form, figures as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lxml import html as parser

from sectioncls.records import Score
from sectioncls.report import summarize, write_figures, write_report
from sectioncls.report.curves import curves_of
from sectioncls.report.panels import corpus, learning, precision_recall
from sectioncls.report.sentences import section_name
from sectioncls.report.tables import learning_tables
from sectioncls.runs import Run

Maker = Callable[..., Run]
LABELS = ("background", "a $label$ of ours")


@pytest.fixture(scope="module")
def run(maker: Maker, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A made run with curves of two encoders, their rows in no order."""
    made = maker(tmp_path_factory.mktemp("learning") / "r", points=60)
    rows = []
    for encoder, base in (("tuned", 0.6), ("base", 0.3)):
        for size in (100, 50):
            for repeat, shift in enumerate((0.02, -0.01, 0.05)):
                for series in ("f1-macro", "f1-micro"):
                    value = base + size / 1000 + shift + 0.1 * (series == "f1-micro")
                    rows.append((encoder, "logistic-regression", "learning", series, repeat, size, value, size))
        for series in ("f1-macro", "f1-micro"):
            rows.append((encoder, "logistic-regression", "few-shot", series, 0, 8, base, 40))
        rows += [(encoder, "kmeans", "k", "gap", 0, k, 0.1 * k, 60) for k in (1, 2, 3)]
        rows += [(encoder, "kmeans", "k", "silhouette", 0, k, 0.2, 60) for k in (2, 3)]
    for label in LABELS:
        recalls = zip((1.0, 0.5, 0.5, 0.0), (0.2, 0.6, 0.5, 1.0), strict=True)
        rows += [("tuned", "knn", "precision-recall", label, 0, recall, precision, 30) for recall, precision in recalls]
    names = ("encoder", "method", "curve", "series", "repeat", "x", "y", "n")
    made.write_table("curves", dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    common = {"encoder": "tuned", "corpus": "csabstruct", "n": 60}
    made.add_scores(
        [
            Score("average-precision", 0.5, method="knn", **common),
            *(Score("average-precision", 0.4, method="knn", label=label, **common) for label in LABELS),
            Score("k-by-gap", 3, method="kmeans", **common),
            Score("k-by-silhouette", 2, method="kmeans", **common),
            Score("effective-rank", 2.4, method="kmeans", **common),
            Score("trustworthiness", 0.987, method="tsne", **common),
            Score("kl-divergence", 1.234, method="tsne", **common),
        ]
    )
    made.finish()
    return made


def test_points_are_means_and_ranges_of_the_draws(run: Run) -> None:
    view = summarize([run.path]).runs[0]
    base, tuned = curves_of(view, "learning", "f1-macro")
    assert (base.encoder, tuned.encoder) == ("base", "tuned")
    assert [spot.x for spot in base.spots] == [50, 100]
    spot = tuned.at(100)
    assert (spot.mean, spot.low, spot.high) == pytest.approx((0.72, 0.69, 0.75)) and spot.draws == 3
    assert tuned.at(7) is None and curves_of(view, "few-shot", "nothing") == []


def test_tables_of_every_form_hold_them(run: Run, tmp_path: Path) -> None:
    learned, few = learning_tables(summarize([run.path]).runs[0])
    assert [column.group for column in learned.columns] == ["", "from 50", "from 50", "from 100", "from 100"]
    assert [cell.text for cell in learned.rows[1]][1:] == ["67.0", "77.0", "72.0", "82.0"]
    assert learned.rows[1][1].under == "64.0\N{EN DASH}70.0"
    assert [cell.text for cell in few.rows[0]][1:] == ["30.0", "30.0"] and few.rows[0][1].under == ""
    for form in ("md", "tex", "json"):
        text = write_report([run.path], tmp_path / f"r.{form}", form=form).read_text()
        assert "72.0" in text and "8 per label" in text


def test_the_page_draws_them_and_names_a_collapse(run: Run, tmp_path: Path) -> None:
    page = parser.fromstring(write_report([run.path], tmp_path / "p.html").read_text())
    words = {name: " ".join(page.get_element_by_id(name).text_content().split()) for name in ("learning", "clustering")}
    assert "MiniLM, fine-tuned 2 by silhouette and 3 by gap" in words["learning"]
    assert "collapse" in words["clustering"] and "fewer effective directions than the 5 labels" in words["clustering"]
    learned, gap = (image.get("alt") for image in page.xpath("//section[@id='learning']//img"))
    assert "MiniLM, fine-tuned: 67.0 from 50 sentences, 72.0 from 100" in learned and "by the number of clusters" in gap
    (precision,) = page.xpath("//section[@id='precision_recall']//img/@alt")
    assert "k nearest neighbours on MiniLM, fine-tuned" in precision and "50.0 over the labels" in precision
    (caption,) = [text for text in page.xpath("//figcaption/text()") if "rustworthiness" in text]
    assert "98.7" in caption and "1.23" in caption


def test_the_pipeline_counts_the_corpus(run: Run) -> None:
    view = summarize([run.path]).corpora[0]
    found = {what: (value, small) for what, value, small in corpus.steps(view)}
    assert found["Documents"] == ("2,189", ["left out, conflicting labels: 85"])
    assert found["Sentences"][0] == "14,623" and found["Sentences"][1] == ["22.4 words on average"]
    assert found["Labels"][0] == "5" and found["Labels"][1][0] == "background 32.7 %"
    assert found["Splits"] == ("3", ["train 11,250 of 1,668 articles", "dev 2,024 of 295 articles",
                                     "test 1,349 of 226 articles"])  # fmt: skip


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_figures_of_all_become_files(run: Run, tmp_path: Path, form: str) -> None:
    names = [path.name for path in write_figures([run.path], tmp_path, form=form)]
    for part in ("learning-curves", "number-of-clusters", "precision-recall", "pipeline"):
        assert f"csabstruct-minilm-{part}.{form}" in names


def test_a_run_without_curves_has_no_such_panel(maker: Maker, tmp_path: Path) -> None:
    summary = summarize([maker(tmp_path / "r", points=30).path])
    assert learning.build(summary) is None and precision_recall.build(summary) is None


@pytest.mark.parametrize(
    ("title", "name"),
    [("2.1. Materials  and Methods", "Materials and methods"), ("IV. RESULTS", "Results"), ("Discussion", "Discussion"),
     ("3", "3"), ("Vitamin D", "Vitamin d"), ("I", "I"), ("1 Introduction", "Introduction")],
)  # fmt: skip
def test_headings_agree_without_their_numbers(title: str, name: str) -> None:
    assert section_name(title) == name


def test_one_point_is_no_curve(maker: Maker, tmp_path: Path) -> None:
    made = maker(tmp_path / "r", points=30)
    names = ("encoder", "method", "curve", "series", "repeat", "x", "y", "n")
    row = ("base", "logistic-regression", "learning", "f1-macro", 0, 10.0, np.nan, 10)
    both = [row, (*row[:3], "f1-micro", *row[4:])]
    made.write_table("curves", dict(zip(names, map(list, zip(*both, strict=True)), strict=True)))
    made.finish()
    entry = learning.build(summarize([made.path]))
    assert entry and entry["entries"][0]["pictures"] == [] and entry["entries"][0]["tables"]
