"""``sectioncls distill``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Seed

__all__ = ["distill"]


def distill(
    model: Annotated[str, typer.Argument(metavar="ENCODER", help="minilm, scibert, a folder, or a hub id.")],
    corpus: Annotated[
        Path | None, typer.Option(help="A corpus to fit the vectors to, and to choose on its dev; without, neither.")
    ] = None,
    output: Output = None,
    dims: Annotated[int, typer.Option(min=1, help="Numbers of a vector.")] = 256,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Distil an encoder into a static one, which looks words up and runs no network (default: encoders/NAME-static).

    Example: sectioncls distill encoders/csabstruct-minilm --corpus corpora/csabstruct
    """
    from sectioncls.cli.observing import observer
    from sectioncls.corpora import open_corpus
    from sectioncls.recipes.distill import distill_encoder
    from sectioncls.recipes.facts import model_facts
    from sectioncls.recipes.probe import shown_scores

    done = distill_encoder(
        model,
        output or Path("encoders") / f"{model_facts(model)['name']}-static",
        corpus=None if corpus is None else open_corpus(corpus),
        dims=dims,
        seed=seed,
        overwrite=overwrite,
        observer=observer(quiet=quiet),
    )
    if as_json:
        told = {"folder": str(done.folder), "name": done.name, "way": done.way}
        print(json.dumps({**told, "teacher": done.teacher, "dev": done.dev}))
        return
    scores = f", dev {shown_scores(done.teacher, done.dev)} beside the teacher" if done.dev else ""
    print(f"{done.folder}: {done.name}, {done.way}{scores}")
