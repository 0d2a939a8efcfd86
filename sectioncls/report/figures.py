"""Figures that need a plotting library: maps of embeddings and training curves, as SVG in the reader's colours.

The same input gives the same bytes: fixed ids, no date, text kept as text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sectioncls.render import DARK, LIGHT, Mark, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["curves", "embedding_map"]

VECTOR_POINTS = 4000
"""Up to so many points a map is drawn as shapes, above as pixels (the page stays small and quick)."""

_INK, _MUTED, _LINE = "#010203", "#040506", "#070809"  # stand-ins that become variables of the SVG
_SHAPES = {
    "circle": "o",
    "triangle": "^",
    "square": "s",
    "diamond": "D",
    "plus": "P",
    "cross": "X",
    "pentagon": "p",
    "wedge": "v",
}
_SETTINGS = {
    "svg.hashsalt": "sectioncls",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 1.0,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
}


def embedding_map(
    x: Sequence[float], y: Sequence[float], labels: Sequence[str], looks: Mapping[str, Mark], alt: str
) -> Picture:
    """Give a map of points, one marker and colour per label; labels are mixed so that none lies on top."""
    with _figure(4.6, 4.6) as (figure, axes):
        points = np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])
        names = np.asarray(labels, dtype=object)
        order = np.random.default_rng(0).permutation(len(points))
        size = float(np.clip(9000 / max(len(points), 1), 3, 22))
        for part in np.array_split(order, 12 if len(points) > 200 else 1):
            for label, look in looks.items():
                chosen = points[part[names[part] == label]]
                if len(chosen):
                    axes.scatter(
                        chosen[:, 0], chosen[:, 1], s=size, marker=_SHAPES[look.marker], c=look.colour,
                        alpha=0.85, linewidths=0, rasterized=len(points) > VECTOR_POINTS,
                    )  # fmt: skip
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(True)
        figure.subplots_adjust(left=0.005, right=0.995, bottom=0.005, top=0.995)
        return _picture(figure, alt)


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    y_label: str,
    alt: str,
    points: bool = False,
) -> Picture:
    """Give curves over the training step, each named at its end; ``points`` marks every value."""
    colours = ["#3f86ea", "#dc7030", "#10906a", "#c41c44", "#8b30e0", "#8f8e96"]
    with _figure(4.8, 3.0) as (figure, axes):
        ends = []
        for position, (name, (steps, values)) in enumerate(lines.items()):
            colour = colours[position % len(colours)]
            marker = list(_SHAPES.values())[position % len(_SHAPES)] if points else None
            axes.plot(steps, values, color=colour, lw=1.6, marker=marker, ms=4.5, solid_capstyle="round")
            ends.append((float(values[-1]), name, colour))
        axes.grid(axis="y", color=_LINE, lw=0.7)
        axes.set_axisbelow(True)
        axes.set_xlabel("training step")
        axes.set_ylabel(y_label)
        axes.margins(x=0.02)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(_whole_ticks())
        if len(lines) > 1:
            _name_ends(axes, ends)
        room = 0.78 if len(lines) > 1 else 0.98
        figure.subplots_adjust(left=0.12, right=room, bottom=0.16, top=0.97)
        return _picture(figure, alt)


def _name_ends(axes: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each curve's name at its last value, far enough from the next to be read."""
    low, high = axes.get_ylim()
    gap, last = (high - low) * 0.075, -np.inf
    for value, name, colour in sorted(ends):
        last = max(value, last + gap)
        axes.annotate(name, (1.02, (last - low) / (high - low)), xycoords="axes fraction", color=colour, va="center")


def _whole_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, integer=True)


@contextmanager
def _figure(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure and its axes (inches) under our settings, without touching global state for good."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), dpi=160)
        yield figure, figure.subplots()


def _picture(figure: Figure, alt: str) -> Picture:
    """Give the figure as an SVG that takes its ink from the reader's colour scheme."""
    stream = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    svg = stream.getvalue().decode("utf-8")
    svg = re.sub(r"<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*|<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    for stand_in, name in ((_INK, "ink"), (_MUTED, "muted"), (_LINE, "line")):
        svg = svg.replace(stand_in, f"var(--{name})")
    style = "".join(
        (
            "<style>",
            f"svg{{{_variables(LIGHT)}}}",
            f"@media (prefers-color-scheme: dark){{svg{{{_variables(DARK)}}}}}",
            "text{font-family:system-ui,sans-serif!important}",
            "</style>",
        )
    )
    svg = re.sub(r"(<svg\b[^>]*>)", rf"\1{style}", svg, count=1)
    width, height = figure.get_size_inches() * 96
    return Picture(svg.encode("utf-8"), alt, round(width), round(height))


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--{name}:{colours[name]}" for name in ("ink", "muted", "line"))
