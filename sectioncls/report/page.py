"""Run folders → one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sectioncls import __version__
from sectioncls.errors import OutputError
from sectioncls.render import environment, render_page
from sectioncls.render.page import GENERATOR
from sectioncls.report.panels import PANELS
from sectioncls.report.summary import Summary, summarize
from sectioncls.runs import reopen_run
from sectioncls.staging import staged_file

__all__ = ["report_html", "write_report"]

_PANELS = Path(__file__).parent / "panels"


def write_report(
    runs: Sequence[str | Path], output: str | Path, *, with_text: bool = False, overwrite: bool = False
) -> Path:
    """Write one page on finished runs and give its path; the same runs give the same bytes.

    The page reads the run folders only and holds no corpus text unless ``with_text``. Raises InputError for a
    folder that is not a finished run, OutputError when ``output`` exists, unless ``overwrite`` and it is a
    page of ours.
    """
    output = Path(output)
    _check(output, overwrite=overwrite)
    html = report_html(summarize(runs, with_text=with_text))
    with staged_file(output) as aside:
        aside.write_text(html, encoding="utf-8")
    for run in runs:
        if output.resolve().parent == Path(run).resolve():
            reopen_run(run).finish()  # the manifest lists the page, so that --overwrite knows it as ours
    return output


def report_html(summary: Summary) -> str:
    """Give the page of a Summary."""
    from markupsafe import Markup

    env = environment(_PANELS)
    panels: list[dict[str, Any]] = []
    for name, (title, build) in PANELS.items():
        values = build(summary)
        if values is not None:
            html = env.get_template(f"{name}.html").render(values)
            panels.append({"name": name, "title": title, "html": Markup(html)})
    corpora = list(dict.fromkeys(corpus.name for corpus in summary.corpora))
    names = [run.name for run in summary.runs]
    return render_page(
        env,
        "report.html",
        version=__version__,
        title=f"Sentence classification on {', '.join(corpora)}",
        kicker=f"Report on {names[0]}" if len(names) == 1 else f"Report on {len(names)} runs",
        panels=panels,
        runs=names,
        with_text=summary.with_text,
    )


def _check(output: Path, *, overwrite: bool) -> None:
    """Raise OutputError unless the page may be written there."""
    if not output.exists() and not output.is_symlink():
        return
    if output.is_symlink() or not output.is_file():
        raise OutputError("exists and is not a file", output, "choose another -o")
    if not overwrite:
        raise OutputError("exists already", output, "choose another -o, or --overwrite")
    with output.open("rb") as stream:
        head = stream.read(2000)
    if f'name="generator" content="{GENERATOR} '.encode() not in head:
        raise OutputError("is not a page that sectioncls made; --overwrite leaves it alone", output)
