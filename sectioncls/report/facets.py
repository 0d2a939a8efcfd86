"""What the points of a map may be coloured by: the label of a sentence; field, venue and year of a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sectioncls.render import RANKS, Mark, marks, ranked_marks
from sectioncls.report.views import RunView

__all__ = ["Facet", "facets_of"]

_KINDS = 8  # kinds with a look of their own; the rest share one
_REST, _UNKNOWN = "all others", "not known"


@dataclass(frozen=True, slots=True, eq=False)
class Facet:
    """One way to colour points: ``values`` holds a key of ``looks`` for each row of the run's table of points."""

    name: str
    looks: Mapping[str, Mark]
    values: Sequence[str]


def facets_of(run: RunView, table: Mapping[str, Sequence[Any]]) -> list[Facet]:
    """Give the facets of the table ``projection`` of a run, the first one that which its pictures are drawn by.

    The label of sentences; of papers field, venue and year, as far as the papers differ in them. Kinds beyond eight
    share a look, years stand in four spans of about as many papers each.
    """
    if not run.of_papers:
        return [Facet("label", marks(run.ordered(table["label"])), table["label"])]
    found = [_kinds("field", table["label"]), _kinds("venue", table.get("venue", ())), _spans(table.get("year", ()))]
    differing = [facet for facet in found if len(facet.looks) > 1]
    return differing or [Facet("paper", marks(["paper"]), ["paper"] * len(table["label"]))]


def _kinds(name: str, values: Sequence[str]) -> Facet:
    """Give a facet of names: the commonest, then what is left, then those without a name."""
    counts = Counter(value for value in values if value)
    often = sorted(counts, key=lambda value: (-counts[value], value))
    kept = often if len(often) <= _KINDS + 1 else often[:_KINDS]
    shown = [value if value in kept else _REST if value else _UNKNOWN for value in values]
    order = [*kept, *(rest for rest in (_REST, _UNKNOWN) if rest in shown)]
    return Facet(name, marks(order) | _last(order), shown)


def _spans(years: Sequence[int]) -> Facet:
    """Give years as spans, each of about as many papers."""
    known = np.sort([year for year in years if year >= 0])
    if not len(known):
        return Facet("year", {}, ())
    cuts = sorted({int(known[len(known) * part // RANKS]) for part in range(RANKS)})  # where each span begins
    ends = [*(cut - 1 for cut in cuts[1:]), int(known[-1])]
    names = [str(low) if low == high else f"{low}\N{EN DASH}{high}" for low, high in zip(cuts, ends, strict=True)]
    places = np.searchsorted(cuts, list(years), side="right") - 1
    shown = [names[place] if year >= 0 else _UNKNOWN for year, place in zip(years, places, strict=True)]
    order = [*names, *([_UNKNOWN] if _UNKNOWN in shown else [])]
    return Facet("year", ranked_marks(names) | _last(order), shown)


def _last(order: Sequence[str]) -> dict[str, Mark]:
    """Give what is nothing in particular the look of a role that is none."""
    return {name: marks(["other"])["other"] for name in (_REST, _UNKNOWN) if name in order}
