"""Documents set aside on disk, read by workers or a cluster, then taken back in order: what every build begins with."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sectioncls.corpora.labelling import Reader, label_articles
from sectioncls.corpora.reading import ContainerOf, Engine, Maker, read_locally
from sectioncls.corpora.sources import Item, Meter, Watched
from sectioncls.corpora.spill import Spill, Stored
from sectioncls.corpora.workfolder import work_folder
from sectioncls.errors import OutputError, UsageError
from sectioncls.records import Rejected

__all__ = ["Watch", "gathered", "judged"]

Watch = Callable[[Watched], Iterable[str]]


@contextmanager
def gathered(
    documents: Iterable[Item],
    read: Reader,
    rules: Any,
    out: Path,
    settings: Mapping[str, Any],
    *,
    container_of: ContainerOf,
    make: Maker = label_articles,
    jobs: int = 1,
    engine: Engine = "local",
    address: str | None = None,
    overwrite: bool = False,
    resume: bool = False,
    watch: Watch = iter,
    size: int = 0,
) -> Iterator[tuple[Path, Spill]]:
    """Give the work folder and the spill with all that the documents hold, for ``out`` to be written from.

    ``make`` says by the ``rules`` what is kept of a document, ``settings`` are all that decides the bytes of
    ``out``; for the rest see build.build_from_articles. Raises OutputError for an output that is taken, or a build
    that was begun otherwise.
    """
    if address and engine != "ray":
        raise UsageError("--address is of a Ray cluster", None, "add --engine ray")
    meter = Meter(documents, size)
    try:
        with work_folder(out, settings, resume=resume, overwrite=overwrite) as folder, Spill(folder) as spill:
            if engine == "ray":
                from sectioncls.corpora.clustered import read_on_ray

                done = read_on_ray(
                    meter, read, rules, spill, container_of=container_of, jobs=jobs, address=address, make=make
                )
            else:
                done = read_locally(meter, read, rules, spill, container_of=container_of, jobs=jobs, make=make)
            for _ in watch(Watched(done, meter)):
                pass
            spill.forget_absent()
            spill.match_twins()
            spill.commit()
            yield folder, spill
    except sqlite3.Error as error:
        raise OutputError(
            f"can't hold the articles' keys: {error}", out, "is the disk full? --resume goes on"
        ) from error


def judged(spill: Spill) -> Iterator[tuple[Stored, Rejected | None]]:
    """Give each article in order with the reason to leave it out, None for one to keep."""
    last: Stored | None = None
    for stored in spill.articles():
        if last is not None and stored.article_id == last.article_id:
            detail = f"the same id is in {last.source}"
            yield stored, Rejected(stored.source, "duplicate", detail, stored.article_id)
            continue
        last = stored
        if stored.lacks:
            yield stored, Rejected(stored.source, "lacks-labels", stored.lacks, stored.article_id)
        elif stored.twin:
            twin, kind = stored.twin
            yield stored, Rejected(stored.source, "duplicate", f"the {kind} is that of {twin}", stored.article_id)
        else:
            yield stored, None
