"""Curves of a run, gathered from its table: one per encoder, the draws of a size as one point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sectioncls.report.views import RunView

__all__ = ["Curve", "Spot", "curves_of"]


@dataclass(frozen=True, slots=True)
class Spot:
    """One point of a curve: the mean over its draws, the least and the largest, and how many draws there were."""

    x: float
    mean: float
    low: float
    high: float
    draws: int


@dataclass(frozen=True, slots=True)
class Curve:
    """One encoder's curve: who it is, by which method, and the points with x rising."""

    encoder: str
    title: str
    method: str
    spots: tuple[Spot, ...]

    def at(self, x: float) -> Spot | None:
        """Give the point at ``x``; None where the curve has none."""
        return next((spot for spot in self.spots if spot.x == x), None)


def curves_of(run: RunView, curve: str, series: str) -> list[Curve]:
    """Give one curve of every encoder that has it, in the run's order; [] where the run has none."""
    table = run.run.read_table("curves")
    found: dict[tuple[str, str], dict[float, list[float]]] = {}
    rows = zip(*(table.get(name, ()) for name in ("encoder", "method", "curve", "series", "x", "y")), strict=True)
    for encoder, method, kind, name, x, y in rows:
        if (kind, name) == (curve, series):
            found.setdefault((encoder, method), {}).setdefault(float(x), []).append(float(y))
    order = {key: place for place, key in enumerate(run.encoders)}
    owners = sorted(found, key=lambda one: (order.get(one[0], len(order)), one))
    return [Curve(owner[0], _title(run, owner[0]), owner[1], tuple(_spots(found[owner]))) for owner in owners]


def _spots(points: Mapping[float, list[float]]) -> Iterator[Spot]:
    for x in sorted(points):
        values = points[x]
        yield Spot(x, sum(values) / len(values), min(values), max(values), len(values))


def _title(run: RunView, encoder: str) -> str:
    return run.encoders[encoder].title if encoder in run.encoders else encoder
