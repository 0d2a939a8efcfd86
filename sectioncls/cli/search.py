"""``sectioncls search`` and ``sectioncls related``: papers by a few words, papers like a paper."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sectioncls.cli.options import Json, Quiet
from sectioncls.errors import InputError, UsageError

if TYPE_CHECKING:
    from sectioncls.vectors.index import Hit, Index

__all__ = ["related", "search"]

Model = Annotated[
    str, typer.Option(help="The encoder that the index was or shall be made with: minilm, a folder, or a hub id.")
]
Count = Annotated[int, typer.Option("-k", help="So many papers.", min=1)]
Facet = Annotated[
    str | None,
    typer.Option(help="Compare only sentences of one role: background, method or result.", show_default=False),
]
Roles = Annotated[
    Path | None,
    typer.Option(
        help="The section model that tells the roles, a folder; default: the model in the box.", show_default=False
    ),
]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Build the index anew, whatever is there.")]


def search(
    papers: Annotated[Path, typer.Argument(help="A paper set (build-papers makes one).")],
    queries: Annotated[
        list[str], typer.Argument(help="Queries, each one argument; - reads them from stdin, a line each.")
    ],
    model: Model = "minilm",
    k: Count = 10,
    facet: Facet = None,
    roles: Roles = None,
    rebuild: Rebuild = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find papers by words and by meaning; the first call builds the index beside the set, PAPERS.index/MODEL.

    Example: sectioncls search papers "graph layout with many edges" --facet method
    """
    if any(not query.strip() for query in queries):
        raise UsageError("an empty query", todo="give some words")
    index = _open(papers, model, facet, roles, rebuild=rebuild, encodes=True, quiet=quiet)
    for query in _asked(queries):
        started = time.perf_counter()
        found = index.search(query, k, facet=facet)
        _print({"query": query}, found, time.perf_counter() - started, as_json=as_json, quiet=quiet)


def related(
    papers: Annotated[Path, typer.Argument(help="A paper set (build-papers makes one).")],
    ids: Annotated[list[str], typer.Argument(help="Ids of papers of the set.")],
    model: Model = "minilm",
    k: Count = 10,
    facet: Facet = None,
    roles: Roles = None,
    rebuild: Rebuild = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the papers nearest to a paper of the set, from the index that search builds; loads no model.

    Example: sectioncls related papers PMC1234567 --facet result
    """
    index = _open(papers, model, facet, roles, rebuild=rebuild, encodes=False, quiet=quiet)
    for paper in ids:
        started = time.perf_counter()
        found = index.related(paper, k, facet=facet)
        asked = {"id": paper, "title": index.titles[index.row_of(paper)]}
        _print(asked, found, time.perf_counter() - started, as_json=as_json, quiet=quiet)


def _open(
    papers: Path, model: str, facet: str | None, roles: Path | None, *, rebuild: bool, encodes: bool, quiet: bool
) -> Index:
    """Give the saved index; what builds one, and what encodes queries where numpy can't, is imported when needed."""
    from sectioncls.vectors.facets import FACETS
    from sectioncls.vectors.index import find_index

    if facet is not None and facet not in FACETS:
        raise UsageError(f"no facet {facet!r}", todo=f"facets: {', '.join(FACETS)}")
    index = None if rebuild else find_index(papers, model)
    enough = index is not None and (facet is None or index.has_facets(roles)) and (index.encode or not encodes)
    if index is not None and enough:
        return index
    from sectioncls.cli.observing import observer
    from sectioncls.recipes.search import open_index

    return open_index(
        papers, model=model, facets=facet is not None, roles=roles, rebuild=rebuild, observer=observer(quiet=quiet)
    )


def _asked(queries: Iterable[str]) -> Iterator[str]:
    """Give the queries on, lines of stdin in the place of ``-``; blank lines ask nothing."""
    for query in queries:
        if query != "-":
            yield query
            continue
        for number, line in enumerate(sys.stdin.buffer, start=1):
            try:
                text = line.decode("utf-8").strip()
            except UnicodeDecodeError as error:
                raise InputError("is not UTF-8", f"standard input:{number}") from error
            if text:
                yield text


def _print(asked: dict[str, str], found: list[Hit], seconds: float, *, as_json: bool, quiet: bool) -> None:
    """Show the papers of one question: a table, or one line of JSON."""
    from sectioncls.cli.progress import note

    if as_json:
        rows = [{name: value for name, value in asdict(hit).items() if name != "shares" or value} for hit in found]
        print(json.dumps({**asked, "seconds": round(seconds, 4), "papers": rows}, ensure_ascii=False), flush=True)
        return
    print("  ".join(map(_line, asked.values())))
    width = max((len(hit.id) for hit in found), default=2)
    for hit in found:
        shares = "".join(f"  {name} {100 * share:2.0f} %" for name, share in hit.shares.items())
        print(f"{hit.rank:>4}  {hit.score:.3f}  {hit.id:<{width}}  {hit.year or '–':>4}{shares}  {_line(hit.title)}")
    if not found:
        print("  no paper found")
    print(flush=True)
    note(f"{1000 * seconds:.0f} ms", quiet=quiet)


def _line(text: str) -> str:
    """Give a text as one line that moves no cursor."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
