"""``sectioncls context``: how much of a sentence's label its neighbours tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sectioncls.cli.options import Json, Quiet, Seed

if TYPE_CHECKING:
    from sectioncls.records import Score

__all__ = ["context"]


def context(
    model: Annotated[str, typer.Option(help="An encoder that reads sentences alone: a name, a folder, a hub id.")] = (
        "minilm"
    ),
    corpus: Annotated[Path | None, typer.Option(help="A corpus folder; default: the only one in corpora/.")] = None,
    precision: Annotated[
        Literal["float32", "bf16"], typer.Option(help="bf16 encodes faster on new processors, half as exact.")
    ] = "float32",
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare what no text, titles, a sentence, its neighbours and its whole article tell of its label.

    Example: sectioncls context --corpus corpora/pmc
    """
    from sectioncls.cli.observing import observer
    from sectioncls.corpora import only_corpus, open_corpus
    from sectioncls.recipes.context import compare_contexts

    scores = compare_contexts(
        open_corpus(corpus or only_corpus()), model, precision=precision, seed=seed, observer=observer(quiet=quiet)
    )
    print(json.dumps([asdict(score) for score in scores]) if as_json else _table(scores))


def _table(scores: Sequence[Score]) -> str:
    """Give one line a method and context: F1-micro x100 with its interval, F1-macro, the F1 of every label."""
    lines: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        context = score.context if score.encoder else ""
        lines.setdefault((score.method, context), {})[score.label or score.metric] = score
    labels = list(dict.fromkeys(score.label for score in scores if score.label))
    widths = [max(6, len(label)) for label in labels]
    head = f"{'method':<30} {'context':<15} {'f1-micro':>8}  95 % interval  {'f1-macro':>8}  "
    rows = [head + " ".join(f"{label:>{width}}" for label, width in zip(labels, widths, strict=True))]
    for (method, context), found in lines.items():
        first = found["f1-micro"]
        ends = "" if first.low is None or first.high is None else f"{100 * first.low:.1f}-{100 * first.high:.1f}"
        cells = " ".join(f"{100 * found[label].value:>{width}.1f}" for label, width in zip(labels, widths, strict=True))
        macro = 100 * found["f1-macro"].value
        rows.append(f"{method:<30} {context:<15} {100 * first.value:>8.2f}  {ends:<13}  {macro:>8.2f}  {cells}")
    n = scores[0].n
    return "\n".join([*rows, f"{n:,} {scores[0].unit}s of {scores[0].corpus}, test"])
