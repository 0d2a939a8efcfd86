"""``sectioncls evaluate``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from sectioncls.cli.options import Cache, Json, Output, Overwrite, Quiet, Seed

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[list[str] | None, typer.Option(help="minilm, scibert, a folder, or a hub id; repeatable.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A corpus folder; default: the only one in corpora/.")] = None,
    protocol: Annotated[
        Literal["default", "paper", "tuned"],
        typer.Option(help="paper: exactly as arXiv 2404.00224, oddities included; tuned: settings chosen on dev."),
    ] = "default",
    clustering: Annotated[
        list[str] | None,
        typer.Option(help="kmeans (default), minibatch-kmeans, spherical-kmeans, agglomerative, hdbscan; repeatable."),
    ] = None,
    classifier: Annotated[
        list[str] | None, typer.Option(help="Run this classifier instead of the protocol's own; repeatable.")
    ] = None,
    curve: Annotated[
        list[str] | None, typer.Option(help="Also learning, few-shot, k (number of clusters); repeatable.")
    ] = None,
    projection: Annotated[
        list[str] | None,
        typer.Option(help="Pictures that -o keeps: tsne (default), opentsne, umap, pca; repeatable."),
    ] = None,
    points: Annotated[int, typer.Option(help="Test sentences of each picture, at most.", min=5)] = 2000,
    seeds: Annotated[int, typer.Option(help="Run what depends on chance with this many seeds.", min=1)] = 1,
    engine: Annotated[
        Literal["auto", "scikit-learn", "intelex"],
        typer.Option(help="Who computes SVM and neighbours; auto: intelex where it is installed and rows are many."),
    ] = "auto",
    cache: Cache = None,
    output: Output = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score encoders on a corpus: clusterings, classifiers, text baselines. -o keeps a run folder for ``report``.

    Example: sectioncls evaluate --model minilm --model encoders/csabstruct-minilm --corpus corpora/csabstruct
    """
    from sectioncls.cli.observing import observer
    from sectioncls.cli.tables import score_table
    from sectioncls.corpora import only_corpus, open_corpus
    from sectioncls.recipes import EvaluateOptions, evaluate_models
    from sectioncls.recipes.schema import checked

    asked = {
        "protocol": protocol,
        "clusterings": clustering or ("kmeans",),
        "classifiers": classifier or (),
        "curves": curve or (),
        "projections": projection or ("tsne",),
        "points": points,
        "seeds": seeds,
        "engine": engine,
    }
    scores = evaluate_models(
        model or ["minilm"],
        open_corpus(corpus or only_corpus()),
        checked(EvaluateOptions, asked, "evaluate", usage=True),
        output,
        seed=seed,
        cache=cache,
        overwrite=overwrite,
        observer=observer(quiet=quiet),
    )
    print(json.dumps([asdict(score) for score in scores]) if as_json else score_table(scores))
