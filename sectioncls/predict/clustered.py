"""Labelling on Ray: the driver lists files, workers read and label them, pieces of the result come back in any order.

The output is the same as on one machine, in the same order; probabilities may differ in the seventh digit, since
other sentences stand in a batch. An interrupted call keeps the shares that are whole.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from sectioncls.documents import ALL_SUFFIXES, walk_files
from sectioncls.errors import UsageError
from sectioncls.parallel.ray import flat_map_on_ray
from sectioncls.predict.label import SectionModel, load_model
from sectioncls.predict.sources import Given, read_given
from sectioncls.predict.stream import Labelled, labelled_lines, line_of, open_labelling, write_labelled
from sectioncls.predict.view import write_page
from sectioncls.records import Rejected, Sentence
from sectioncls.staging import disk_errors, staged_file

__all__ = ["label_on_ray"]

Row = dict[str, Any]

_FILES = 64  # plain files in a share of the work
_LINES = 64  # articles in a piece of the result
# Any of these may hold many articles, so each is a share of its own.
_BULK = (".gz", ".xz", ".tar", ".zip", ".tgz", ".txz", ".jsonl", ".ndjson")


def label_on_ray(
    model: Path | None,
    paths: Sequence[Path],
    out: Path,
    *,
    precision: str = "float32",
    min_prob: float = 0.0,
    splitter: str = "scisplit",
    sub_articles: bool = False,
    grobid_url: str | None = None,
    html: Path | None = None,
    settings: dict[str, Any],
    address: str | None = None,
    jobs: int = 0,
    overwrite: bool = False,
    resume: bool = False,
    advance: Callable[[int], None] = lambda count: None,
) -> Labelled:
    """Label every article of ``paths`` into ``out``, as label_stream does, on Ray (see flat_map_on_ray).

    ``model`` is a folder, None the model in the box; every worker must see it, the files and the folder ``html``
    under the same paths. Raises UsageError for standard input or where Ray is missing, and what label_stream raises.
    """
    if any(str(path) == "-" for path in paths):
        raise UsageError("--engine ray reads files, not standard input", todo="give files, or --engine local")
    work = out.with_name(f"{out.name}.labelling")
    kept = {"engine": "ray", "min_prob": min_prob, "splitter": splitter, **settings}
    open_labelling(work, out, kept, resume=resume, overwrite=overwrite)
    shares = list(_shares(paths))
    waiting = [row for row in shares if not (work / _whole(row["share"])).exists()]
    label = partial(
        _label_share,
        model=model.resolve() if model else None,
        precision=precision,
        html=html.resolve() if html else None,
        reading={"sub_articles": sub_articles, "grobid_url": grobid_url},
        labelling={"min_prob": min_prob, "splitter": splitter},
    )
    with disk_errors(work):
        for row in flat_map_on_ray(label, waiting, address=address, jobs=jobs):
            with staged_file(
                work / (_whole(row["share"]) if row["last"] else _piece(row["share"], row["place"]))
            ) as to:
                to.write_text(row["lines"], encoding="utf-8", newline="\n")
            advance(row["sentences"])
    pieces = (work / _piece(row["share"], place) for row in shares for place in range(_count(work, row["share"])))
    result = write_labelled(work, out, list(pieces))
    shutil.rmtree(work)
    return result


def _shares(paths: Iterable[Path]) -> Iterator[Row]:
    """Give the shares of the work, numbered in the files' order; what is left out here is a share without files."""
    for number, (files, refused) in enumerate(_groups(paths)):
        yield {"share": number, "files": files, "refused": refused}


def _groups(paths: Iterable[Path]) -> Iterator[tuple[list[str], str]]:
    group: list[str] = []
    for found in _files(paths):
        alone = isinstance(found, Rejected) or found.lower().endswith(_BULK)
        if group and (alone or len(group) == _FILES):
            yield group, ""
            group = []
        if isinstance(found, Rejected):
            yield [], line_of(found)
        elif alone:
            yield [found], ""
        else:
            group.append(found)
    if group:
        yield group, ""


def _files(paths: Iterable[Path]) -> Iterator[str | Rejected]:
    for path in paths:
        if path.is_dir():
            yield from (
                found if isinstance(found, Rejected) else str(found) for found in walk_files(path, ALL_SUFFIXES)
            )
        else:
            yield str(path)


def _label_share(
    row: Row, *, model: Path | None, precision: str, html: Path | None, reading: Row, labelling: Row
) -> Iterator[Row]:
    """Label the files of one share, piece by piece; the last piece holds nothing but their number. Runs on Ray."""
    if row["refused"]:
        yield {"share": row["share"], "place": 0, "last": False, "lines": row["refused"], "sentences": 0}
        yield {"share": row["share"], "place": 1, "last": True, "lines": "1", "sentences": 0}
        return
    loaded = _loaded(model, precision)

    def page(item: Given, sentences: list[Sentence]) -> None:
        if html is not None:
            # A share that was interrupted is labelled again, its pages too.
            name = str(loaded.facts.get("name", "model"))
            write_page(html, item, sentences, loaded.labels, model=name, overwrite=True)

    given = read_given([Path(name) for name in row["files"]], **reading)
    lines = labelled_lines(loaded, given, done=page, **labelling)
    place = 0
    while piece := list(islice(lines, _LINES)):
        text, sentences = "".join(line for line, _ in piece), sum(count for _, count in piece)
        yield {"share": row["share"], "place": place, "last": False, "lines": text, "sentences": sentences}
        place += 1
    yield {"share": row["share"], "place": place, "last": True, "lines": str(place), "sentences": 0}


@cache
def _loaded(model: Path | None, precision: str) -> SectionModel:
    """Load the model once a process, however many shares it labels."""
    return load_model(model, precision=precision)


def _piece(share: int, place: int) -> str:
    return f"{share:08}-{place:08}.jsonl"


def _whole(share: int) -> str:
    return f"{share:08}.whole"


def _count(work: Path, share: int) -> int:
    return int((work / _whole(share)).read_text(encoding="utf-8"))
