"""``sectioncls predict``: what each sentence of an article does."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Resume
from sectioncls.errors import UsageError

if TYPE_CHECKING:
    from sectioncls.predict import Given, SectionModel
    from sectioncls.records import Rejected, Sentence

__all__ = ["predict"]


def predict(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Files, folders, archives (JATS, TEI, PubMed XML, Markdown, text, PDF), JSONL; - for standard input.",
            show_default=False,
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            help="A folder that finetune made with --objective ce, crf or hsln; default: the model in the box.",
            show_default=False,
        ),
    ] = None,
    output: Output = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page for every article into this folder.", show_default=False)
    ] = None,
    min_prob: Annotated[float, typer.Option(min=0, max=1, help="Give no label below this probability.")] = 0.0,
    splitter: Annotated[str, typer.Option(help="Sentence splitter.")] = "scisplit",
    precision: Annotated[
        Literal["float32", "bf16"], typer.Option(help="bf16 is about twice as fast on processors that have it.")
    ] = "float32",
    sub_articles: Annotated[
        bool, typer.Option("--sub-articles", help="Read JATS sub-articles and responses as articles of their own.")
    ] = False,
    grobid_url: Annotated[
        str | None, typer.Option(help="Address of a GROBID server that reads PDF.", show_default=False)
    ] = None,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Label on this machine, or on Ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to label on, as auto or HOST:PORT.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Workers of --engine ray; 0 takes one per core.", min=0)] = 0,
    overwrite: Overwrite = False,
    resume: Resume = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label every sentence of articles: .jsonl, .csv or .parquet with -o, else lines on stdout.

    Example: sectioncls predict article.xml -o article.jsonl
    """
    from sectioncls.cli.observing import observer
    from sectioncls.cli.progress import note
    from sectioncls.predict import label_on_ray, label_stream, load_model, read_given, write_page

    if engine == "ray" and output is None:
        raise UsageError("--engine ray writes a file", todo="give -o")
    if engine == "local" and (address or jobs):
        raise UsageError("--address and --jobs belong to --engine ray", todo="add --engine ray")
    chosen = load_model(model, precision=precision)
    name = str(chosen.facts.get("name", "model"))
    given = read_given(paths, sub_articles=sub_articles, grobid_url=grobid_url)

    def page(item: Given, sentences: list[Sentence]) -> None:
        if html is not None:
            write_page(html, item, sentences, chosen.labels, model=name, overwrite=overwrite or resume)

    if output is None:
        for item in given:
            _print(chosen, item, page, min_prob, splitter, as_json=as_json, quiet=quiet)
        return
    named = [str(path) for path in paths]
    settings = {"model": name, "precision": precision, "paths": named, "sub_articles": sub_articles}
    how: dict[str, Any] = {
        "min_prob": min_prob,
        "splitter": splitter,
        "settings": settings,
        "overwrite": overwrite,
        "resume": resume,
    }
    with observer(quiet=quiet).stage("labelling", 0, "sentences") as advance:
        if engine == "ray":
            read: dict[str, Any] = {"sub_articles": sub_articles, "grobid_url": grobid_url, "html": html}
            cluster: dict[str, Any] = {"address": address, "jobs": jobs, "precision": precision}
            done = label_on_ray(model, paths, output, advance=advance, **read, **cluster, **how)
        else:
            done = label_stream(chosen, given, output, done=page, advance=advance, **how)
    if as_json:
        print(json.dumps({"output": str(output), **dataclasses.asdict(done)}))
        return
    shares = ", ".join(f"{label} {count:,}" for label, count in done.labels.items())
    print(f"{output}: {done.sentences:,} sentences of {done.articles:,} articles ({shares})")
    if done.abstained:
        note(f"without a label, below {min_prob:g}: {done.abstained:,}", quiet=quiet)
    if done.rejected:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(done.rejected.items()))
        note(f"documents left out: {reasons} (see {output.stem}.rejected.jsonl)", quiet=quiet)


def _print(
    model: SectionModel,
    item: Given | Rejected,
    page: Callable[[Given, list[Sentence]], None],
    min_prob: float,
    splitter: str,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show one article on stdout as it is done: label, probability and sentence."""
    from sectioncls.cli.progress import note
    from sectioncls.predict import rows_of
    from sectioncls.records import Rejected

    if isinstance(item, Rejected):
        note(f"{item.source}: left out, {item.reason}: {item.detail}", quiet=quiet)
        return
    sentences = next(model.predict_each([item.content], min_prob=min_prob, splitter=splitter))
    page(item, sentences)
    if as_json:
        for row in rows_of(item.id, item.source, sentences):
            print(json.dumps(row, ensure_ascii=False))
        return
    print(f"{item.id}  {getattr(item.content, 'title', '')}".rstrip())
    path: tuple[str, ...] = ()
    width = max(map(len, model.labels))
    for sentence in sentences:
        if sentence.path != path:
            path = sentence.path
            print(f"\n  {' › '.join(path)}")
        print(f"  {sentence.label or '–':<{width}}  {100 * (sentence.prob or 0):3.0f} %  {sentence.text}")
    print()
