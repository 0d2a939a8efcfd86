"""``sectioncls report``: run folders → one HTML page, or the same as Markdown, JSON or LaTeX tables."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sectioncls.cli.options import Overwrite

__all__ = ["Form", "report"]


class Form(StrEnum):
    """What a report may be written as; also the file's ending."""

    html = "html"
    md = "md"
    json = "json"
    tex = "tex"


class FigureForm(StrEnum):
    """What a figure may be written as; also the file's ending."""

    svg = "svg"
    pdf = "pdf"
    png = "png"


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of finished runs.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The file. [default: RUN/report.FORMAT for one run, else report.FORMAT]"),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="A page, or the same numbers as Markdown, JSON or LaTeX (booktabs) tables.")
    ] = Form.html,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Show sentences of the corpus on the page: errors, points of the maps.")
    ] = False,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Also write every figure as a file of its own.")
    ] = None,
    figure_form: Annotated[
        FigureForm, typer.Option("--figure-format", help="What the files of --figures are.")
    ] = FigureForm.svg,
    overwrite: Overwrite = False,
) -> None:
    """Write one self-contained report on finished runs, published numbers beside ours.

    Example: sectioncls report reports/demo --format tex -o demo.tex --figures figures --figure-format pdf
    """
    from sectioncls.report import write_figures, write_report

    ending = f"report.{form.value}"
    place = output or (runs[0] / ending if len(runs) == 1 else Path(ending))
    print(write_report(runs, place, form=form.value, with_text=with_text, overwrite=overwrite))
    if figures is not None:
        for path in write_figures(runs, figures, form=figure_form.value, overwrite=overwrite):
            print(path)
