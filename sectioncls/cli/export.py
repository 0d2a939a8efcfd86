"""``sectioncls export``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Seed

__all__ = ["export"]


def export(
    model: Annotated[
        str, typer.Argument(metavar="ENCODER", help="minilm, sections (the model in the box), a folder, a hub id.")
    ],
    output: Output = None,
    backend: Annotated[Literal["onnx", "openvino"], typer.Option(help="Who runs it.")] = "openvino",
    int8: Annotated[bool, typer.Option("--int8", help="Multiply in 8 bits: several times as fast.")] = False,
    corpus: Annotated[
        Path | None,
        typer.Option(help="A corpus whose train sets the scales and whose dev judges; for --int8, the only one here."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="Points of dev's F1-micro that may be lost; beyond, nothing is written.")
    ] = 0.3,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Export an encoder to ONNX or OpenVINO (default output: encoders/NAME-BACKEND); every verb takes the folder.

    Example: sectioncls export encoders/csabstruct-minilm --int8 --corpus corpora/csabstruct
    """
    from sectioncls.cli.observing import observer
    from sectioncls.corpora import only_corpus, open_corpus
    from sectioncls.predict.label import BOX
    from sectioncls.recipes.export import export_encoder, export_name

    if model == BOX.name and not Path(model).exists():
        model = str(BOX)
    place = corpus or (only_corpus() if int8 else None)
    done = export_encoder(
        model,
        output or Path("encoders") / export_name(model, backend, int8=int8),
        backend=backend,
        int8=int8,
        corpus=None if place is None else open_corpus(place),
        tolerance=tolerance,
        seed=seed,
        overwrite=overwrite,
        observer=observer(quiet=quiet),
    )
    if as_json:
        told = {"folder": str(done.folder), "name": done.name, "before": done.before, "after": done.after}
        print(json.dumps({**told, "loss": done.loss, "bytes": done.size}))
        return
    print(f"{done.folder}: {done.name}, {done.size / 1e6:.0f} MB" + _change(done.before, done.after))


def _change(before: dict[str, float], after: dict[str, float]) -> str:
    from sectioncls.recipes.probe import shown_scores

    return f", dev {shown_scores(before, after)}" if after else ""
