"""``sectioncls transfer``: a trained model on corpora that it may never have seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sectioncls.cli.options import Json, Quiet, Seed

if TYPE_CHECKING:
    from sectioncls.records import Score

__all__ = ["transfer"]

_SHOWN = ("hit-rate", "f1-micro", "f1-macro", "ece", "ece-recalibrated")


def transfer(
    corpora: Annotated[list[Path], typer.Argument(help="Corpus folders.", show_default=False)],
    model: Annotated[Path | None, typer.Option(help="A model folder; default: the model in the box.")] = None,
    split: Annotated[str | None, typer.Option(help="Split to score; default: test, else the first.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score a trained model on corpora: F1 by label, calibration as it comes and after 100 sentences.

    Example: sectioncls transfer corpora/nicta corpora/biorc800
    """
    from sectioncls.cli.observing import observer
    from sectioncls.corpora import open_corpus
    from sectioncls.predict import load_model
    from sectioncls.recipes.transfer import transfer_scores

    chosen = load_model(model)
    opened = [open_corpus(path) for path in corpora]
    scores: list[Score] = []
    with observer(quiet=quiet).stage("labelling", len(opened), "corpora") as advance:
        for corpus in opened:
            scores += transfer_scores(chosen, corpus, split=split, seed=seed)
            advance(1)
    print(json.dumps([asdict(score) for score in scores]) if as_json else _table(scores, chosen.labels))


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
