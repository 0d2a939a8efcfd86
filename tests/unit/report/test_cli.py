"""``sectioncls report`` prints where the page is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sectioncls.cli.report import report
from sectioncls.errors import InputError, OutputError
from sectioncls.runs import Run

Maker = Callable[..., Run]


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.command("report")(report)
    return made


def test_one_run_keeps_its_page(app: typer.Typer, maker: Maker, tmp_path: Path) -> None:
    run = maker(tmp_path / "r")
    result = CliRunner().invoke(app, [str(run.path)])
    assert (result.exit_code, result.output.strip()) == (0, str(run.path / "report.html"))
    assert isinstance(CliRunner().invoke(app, [str(run.path)]).exception, OutputError)
    assert CliRunner().invoke(app, [str(run.path), "--overwrite"]).exit_code == 0


def test_several_runs_share_a_page(app: typer.Typer, maker: Maker, tmp_path: Path) -> None:
    paths = [str(maker(tmp_path / name).path) for name in ("a", "b")]
    result = CliRunner().invoke(app, [*paths, "-o", str(tmp_path / "new" / "both.html")])
    assert result.exit_code == 0
    assert (tmp_path / "new" / "both.html").is_file()


def test_a_missing_run_is_named(app: typer.Typer, tmp_path: Path) -> None:
    error = CliRunner().invoke(app, [str(tmp_path / "nothing")]).exception
    assert isinstance(error, InputError) and "nothing" in str(error)
