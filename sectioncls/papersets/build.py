"""Building a paper set from sources of any form that we read; the form is guessed from the files unless it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sectioncls.corpora.openers import source_path
from sectioncls.errors import OutputError, UsageError
from sectioncls.papersets.fields import FieldRules
from sectioncls.papersets.folder import read_folder
from sectioncls.papersets.forms import FORMS, find_files, guess_form, stem_of
from sectioncls.papersets.paperset import PaperSet, open_paperset
from sectioncls.papersets.rankings import POSITIVES_WANTED, rankings_of
from sectioncls.papersets.scirepeval import read_scirepeval
from sectioncls.papersets.specter import read_specter
from sectioncls.papersets.writer import PaperSetWriter, create_paperset

if TYPE_CHECKING:
    from sectioncls.corpora.build import BuildCounts
    from sectioncls.corpora.gather import Watch
    from sectioncls.corpora.reading import Engine

__all__ = ["build_papers"]

_READERS: dict[str, Callable[..., None]] = {
    "beir": read_folder,
    "edges": read_folder,
    "scirepeval": read_scirepeval,
    "specter": read_specter,
}


def build_papers(
    sources: Iterable[str | Path],
    out: str | Path,
    *,
    command: str,
    form: str | None = None,
    name: str | None = None,
    licence: str = "",
    topics: Iterable[str] = (),
    targets: Iterable[str] = (),
    seed: int = 0,
    jobs: int = 1,
    engine: Engine = "local",
    address: str | None = None,
    overwrite: bool = False,
    resume: bool = False,
    watch: Watch = iter,
) -> tuple[PaperSet, BuildCounts | None]:
    """Give the paper set built from files and folders, and for documents what went in.

    ``form`` is one of FORMS, guessed where it is None; ``name`` the first source's name unless given. ``topics`` and
    ``targets`` name fields of papers to be read as topics and as numbers beside those that are known. Where the source
    has a citation graph but no rankings whose queries are papers, these are made (see rankings.py). Documents
    (``jats``) are read by ``jobs`` workers or on Ray, and ``resume`` goes on with a build that was cut off; the other
    forms are read in this process and don't need it. Raises UsageError for an unknown form or one that can't be
    guessed, InputError for a malformed file, OutputError when ``out`` is taken.
    """
    paths = [source_path(path) for path in sources]
    if not paths:
        raise UsageError("no source is named", None, "build-papers SRC -o P")
    if form is not None and form not in FORMS:
        raise UsageError(f"--form {form!r} is not known", None, f"one of {', '.join(FORMS)}")
    form = form or guess_form(paths)
    name = name or stem_of(paths[0])
    out = Path(out)
    if form == "jats":
        from sectioncls.papersets.jats import create_from_jats

        with create_from_jats(
            paths,
            out,
            name=name,
            command=command,
            seed=seed,
            jobs=jobs,
            engine=engine,
            address=address,
            overwrite=overwrite,
            resume=resume,
            watch=watch,
            licence=licence,
        ) as (writer, counts):
            add_rankings(writer, seed)
        return open_paperset(out), counts
    if engine != "local" or address:
        raise UsageError(f"--engine {engine} reads documents, not the form {form}", None, "leave it out")
    if out.exists() and resume and not overwrite:
        raise OutputError("exists already", out, "it is whole: nothing to resume; --overwrite builds it anew")
    rules = FieldRules(frozenset(topics), frozenset(targets))
    with create_paperset(out, name=name, form=form, command=command, overwrite=overwrite, licence=licence) as writer:
        _READERS[form](find_files(paths), writer, name=name, rules=rules, seed=seed)
        add_rankings(writer, seed)
    return open_paperset(out), None


def add_rankings(writer: PaperSetWriter, seed: int = 0) -> None:
    """Make rankings of a written graph, unless there are rankings whose queries are papers already."""
    edges = writer.citations()
    if not len(edges) or writer.ranks_papers():
        return
    made: dict[str, tuple[int, int]] = {}
    ids = writer.ids()
    for ranking in rankings_of(edges, writer.outside(), ids, writer.splits(), writer.with_abstract(), seed=seed):
        writer.add_task(ranking.task)
        for rows, score in ((ranking.positives, 1.0), (ranking.negatives, 0.0)):
            for row in rows:
                writer.add_judgement(ranking.task, ids[ranking.query], ids[row], score, ranking.split)
        count, _ = made.get(ranking.task, (0, 0))
        made[ranking.task] = (count + 1, ranking.least)
    for task, (count, least) in made.items():
        wanted = f"with {least} positives or more" if least > 1 else "with a positive"
        less = "" if least == POSITIVES_WANTED[0] else f" (fewer than {POSITIVES_WANTED[0]}: the graph is sparse)"
        writer.note(f"task {task} was made from the graph: {count} queries {wanted}{less}")
    if not made:
        writer.note("no ranking task could be made: no paper of dev or test has a citation")
