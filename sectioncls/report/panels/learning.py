"""How many labelled sentences an encoder needs, and how many clusters its embeddings fall into."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sectioncls.render import Picture, number, whole
from sectioncls.report.curves import Curve, curves_of
from sectioncls.report.figures import Band, banded
from sectioncls.report.tables import learning_tables
from sectioncls.report.views import RunView, Summary

__all__ = ["build", "pictures"]

_Draw = Callable[[str], Picture]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's learning curves, few-shot scores and choice of k; None when no run has any."""
    entries = [entry for run in summary.runs if (entry := _entry(run))]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def pictures(run: RunView) -> list[tuple[str, _Draw]]:
    """Give the file name of each of these figures of a run and what draws it in a form; [] without such curves."""
    drawn = [("learning-curves", _learning(run)), ("number-of-clusters", _choice(run))]
    return [(name, draw) for name, draw in drawn if draw]


def _entry(run: RunView) -> dict[str, Any] | None:
    tables, chosen = learning_tables(run), _chosen(run)
    if not tables and not chosen:
        return None
    titles = {"learning-curves": "Learning curves: mean and range of the draws", "number-of-clusters": "Gap statistic"}
    drawn = [{"title": titles[name], "picture": draw("page")} for name, draw in pictures(run)]
    return {"run": run, "pictures": drawn, "tables": tables, "labels": len(run.corpus.labels), "chosen": chosen}


def _learning(run: RunView) -> _Draw | None:
    """Give what draws F1-macro by the number of training sentences."""
    found = curves_of(run, "learning", "f1-macro")
    if max((len(one.spots) for one in found), default=0) < 2:
        return None
    ends = "; ".join(
        f"{one.title}: {number(100 * one.spots[0].mean, 1)} from {whole(one.spots[0].x)} sentences, "
        f"{number(100 * one.spots[-1].mean, 1)} from {whole(one.spots[-1].x)}"
        for one in found
    )
    alt = f"F1-macro on test by the number of training sentences, with the range over draws. {ends}."
    lines, label = _bands(found, 100), "F1-macro \N{MULTIPLICATION SIGN} 100"
    return lambda form: banded(lines, x_label="training sentences", y_label=label, alt=alt, form=form)


def _choice(run: RunView) -> _Draw | None:
    """Give what draws the gap statistic by the number of clusters."""
    found = curves_of(run, "k", "gap")
    if max((len(one.spots) for one in found), default=0) < 2:
        return None
    said = "; ".join(f"{one['title']}: {one['words']}" for one in _chosen(run))
    alt = f"Gap statistic of k-means by the number of clusters. {said}".strip()
    lines = _bands(found, 1)
    return lambda form: banded(lines, x_label="clusters", y_label="gap statistic", alt=alt, log=False, form=form)


def _chosen(run: RunView) -> list[dict[str, str]]:
    """Give the numbers of clusters that silhouette and gap choose for each encoder."""
    found = []
    for group in run.groups:
        scores = next((row.scores for row in group.rows if "k-by-gap" in row.scores), None)
        if scores is None or group.encoder is None:
            continue
        by = [(name, scores[f"k-by-{name}"].value) for name in ("silhouette", "gap") if f"k-by-{name}" in scores]
        words = " and ".join(f"{whole(value)} by {name}" for name, value in by)
        found.append({"title": group.encoder.title, "words": words})
    return found


def _bands(found: Iterable[Curve], factor: float) -> dict[str, Band]:
    lines: dict[str, Band] = {}
    for one in found:
        name = one.title if one.title not in lines else f"{one.title} ({one.encoder})"
        sides = [
            [factor * value for value in side]
            for side in zip(*((s.mean, s.low, s.high) for s in one.spots), strict=True)
        ]
        lines[name] = ([spot.x for spot in one.spots], sides[0], sides[1], sides[2])
    return lines
