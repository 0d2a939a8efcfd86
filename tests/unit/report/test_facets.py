"""What points may be coloured by: labels, and of papers field, venue and year."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import html as parser

from sectioncls.render import MARKERS
from sectioncls.report import write_figures, write_report
from sectioncls.report.facets import facets_of
from sectioncls.report.summary import summarize
from sectioncls.runs import Run, create_run

FIELDS = ["ml", "vision", "", "robots"]


def paper_run(path: Path, **columns: list[Any]) -> Run:
    run = create_run(path, {"name": "p", "kind": "papers", "encoders": {"none": {}}, "corpus": {"name": "vis"}})
    n = 40
    table: dict[str, Any] = {
        "article_id": [f"p{row}" for row in range(n)],
        "index": [0] * n,
        "label": [FIELDS[row % 4] for row in range(n)],
        "venue": [f"venue {min(row, 11)}" for row in range(n)],
        "year": [1990 + row // 2 if row else -1 for row in range(n)],
        "x": np.arange(n) * 0.5,
        "y": np.arange(n) * -0.25,
        "encoder": ["none"] * n,
        "method": ["tsne"] * n,
    }
    run.write_table("projection", {**table, **columns})
    run.update(maps={"none": {"tsne": {"engine": "scikit-learn", "trustworthiness": 0.91, "kl-divergence": 0.5}}})
    run.finish()
    return run


def facets(run: Run) -> list[Any]:
    return facets_of(summarize([run.path]).runs[0], run.read_table("projection"))


def test_the_commonest_kinds_have_looks_and_years_stand_in_equal_spans(tmp_path: Path) -> None:
    field, venue, year = facets(paper_run(tmp_path / "r"))
    assert [facet.name for facet in (field, venue, year)] == ["field", "venue", "year"]
    assert Counter(field.values) == {"ml": 10, "vision": 10, "not known": 10, "robots": 10}
    assert list(field.looks)[-1] == "not known"
    assert Counter(venue.values) == {
        "venue 11": 29,
        "all others": 4,
        **{f"venue {row}": 1 for row in (0, 1, 10, 2, 3, 4, 5)},
    }
    assert next(iter(venue.looks)) == "venue 11" and list(venue.looks)[-1] == "all others"
    assert list(year.looks) == ["1990–1994", "1995–1999", "2000–2004", "2005–2009", "not known"]
    assert Counter(year.values) == {"1990–1994": 9, "1995–1999": 10, "2000–2004": 10, "2005–2009": 10, "not known": 1}
    assert len({look.colour for look in year.looks.values()}) == 5  # colour alone tells spans apart, and so does shape
    assert len({look.marker for look in year.looks.values()}) == 5


def test_nine_kinds_need_no_rest(tmp_path: Path) -> None:
    run = paper_run(tmp_path / "r", venue=[f"v{row % 9}" for row in range(40)])
    assert len(facets(run)[1].looks) == 9


@pytest.mark.parametrize("years", [[2001] * 40, [-1] * 40])
def test_what_does_not_differ_is_no_facet(years: list[int], tmp_path: Path) -> None:
    run = paper_run(tmp_path / "r", label=[""] * 40, venue=[""] * 40, year=years)
    (only,) = facets(run)
    assert only.name == "paper" and set(only.values) == set(only.looks) == {"paper"}


def test_the_page_holds_every_facet_of_every_point(tmp_path: Path) -> None:
    run = paper_run(tmp_path / "r")
    page = parser.fromstring(write_report([run.path], tmp_path / "p.html").read_text())
    data = json.loads(page.get_element_by_id("points-0").text)
    assert data["by"] == "field" and data["nouns"] == ["paper", "papers"]
    venue, year = data["also"]
    article = np.frombuffer(base64.b64decode(data["article"]), "<u4")
    table = run.read_table("projection")
    for one, facet in zip((venue, year), facets(run)[1:], strict=True):
        wanted = dict(zip(table["article_id"], facet.values, strict=True))
        codes = np.frombuffer(base64.b64decode(one["code"]), "<u2")
        assert [one["words"][code] for code in codes] == [wanted[data["articles"][at]] for at in article]
        assert all(shape in MARKERS.values() for _, shape in one["looks"])
    legends = page.find_class("legend")
    assert [legend.get("data-by") for legend in legends] == ["field", "venue", "year"]
    assert [legend.get("hidden") is None for legend in legends] == [True, False, False]
    (caption,) = page.find_class("figures")[0].iter("figcaption")
    assert (
        "none" in caption.text_content()
        and "Trustworthiness 91.0 of 100, KL divergence 0.50." in caption.text_content()
    )
    (image,) = page.find_class("figures")[0].iter("img")
    assert image.get("alt").startswith(
        "t-SNE map of 40 test papers embedded by none, one point each, coloured by field"
    )


def test_every_facet_is_a_figure(tmp_path: Path) -> None:
    names = [path.stem for path in write_figures([paper_run(tmp_path / "r").path], tmp_path / "f")]
    assert names[:3] == ["p-tsne-none", "p-tsne-none-by-venue", "p-tsne-none-by-year"]
