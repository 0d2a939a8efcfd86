"""``sectioncls split``."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Seed
from sectioncls.cli.progress import note
from sectioncls.errors import UsageError

__all__ = ["split"]


def split(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder; its splits are put together first.")],
    output: Output = None,
    sizes: Annotated[
        str, typer.Option(help="TRAIN,DEV,TEST as numbers (700,100,200) or shares (0.8,0.1,0.1).")
    ] = "0.8,0.1,0.1",
    by: Annotated[Literal["article", "sentence"], typer.Option(help="What is counted and never cut.")] = "article",
    order: Annotated[
        Literal["file", "hash", "random"],
        typer.Option(help="hash: by a hash of the id; file: the first go to train; random: shuffled."),
    ] = "hash",
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cut a corpus into other splits, by article unless told otherwise (default: CORPUS-split).

    Example: sectioncls split corpora/pubmed-rct -o corpora/pubmed-rct-cut --sizes 700,100,200 --order file
    """
    from sectioncls.audit import split_corpus
    from sectioncls.corpora import open_corpus

    opened = open_corpus(corpus)
    words = ["sectioncls split", shlex.quote(str(corpus)), f"--sizes {sizes}"]
    words += [f"--by {by}"] * (by != "article") + [f"--order {order}"] * (order != "hash")
    words += [f"--seed {seed}"] * (order != "file" and seed != 0)
    made = split_corpus(
        opened,
        output or corpus.with_name(f"{corpus.resolve().name}-split"),
        sizes=_numbers(sizes),
        by=by,
        order=order,
        seed=seed,
        command=" ".join(words),
        overwrite=overwrite,
    )
    info = made.info
    if as_json:
        print(json.dumps(asdict(info) | {"path": str(made.path)}, indent=1, ensure_ascii=False))
        return
    heads = ("split", "articles" if info.has_articles else "(rows)", "sentences", *info.labels)
    table = [heads]
    for name in made.splits:
        counts = info.counts[name]
        total = sum(counts.values())
        shares = (f"{100 * count / total:.1f} %" for count in counts.values())
        table.append((name, f"{info.articles[name]:,}", f"{total:,}", *shares))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *cells in table:
        print(f"{first:<{widths[0]}}  {'  '.join(map(str.rjust, cells, widths[1:]))}")
    print(f"{info.sentences:,} sentences in {made.path}")
    for text in info.notes:
        note(f"note: {text}", quiet=quiet)


def _numbers(text: str) -> tuple[float, ...]:
    """Give the numbers of ``700,100,200``. Raises UsageError for anything else."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--sizes {text!r} is not three numbers", None, "as 700,100,200 or 0.8,0.1,0.1") from error
