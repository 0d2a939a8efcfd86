"""``sectioncls transfer``: a trained model on corpora that it may never have seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sectioncls.cli.options import Json, Output, Overwrite, Quiet, Seed

if TYPE_CHECKING:
    from sectioncls.records import Score

__all__ = ["transfer"]

_SHOWN = ("hit-rate", "f1-micro", "f1-macro", "ece", "ece-recalibrated")


def transfer(
    corpora: Annotated[list[Path], typer.Argument(help="Corpus folders.", show_default=False)],
    model: Annotated[
        list[Path] | None, typer.Option(help="A model folder, repeatable; default: the model in the box.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split to score; default: test, else the first.")] = None,
    output: Output = None,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score trained models on corpora: F1 by label, calibration as it comes and after 100 sentences.

    -o keeps a run folder whose report shows the matrix of models and corpora.

    Example: sectioncls transfer corpora/nicta corpora/biorc800
    """
    from sectioncls.cli.observing import observer
    from sectioncls.corpora import open_corpus
    from sectioncls.predict import load_model
    from sectioncls.recipes.transfer import transfer_run

    opened = [open_corpus(path) for path in corpora]
    chosen = [load_model(path) for path in model] if model else [load_model()]
    scores = transfer_run(
        chosen, opened, output, split=split, seed=seed, overwrite=overwrite, observer=observer(quiet=quiet)
    )
    if as_json:
        print(json.dumps([asdict(score) for score in scores]))
        return
    labels = list(dict.fromkeys(label for one in chosen for label in one.labels))
    for name in dict.fromkeys(score.encoder for score in scores):
        if len(chosen) > 1:
            print(name)
        print(_table([score for score in scores if score.encoder == name], labels))
    if output is not None:
        print(f"report: {output / 'report.html'}")


def _table(scores: Sequence[Score], labels: Sequence[str]) -> str:
    """Give one line a corpus: values x100, the F1 of every label, n."""
    found: dict[str, dict[str, Score]] = {}
    for score in scores:
        found.setdefault(score.corpus, {})[score.label or score.metric] = score
    width = max(len(name) for name in (*found, "corpus"))
    columns = (*_SHOWN, *labels)
    lines = [f"{'corpus':<{width}}  {'n':>6}  " + "  ".join(f"{name:>8}" for name in columns)]
    for corpus, values in found.items():
        first = values.get("f1-micro") or next(iter(values.values()))
        cells = (
            f"{100 * values[name].value:>{max(8, len(name))}.2f}" if name in values else " " * max(8, len(name))
            for name in columns
        )
        lines.append(f"{corpus:<{width}}  {first.n:>6}  " + "  ".join(cells))
    return "\n".join(lines)
