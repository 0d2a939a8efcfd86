"""The verb build-papers: papers with their graph, topics, rankings and numbers, from sources of five forms."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sectioncls.cli.build import build_command, comma_words, resumable, watched
from sectioncls.cli.options import Jobs, Json, Output, Overwrite, Quiet, Resume, Seed
from sectioncls.cli.progress import note

if TYPE_CHECKING:
    from sectioncls.corpora import BuildCounts
    from sectioncls.papersets import PaperSetInfo

__all__ = ["build_papers"]

_SPLITS = ("train", "dev", "test")


def build_papers(
    src: Annotated[list[Path], typer.Argument(metavar="SRC...", help="Folders or files to read.", show_default=False)],
    output: Output = None,
    form: Annotated[
        str | None,
        typer.Option(
            help="Form of the sources: jats, beir, scirepeval, specter or edges (default: guessed).", show_default=False
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the set (default: the first source's).", show_default=False)
    ] = None,
    licence: Annotated[str, typer.Option(help="Licence of the source, for corpus.json.", show_default=False)] = "",
    topics: Annotated[
        list[str] | None, typer.Option(help="More fields of papers that hold topics, as a,b.", show_default=False)
    ] = None,
    targets: Annotated[
        list[str] | None, typer.Option(help="More fields of papers that hold numbers, as a,b.", show_default=False)
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Read on this machine, or on Ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to read on, as auto or HOST:PORT.", show_default=False)
    ] = None,
    overwrite: Overwrite = False,
    resume: Resume = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build a paper set: papers, citations, topics, rankings and numbers to predict (default: papers/NAME).

    Sources: JATS documents, a BEIR folder, SciRepEval records, SPECTER's citation JSON, or tables of papers and edges.
    """
    from sectioncls.papersets import build_papers as build
    from sectioncls.papersets.forms import stem_of

    more_topics, more_targets = comma_words(topics), comma_words(targets)
    options = {
        "--form": form,
        "--name": name,
        "--topics": ",".join(more_topics),
        "--targets": ",".join(more_targets),
        "--seed": seed,
    }
    sources = " ".join(shlex.quote(str(path)) for path in src)
    defaults = {"--topics": "", "--targets": "", "--seed": 0}
    out = output or Path("papers") / (name or stem_of(src[0]))
    start = time.perf_counter()
    with resumable(out, quiet=quiet):
        papers, counts = build(
            src,
            out,
            command=build_command(f"build-papers {sources}", None, options, defaults),
            form=form,
            name=name,
            licence=licence,
            topics=more_topics,
            targets=more_targets,
            seed=seed,
            jobs=jobs,
            engine=engine,
            address=address,
            overwrite=overwrite,
            resume=resume,
            watch=lambda documents: watched(documents, quiet=quiet),
        )
    seconds = time.perf_counter() - start
    info = papers.info
    if as_json:
        content = asdict(info) | {"path": str(papers.path), "seconds": round(seconds, 1)}
        if counts is not None:
            content["read"] = asdict(counts)
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return
    print("\n".join(_lines(info, counts)))
    note(f"{info.counts['papers']} papers in {papers.path}, {seconds:.1f} s", quiet=quiet)
    for text in info.notes:
        note(f"note: {text}", quiet=quiet)


def _lines(info: PaperSetInfo, counts: BuildCounts | None) -> Iterator[str]:
    """Give what was built: a table with a column a split, then what was left out."""
    if counts is not None:
        for container, number in counts.documents.items():
            yield f"{container}: {number} documents, {counts.left_out[container]} left out"
    rows: list[list[object]] = [["", *_SPLITS, "all"]]
    for title, key in (("papers", "papers"), ("with abstract", "with_abstract"), ("citations", "citations")):
        numbers = [info.splits[split].get(key, 0) for split in _SPLITS]
        if any(numbers):
            rows.append([title, *numbers, sum(numbers)])
    for task, about in sorted(info.tasks.items()):
        splits = about["splits"]
        asked = [splits.get(split, {}).get("queries", 0) for split in _SPLITS]
        pairs = [splits.get(split, {}).get("pairs", 0) for split in _SPLITS]
        rows.append([f"{task}: queries", *asked, sum(asked)])
        rows.append([f"{task}: judgements", *pairs, sum(pairs)])
    yield from _table(rows)
    if info.edges_by:
        yield f"citations found by {', '.join(f'{key} ({number})' for key, number in info.edges_by.items())}"
    for collection, about in sorted(info.collections.items()):
        defined = f", {about['defined']} with a definition" if about["defined"] else ""
        yield f"topics {collection}: {about['topics']} of {about['papers']} papers{defined}"
    for target, number in sorted(info.targets.items()):
        yield f"number {target}: {number} papers"
    if links := info.counts.get("links"):
        yield f"links: {links}"
    if outside := info.counts.get("outside"):
        yield f"references to works outside the set: {outside}"
    for reason, number in info.dropped.items():
        yield f"left out: {number} {reason}"


def _table(rows: Sequence[Sequence[object]]) -> Iterator[str]:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield f"{row[0].ljust(widths[0])}  {'  '.join(numbers)}"
