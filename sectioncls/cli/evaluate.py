"""``sectioncls evaluate``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Seed

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[list[str] | None, typer.Option(help="minilm, scibert, a folder, or a hub id; repeatable.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A corpus folder; default: the only one in corpora/.")] = None,
    protocol: Annotated[
        Literal["default", "paper"], typer.Option(help="paper: exactly as arXiv 2404.00224, oddities included.")
    ] = "default",
    output: Output = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score encoders on a corpus: k-means, five classifiers, text baselines. -o keeps a run folder for ``report``.

    Example: sectioncls evaluate --model minilm --model encoders/csabstruct-minilm --corpus corpora/csabstruct
    """
    from sectioncls.cli.observing import observer
    from sectioncls.cli.tables import score_table
    from sectioncls.corpora import only_corpus, open_corpus
    from sectioncls.recipes import EvaluateOptions, evaluate_models

    scores = evaluate_models(
        model or ["minilm"],
        open_corpus(corpus or only_corpus()),
        EvaluateOptions(protocol=protocol),
        output,
        seed=seed,
        overwrite=overwrite,
        observer=observer(quiet=quiet),
    )
    print(json.dumps([asdict(score) for score in scores]) if as_json else score_table(scores))
