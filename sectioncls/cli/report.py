"""``sectioncls report``: run folders → one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sectioncls.cli.options import Overwrite

__all__ = ["report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of finished runs.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The page. [default: RUN/report.html for one run, else report.html]"),
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Show misclassified sentences of the corpus on the page.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write one self-contained page on finished runs, published numbers beside ours."""
    from sectioncls.report import write_report

    place = output or (runs[0] / "report.html" if len(runs) == 1 else Path("report.html"))
    print(write_report(runs, place, with_text=with_text, overwrite=overwrite))
