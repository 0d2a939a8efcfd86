"""Every figure of a report as a file of its own, for a paper or a talk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sectioncls.errors import InputError, OutputError, UsageError
from sectioncls.render import Picture
from sectioncls.report.figures import FORMS, reliability
from sectioncls.report.panels import corpus, errors, learning, precision_recall, projection, training
from sectioncls.report.summary import summarize
from sectioncls.report.views import RunView, Summary
from sectioncls.staging import staged_file

__all__ = ["write_figures"]


def write_figures(
    runs: Sequence[str | Path], folder: str | Path, *, form: str = "svg", overwrite: bool = False
) -> list[Path]:
    """Write the maps, curves, reliability diagrams and pipelines of finished runs into ``folder``; give their paths.

    Maps are coloured by label and, where the run knows, once more by cluster and by error.
    ``form`` is ``svg``, ``pdf`` or ``png`` (300 dpi), in ink on white; the same runs give the same bytes. Raises
    UsageError for another form, InputError when the runs have no figure, OutputError when a file exists, unless
    ``overwrite``.
    """
    if form not in FORMS:
        raise UsageError(f"no figure format {form!r}", todo=f"there are {', '.join(FORMS)}")
    folder = Path(folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError("exists and is not a folder", folder, "choose another --figures")
    figures = dict(_figures(summarize(runs)))
    if not figures:
        raise InputError(
            "the runs hold no maps, no curves, no probabilities and no counts: there is no figure to write"
        )
    paths = {name: folder / f"{name}.{form}" for name in figures}
    for path in paths.values():
        if path.is_symlink() or (path.exists() and (not overwrite or not path.is_file())):
            raise OutputError("exists already", path, "choose another --figures, or --overwrite")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"can't be made: {error.strerror}", folder) from error
    for name, draw in figures.items():
        with staged_file(paths[name]) as aside:
            aside.write_bytes(draw(form).data)
    return list(paths.values())


def _figures(summary: Summary) -> Iterator[tuple[str, Callable[[str], Picture]]]:
    """Give each figure's file name and what draws it."""
    seen: set[str] = set()
    for run in summary.runs:
        for name, draw in [*_of(run), *corpus.pictures(run.corpus)]:
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.name}-{name}").strip("-.") or "figure"
            base, number = name, 2
            while name.lower() in seen:
                name, number = f"{base}-{number}", number + 1
            seen.add(name.lower())
            yield name, draw


def _of(run: RunView) -> Iterator[tuple[str, Callable[[str], Picture]]]:
    yield from projection.pictures(run)
    yield from training.pictures(run)
    yield from learning.pictures(run)
    yield from precision_recall.pictures(run)
    known = errors.calibration(run)
    if known:
        bins, alt = known["first"]["bins"], known["alt"]
        yield "reliability", lambda form: reliability(bins, alt, form)
