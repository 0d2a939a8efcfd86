"""The panel of studies: what stands on its first screen, how numbers read, foreign text, runs that are no studies."""

from __future__ import annotations

import json
import re

import pytest

from sectioncls.errors import InputError
from sectioncls.report import write_report
from sectioncls.report.panels import studies
from sectioncls.report.summary import summarize
from sectioncls.runs import create_run

EVIL = "<img src=x onerror=alert(1)>"
GAP = {
    "better": "a", "worse": "b", "where": "rank:cite", "difference": 0.0123, "low": -0.01, "high": 0.034, "n": 1229,
    "unit": "queries or papers", "verdict": "undecided here", "detectable": 0.03,
}  # fmt: skip


def claim(verdict, gaps=(), **more):
    return {
        "id": "c", "text": "A claim.", "source": "table 1", "published": "81.8 against 80.0", "verdict": verdict,
        "reason": "because", "gaps": list(gaps), **more,
    }  # fmt: skip


def study(claims, measures=(), **more):
    return {
        "paper": "arXiv 0000.00000", "title": "A study", "quick": False, "claims": claims, "measures": list(measures),
        **more,
    }  # fmt: skip


MEASURE = {
    "name": "m", "kind": "bands", "title": "Bands", "caption": "Of bands.", "heat": False, "notes": ["a note"],
    "columns": ["k_minus", "k_plus", "collisions", "share"],
    "rows": [[30, 5, 12, 0.5], [60, 5, 3, 0.25], [30, 25, 40, None], [60, 25, 7, 0.125]],
    "figures": [{"x": "k_minus", "y": "collisions", "series": "k_plus", "logarithmic": True}],
}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    def make(name, content):
        made = create_run(tmp_path / name, {"name": name, "kind": "papers", "corpus": {"name": "vis"}, "seeds": [1]})
        if content is not None:
            made.update(study=content)
        made.finish()
        return made.path

    return make


def test_the_first_screen_counts_verdicts(run, tmp_path):
    first = study([claim("confirmed"), claim("refuted"), claim("undecided here", [GAP, GAP])], [MEASURE])
    second = study([claim("needs weights that are not here"), claim("confirmed")], quick=True)
    paths = [run("one", first), run("two", second)]
    values = studies.build(summarize(paths))
    assert values["lead"] == (
        "5 published claims in 2 studies: 2 confirmed, 1 refuted, 1 undecided here, 1 needs weights."
    )
    assert values["quick"] == ["two"] and list(values["papers"]) == ["arXiv 0000.00000"]
    page = write_report(paths, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index("5 published claims") < page.index("<table")
    assert "sectioncls run papers/studies/one" in page and 'href="#study-two"' in page and 'id="study-two"' in page
    assert 'http-equiv="Content-Security-Policy"' in page


def test_numbers_as_they_read(run):
    values = studies.build(summarize([run("one", study([claim("undecided here", [GAP])], [MEASURE]))]))
    (gap,) = values["entries"][0]["claims"][0]["gaps"]
    assert (gap["difference"], gap["ends"], gap["n"]) == ("+1.2", "−1.0 to +3.4", "1,229 queries or papers")
    (table,) = values["entries"][0]["measures"]
    assert [cell for cell, _ in table["rows"][2]] == ["30", "25", "40", "–"]
    assert [cell for cell, _ in table["rows"][3]] == ["60", "25", "7", "0.125"]
    (picture,) = table["figures"]
    assert "k⁺ 5 12 to 3" in picture.alt and b"<svg" in picture.data


def test_the_same_claims_in_other_forms(run, tmp_path):
    path = run("one", study([claim("refuted")], [MEASURE], quick=True))
    text = write_report([path], tmp_path / "r.md", form="md").read_text(encoding="utf-8")
    assert "Claims of arXiv 0000.00000" in text and "| refuted |" in text and "quick trial" in text
    assert "Bands (one)" in text and "0.125" in text
    content = json.loads(write_report([path], tmp_path / "r.json", form="json").read_text(encoding="utf-8"))
    assert [table["name"] for table in content["tables"]][:2] == ["studies", "measure"]
    assert "Claims of arXiv" in write_report([path], tmp_path / "r.tex", form="tex").read_text(encoding="utf-8")


def test_correlations_are_shaded(run):
    heat = {**MEASURE, "columns": ["task", "a", "b"], "rows": [["a", 1.0, -0.5], ["b", -0.5, None]], "figures": [],
            "heat": True}  # fmt: skip
    (table,) = studies.build(summarize([run("one", study([], [heat]))]))["entries"][0]["measures"]
    assert table["rows"][0] == [("a", ""), ("1.000", "60"), ("−0.500", "-30")] and table["rows"][1][2] == ("–", "")


def test_foreign_text_is_escaped(run, tmp_path):
    evil = study(
        [claim("confirmed", [{**GAP, "better": EVIL}] * 2, text=EVIL, reason=EVIL, published=EVIL, source=EVIL)],
        [{**MEASURE, "title": EVIL, "caption": EVIL, "notes": [EVIL], "columns": [EVIL, "b"], "rows": [[EVIL, 1]],
          "figures": []}],
        paper=EVIL, title=EVIL,
    )  # fmt: skip
    page = write_report([run("one", evil)], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page and len(re.findall("&lt;img src=x", page)) >= 10


def test_a_run_without_a_study_has_no_panel(run):
    assert studies.build(summarize([run("one", None)])) is None


@pytest.mark.parametrize("content", [{"paper": "p"}, study([claim("maybe")]), study([{"verdict": "confirmed"}])])
def test_a_study_that_is_none_is_one_line(run, content):
    with pytest.raises(InputError, match="holds a study that can't be read") as caught:
        studies.build(summarize([run("one", content)]))
    assert "\n" not in str(caught.value)
