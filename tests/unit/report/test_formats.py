"""Markdown, LaTeX and JSON say what the page says, and foreign text stays text in each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from sectioncls.cli.report import report
from sectioncls.errors import OutputError, UsageError
from sectioncls.report import summarize, write_report
from sectioncls.report.formats import latex, markdown, summary_json
from sectioncls.runs import Run

Maker = Callable[..., Run]
Info = Callable[..., dict[str, Any]]
EVIL = "a|b_c*d`<b>{e}\\f$g&h%i~j^k#l\nm\x07"


@pytest.fixture(scope="module")
def run(maker: Maker, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return maker(tmp_path_factory.mktemp("formats") / "r")


def test_markdown_tables_are_whole(run: Run) -> None:
    text = markdown(summarize([run.path]))
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert len(tables) == 7
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert "| MiniLM, fine-tuned | Random forest | **77.10 (74.8–79.4)** | 75.02 | +2.08 |" in text
    assert "**RQ3." in text and "Not testable here" in text


def test_latex_tables_are_whole(run: Run) -> None:
    text = latex(summarize([run.path]))
    tabulars = re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL)
    assert len(tabulars) == 7
    for align, body in tabulars:
        assert [body.count(rf"\{name}rule") for name in ("top", "mid", "bottom")] == [1, 1, 1]
        for line in re.findall(r"^(.*) \\\\$", body, flags=re.MULTILINE):
            wide = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
            assert len(re.findall(r"(?<!\\)&", line)) + 1 + wide == len(align)
    assert r"\textbf{77.10 (74.8--79.4)} & 75.02 & +2.08" in text
    assert text.isascii()


def test_labels_of_latex_tables_differ(run: Run, maker: Maker, info: Info, tmp_path: Path) -> None:
    other = maker(tmp_path / "o", name="other", corpus=info(fingerprint="f" * 64, name="other")).path
    labels = re.findall(r"\\label\{(.*?)\}", latex(summarize([run.path, other])))
    assert len(labels) == len(set(labels)) and "tab:classification-2" in labels


def test_json_holds_every_score(run: Run) -> None:
    summary = summarize([run.path])
    content = json.loads(summary_json(summary))
    tuned = next(group for group in content["corpora"][0]["groups"] if group["encoder"] == "tuned")
    forest = next(row for row in tuned["rows"] if row["method"] == "random-forest")
    assert forest["scores"]["f1-micro"]["value"] == 0.7710
    assert forest["scores"]["f1-micro"]["published"] == pytest.approx(0.7502)
    assert forest["per_label"].keys() == {"background", "objective", "method", "result", "other"}
    assert [claim["verdict"] for claim in content["claims"]].count("not testable here") == 2
    assert content["runs"][0]["best"] == {"encoder": "tuned", "method": "random-forest"}


@pytest.mark.parametrize("form", [markdown, latex, summary_json])
def test_the_same_run_gives_the_same_text(form: Callable[..., str], run: Run) -> None:
    assert form(summarize([run.path])) == form(summarize([run.path]))


def test_foreign_text_stays_text(maker: Maker, info: Info, tmp_path: Path) -> None:
    labels = (EVIL, "objective")
    summary = summarize(
        [maker(tmp_path / "r", name=EVIL, corpus=info(labels, dict.fromkeys(labels, 20), name=EVIL)).path]
    )
    text = markdown(summary)
    assert r"a\|b\_c\*d\`\<b\>{e}\\f\$g\&h%i\~j^k\#l m" in text and "<b>" not in text
    source = latex(summary)
    wanted = (
        r"a\textbar{}b\_c*d`\textless{}b\textgreater{}\{e\}\textbackslash{}f\$g\&h\%i\textasciitilde{}j"
        r"\textasciicircum{}k\#l m"
    )
    assert wanted in source
    assert all(line.startswith("%") or "\x07" not in line for line in source.splitlines())
    assert json.loads(summary_json(summary))["runs"][0]["name"] == EVIL


@pytest.mark.parametrize("form", ["md", "json", "tex"])
def test_the_verb_writes_it_and_overwrites_only_its_own(form: str, maker: Maker, tmp_path: Path) -> None:
    app = Typer()
    app.command("report")(report)
    run = maker(tmp_path / "r")
    result = CliRunner().invoke(app, [str(run.path), "--format", form])
    place = run.path / f"report.{form}"
    assert (result.exit_code, result.output.strip()) == (0, str(place))
    before = place.read_bytes()
    assert isinstance(CliRunner().invoke(app, [str(run.path), "--format", form]).exception, OutputError)
    assert CliRunner().invoke(app, [str(run.path), "--format", form, "--overwrite"]).exit_code == 0
    assert place.read_bytes() == before
    place.write_text("mine")
    with pytest.raises(OutputError, match="not a report in the form"):
        write_report([run.path], place, form=form, overwrite=True)


def test_text_is_for_the_page_alone(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--with-text is for the HTML page"):
        write_report([run.path], tmp_path / "r.md", form="md", with_text=True)
    with pytest.raises(UsageError, match="no format 'odt'"):
        write_report([run.path], tmp_path / "r.odt", form="odt")


def test_papers_have_their_table(tmp_path: Path) -> None:
    from sectioncls.records import Score
    from sectioncls.runs import create_run

    main = {"none": {"cite": ["map", "cosine"]}}
    run = create_run(
        tmp_path / "p", {"kind": "papers", "encoders": {"none": {}}, "main": main, "corpus": {"name": "p"}}
    )
    run.add_scores([Score("map", 0.5, 0.4, 0.6, 9, "query", task="cite", encoder="none", method="cosine")])
    run.finish()
    assert "| none | 50.00 (40.0–60.0) |" in markdown(summarize([run.path]))
