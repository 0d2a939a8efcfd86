"""One colour and one marker per role, the same in every table, figure and page.

Every colour has a contrast of at least 3 : 1 on the light and on the dark page, and any two stay apart for
readers with deuteranopia, protanopia or tritanopia; the marker says the same without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["DARK", "LIGHT", "MARKERS", "RANKS", "Mark", "marks", "ranked_marks"]

LIGHT = {"paper": "#ffffff", "ink": "#1b2330", "muted": "#59636f", "line": "#d8dde4", "edge": "#7d8793",
         "accent": "#1d5fc2"}  # fmt: skip
DARK = {"paper": "#14171c", "ink": "#e6e9ee", "muted": "#a2abb7", "line": "#343b46", "edge": "#77818d",
        "accent": "#82b1ff"}  # fmt: skip
"""The page's own colours; ``line`` parts, ``edge`` shows where a control is."""

_BLUE, _ORANGE, _GREEN = "#3f86ea", "#dc7030", "#10906a"
_CRIMSON, _VIOLET, _GREY = "#c41c44", "#8b30e0", "#8f8e96"

MARKERS = {
    "circle": "M6 1.5a4.5 4.5 0 1 0 .001 0z",
    "triangle": "M6 1.2 11 10.4H1z",
    "square": "M1.8 1.8h8.4v8.4H1.8z",
    "diamond": "M6 .6 11.2 6 6 11.4 .8 6z",
    "plus": "M4.2 1h3.6v3.2H11v3.6H7.8V11H4.2V7.8H1V4.2h3.2z",
    "cross": "M1 2.9 2.9 1 6 4.1 9.1 1 11 2.9 7.9 6 11 9.1 9.1 11 6 7.9 2.9 11 1 9.1 4.1 6z",
    "pentagon": "M6 .8 11.3 4.7 9.3 10.9H2.7L.7 4.7z",
    "wedge": "M6 10.8 1 1.6h10z",
}
"""Marker name → its outline as an SVG path in a box of 12 × 12."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How one label looks: its colour and the name of its marker (a key of MARKERS)."""

    colour: str
    marker: str


_ROLES = {
    "background": Mark(_BLUE, "circle"),
    "objective": Mark(_ORANGE, "triangle"),
    "method": Mark(_GREEN, "square"),
    "result": Mark(_CRIMSON, "diamond"),
    "conclusion": Mark(_VIOLET, "plus"),
    "other": Mark(_GREY, "cross"),
    "population": Mark(_ORANGE, "triangle"),
    "intervention": Mark(_GREEN, "square"),
    "outcome": Mark(_CRIMSON, "diamond"),
    "study-design": Mark(_VIOLET, "plus"),
}

_SPARE = [
    Mark(colour, marker)
    for markers in (("pentagon", "wedge"), ("circle", "square"), ("triangle", "diamond"), ("plus", "cross"))
    for marker in markers
    for colour in (_VIOLET, _ORANGE, _BLUE, _GREEN, _CRIMSON, _GREY)
]


def marks(labels: Sequence[str]) -> dict[str, Mark]:
    """Give each label its look: roles their own, other labels the next free one, in the order given."""
    known = {label: _ROLES[label] for label in labels if label in _ROLES}
    free = [mark for mark in _SPARE if mark not in known.values()]
    unknown = [label for label in labels if label not in _ROLES]
    spare = {label: free[position % len(free)] for position, label in enumerate(unknown)}
    return {label: known.get(label) or spare[label] for label in labels}


_RANKED = [Mark(_BLUE, "circle"), Mark(_VIOLET, "square"), Mark(_CRIMSON, "diamond"), Mark(_ORANGE, "triangle")]
RANKS = len(_RANKED)
"""As many steps as ``ranked_marks`` can show."""


def ranked_marks(labels: Sequence[str]) -> dict[str, Mark]:
    """Give RANKS labels at most that have an order their looks, from cold to warm.

    No ramp of lightness: all of its colours would have to stand out on a white and on a black page.
    """
    return dict(zip(labels, _RANKED, strict=False))
