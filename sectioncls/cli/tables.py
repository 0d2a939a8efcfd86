"""Score rows as a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sectioncls.records import Score

__all__ = ["score_table"]

_SHOWN = ("f1-micro", "f1-macro", "ari", "ami", "silhouette")


def score_table(scores: Sequence[Score]) -> str:
    """Give one line per encoder and method: values x100, the interval of the first metric, n and its unit."""
    lines: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        if score.label is None and score.metric in _SHOWN:
            lines.setdefault((score.encoder or "(text)", score.method), {})[score.metric] = score
    head = f"{'encoder':<24} {'method':<26} " + " ".join(f"{metric:>10}" for metric in _SHOWN) + "   95 % interval of"
    rows = [head]
    for (encoder, method), found in lines.items():
        cells = " ".join(f"{100 * found[metric].value:>10.2f}" if metric in found else " " * 10 for metric in _SHOWN)
        first = next(iter(found.values()))
        rows.append(f"{encoder:<24} {method:<26} {cells}   {_interval(first)}")
    return "\n".join(rows)


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{score.metric} {100 * score.low:.1f}-{100 * score.high:.1f} (n {score.n}, by {score.unit})"
