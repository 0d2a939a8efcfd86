"""Run folders → one self-contained HTML page, or the same as Markdown, JSON or LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sectioncls import __version__
from sectioncls.errors import OutputError, UsageError
from sectioncls.render import environment, render_page
from sectioncls.render.page import GENERATOR
from sectioncls.report.formats import FORMATS
from sectioncls.report.panels import PANELS
from sectioncls.report.summary import summarize
from sectioncls.report.views import Summary
from sectioncls.runs import reopen_run
from sectioncls.staging import staged_file

__all__ = ["report_html", "write_report"]

_PANELS = Path(__file__).parent / "panels"
_SCRIPTS = Path(__file__).parent / "scripts"


def write_report(
    runs: Sequence[str | Path],
    output: str | Path,
    *,
    form: str = "html",
    with_text: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write one report on finished runs and give its path; the same runs give the same bytes.

    ``form`` is ``html``, ``md``, ``json`` or ``tex``. The report reads the run folders only and holds no corpus text
    unless ``with_text``, and only as a page. Raises InputError for a folder that is not a finished run, UsageError for
    another form, OutputError when ``output`` exists, unless ``overwrite`` and it is a report of ours in this form.
    """
    output = Path(output)
    if form != "html" and form not in FORMATS:
        raise UsageError(f"no format {form!r}", todo=f"there are html, {', '.join(FORMATS)}")
    if with_text and form != "html":
        raise UsageError("--with-text is for the HTML page", todo=f"leave it out for {form}")
    _check(output, form, overwrite=overwrite)
    summary = summarize(runs, with_text=with_text)
    text = report_html(summary) if form == "html" else FORMATS[form][1](summary)
    with staged_file(output) as aside:
        aside.write_text(text, encoding="utf-8")
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
        script=_script({panel["name"] for panel in panels}),
        title=f"{_subject(summary)} on {', '.join(corpora)}",
        kicker=f"Report on {names[0]}" if len(names) == 1 else f"Report on {len(names)} runs",
        panels=panels,
        runs=names,
        interactive=any(panel["name"] in ("projection", "errors") for panel in panels),
        with_text=summary.with_text,
    )


def _script(panels: set[str]) -> str:
    """Give the script of the panels that have one; '' where none has."""
    names = [name for panel, name in (("projection", "maps"), ("errors", "errors")) if panel in panels]
    return "\n".join((_SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in names)


def _subject(summary: Summary) -> str:
    return "Paper encoders" if all(run.of_papers for run in summary.runs) else "Sentence classification"


def _check(output: Path, form: str, *, overwrite: bool) -> None:
    """Raise OutputError unless the report may be written there."""
    if not output.exists() and not output.is_symlink():
        return
    if output.is_symlink() or not output.is_file():
        raise OutputError("exists and is not a file", output, "choose another -o")
    if not overwrite:
        raise OutputError("exists already", output, "choose another -o, or --overwrite")
    with output.open("rb") as stream:
        head = stream.read(4000)
    if form == "html":
        ours = f'name="generator" content="{GENERATOR} '.encode() in head
    else:
        ours = head.startswith(FORMATS[form][0].encode())
    if not ours:
        what = "page" if form == "html" else f"report in the form {form}"
        raise OutputError(f"is not a {what} that sectioncls made; --overwrite leaves it alone", output)
