"""Figures that need a plotting library: maps of embeddings and curves, as SVG in the reader's colours.

The same input gives the same bytes: fixed ids, no date, text kept as text. ``form`` is ``page`` (an SVG in the reader's
colours) or a file of its own: ``svg``, ``pdf``, ``png`` in ink on white.
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

__all__ = ["FORMS", "Band", "banded", "curves", "embedding_map", "pipeline", "precision_recall", "reliability"]

FORMS = ("svg", "pdf", "png")
"""What a figure may be written as."""

VECTOR_POINTS = 4000
"""Up to so many points a map is drawn as shapes, above as pixels (the page stays small and quick)."""

Band = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]
"""A line with its spread: x, mean, low, high."""

_COLOURS = ("#3f86ea", "#dc7030", "#10906a", "#c41c44", "#8b30e0", "#8f8e96")
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
    "text.parse_math": False,
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
    x: Sequence[float],
    y: Sequence[float],
    labels: Sequence[str],
    looks: Mapping[str, Mark],
    alt: str,
    form: str = "page",
) -> Picture:
    """Give a map of points, one marker and colour per label; labels are mixed so that none lies on top.

    A file of its own has the legend below, which a page shows beside its maps.
    """
    with _figure(4.6, 4.6, form) as (figure, axes):
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
        foot = 0.005 if form == "page" else _legend(figure, looks)
        figure.subplots_adjust(left=0.005, right=0.995, bottom=foot, top=0.995)
        return _picture(figure, alt, form)


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    y_label: str,
    alt: str,
    x_label: str = "",
    logarithmic: bool = False,
    points: bool = False,
    form: str = "page",
) -> Picture:
    """Give curves over the training step (or ``x_label``), each named at its end; ``points`` marks every value.

    ``logarithmic`` is of the horizontal axis, whose values must be above 0.
    """
    with _figure(4.8, 3.0, form) as (figure, axes):
        ends = []
        for position, (name, (steps, values)) in enumerate(lines.items()):
            colour = _COLOURS[position % len(_COLOURS)]
            marker = list(_SHAPES.values())[position % len(_SHAPES)] if points else None
            axes.plot(steps, values, color=colour, lw=1.6, marker=marker, ms=4.5, solid_capstyle="round")
            ends.append((float(values[-1]), name, colour))
        axes.grid(axis="y", color=_colour(_LINE, "line", form), lw=0.7)
        axes.set_axisbelow(True)
        axes.set_xlabel(x_label or "training step")
        axes.set_ylabel(y_label)
        axes.margins(x=0.02)
        axes.spines["left"].set_visible(False)
        if logarithmic:
            _plain_logarithm(axes, sorted({x for steps, _ in lines.values() for x in steps}))
        elif not x_label:
            axes.xaxis.set_major_locator(_whole_ticks())
        if len(lines) > 1:
            _name_ends(axes, ends)
        room = 0.78 if len(lines) > 1 else 0.98
        figure.subplots_adjust(left=0.15 if x_label else 0.12, right=room, bottom=0.16, top=0.97)
        return _picture(figure, alt, form)


def banded(
    lines: Mapping[str, Band], *, x_label: str, y_label: str, alt: str, log: bool = True, form: str = "page"
) -> Picture:
    """Give lines with the spread around each, over sizes on a logarithmic axis where ``log``; all are named below."""
    with _figure(4.8, 3.4, form) as (figure, axes):
        for position, (name, (x, middle, low, high)) in enumerate(lines.items()):
            colour, shape = _COLOURS[position % len(_COLOURS)], list(_SHAPES.values())[position % len(_SHAPES)]
            axes.fill_between(x, low, high, color=colour, alpha=0.18, lw=0)
            axes.plot(x, middle, color=colour, lw=1.6, marker=shape, ms=4.5, solid_capstyle="round", label=name)
        _grid(axes, form, x_label, y_label)
        ticks = sorted({value for x, *_ in lines.values() for value in x})
        if log:
            axes.set_xscale("log")
        shown = ticks if len(ticks) <= 6 else ticks[:: -(-len(ticks) // 6)]
        axes.set_xticks(shown, [f"{tick:,.0f}" for tick in shown])
        axes.minorticks_off()
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(-0.02, -0.17), handlelength=1.6, borderaxespad=0)
        figure.subplots_adjust(left=0.12, right=0.98, bottom=0.19 + 0.06 * len(lines), top=0.97)
        return _picture(figure, alt, form)


def precision_recall(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    looks: Mapping[str, Mark],
    alt: str,
    form: str = "page",
) -> Picture:
    """Give precision against recall, (recall, precision) as fractions of each label, in the labels' colours."""
    with _figure(4.4, 3.9, form) as (figure, axes):
        for label, (recall, precision) in lines.items():
            x, y = 100 * np.asarray(recall, float), 100 * np.asarray(precision, float)
            marked = max(1, len(x) // 5)
            axes.plot(
                x, y, color=looks[label].colour, lw=1.6, marker=_SHAPES[looks[label].marker], ms=5,
                markevery=(marked // 2, marked), label=label,
            )  # fmt: skip
        _grid(axes, form, "recall, %", "precision, %")
        axes.set_xlim(0, 102)
        axes.set_ylim(0, 102)
        columns = 3 if max(map(len, lines)) < 14 else 1
        axes.legend(
            frameon=False, loc="upper left", bbox_to_anchor=(-0.02, -0.15), ncols=columns, handlelength=1.6,
            borderaxespad=0, columnspacing=1.2,
        )  # fmt: skip
        rows = -(-len(lines) // columns)
        figure.subplots_adjust(left=0.13, right=0.98, bottom=0.17 + 0.055 * rows, top=0.98)
        return _picture(figure, alt, form)


def pipeline(steps: Sequence[tuple[str, str, Sequence[str]]], alt: str, form: str = "page") -> Picture:
    """Give boxes from left to right with arrows between them: (what, how many, small print) of each step."""
    lines = max((len(small) for _, _, small in steps), default=0)
    height = 0.72 + 0.145 * lines
    with _figure(1.75 * len(steps), height, form) as (figure, axes):
        axes.set_axis_off()
        axes.set_xlim(0, len(steps))
        axes.set_ylim(height, 0)  # inches from above
        ink, muted = _colour(_INK, "ink", form), _colour(_MUTED, "muted", form)
        for place, (what, value, small) in enumerate(steps):
            x = place + 0.04
            axes.text(x, 0.05, what, color=muted, fontsize=9, va="top")
            axes.text(x, 0.25, value, color=ink, fontsize=14, va="top")
            axes.text(x, 0.56, "\n".join(small), color=muted, fontsize=7.5, va="top", linespacing=1.35)
            if place:
                ends = (place - 0.01, 0.35), (place - 0.17, 0.35)
                axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": ink})
        figure.subplots_adjust(left=0.01, right=0.99, bottom=0, top=1)
        return _picture(figure, alt, form)


def reliability(bins: Sequence[tuple[float, float, int]], alt: str, form: str = "page") -> Picture:
    """Give a reliability diagram: (mean probability, share that is right, sentences) of each bin as fractions.

    Paper: arXiv 1706.04599, figure 1.
    """
    with _figure(4.0, 3.6, form) as (figure, axes):
        muted, line = _colour(_MUTED, "muted", form), _colour(_LINE, "line", form)
        axes.plot([0, 100], [0, 100], color=muted, lw=1.0, ls=(0, (3, 3)))
        x = [100 * probability for probability, _, _ in bins]
        y = [100 * right for _, right, _ in bins]
        total = sum(n for _, _, n in bins)
        sizes = [12 + 240 * n / total for _, _, n in bins]
        axes.vlines(x, x, y, color=muted, lw=1.2)
        axes.scatter(x, y, s=sizes, c="#3f86ea", linewidths=0, alpha=0.9, zorder=3)
        axes.grid(color=line, lw=0.7)
        axes.set_axisbelow(True)
        axes.set_xlabel("probability of the predicted label, %")
        axes.set_ylabel("predictions that are right, %")
        axes.set_xlim(0, 102)
        axes.set_ylim(-2, 102)
        figure.subplots_adjust(left=0.15, right=0.98, bottom=0.15, top=0.98)
        return _picture(figure, alt, form)


def _legend(figure: Figure, looks: Mapping[str, Mark]) -> float:
    """Write what the markers mean under a map that grows by it; give the share of the height that this takes."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], ls="", marker=_SHAPES[look.marker], color=look.colour, ms=6, label=label)
        for label, look in looks.items()
    ]
    columns = 3 if max(map(len, looks), default=0) < 18 else 1
    width, height = figure.get_size_inches()
    room = 0.24 * -(-len(handles) // columns) + 0.1
    figure.set_size_inches(width, height + room)
    figure.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 0), ncols=columns, frameon=False, handletextpad=0.2,
        borderaxespad=0.2, columnspacing=1.4,
    )  # fmt: skip
    return float(room / (height + room))


def _grid(axes: Axes, form: str, x_label: str, y_label: str) -> None:
    axes.grid(color=_colour(_LINE, "line", form), lw=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.spines["left"].set_visible(False)


def _name_ends(axes: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each curve's name at its last value, far enough from the next to be read."""
    low, high = axes.get_ylim()
    gap, last = (high - low) * 0.075, -np.inf
    for value, name, colour in sorted(ends):
        last = max(value, last + gap)
        axes.annotate(name, (1.02, (last - low) / (high - low)), xycoords="axes fraction", color=colour, va="center")


def _plain_logarithm(axes: Axes, values: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic, with ticks at the values that are measured, as far as they have room."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    shown: list[float] = []
    for value in values:
        if not shown or value / shown[-1] >= 1.55:
            shown.append(value)
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _whole_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, integer=True)


@contextmanager
def _figure(width: float, height: float, form: str) -> Iterator[tuple[Figure, Axes]]:
    """Give a figure and its axes (inches) under our settings, without touching global state for good."""
    import matplotlib
    from matplotlib.figure import Figure

    colours = {} if form == "page" else {_INK: LIGHT["ink"], _MUTED: LIGHT["muted"], _LINE: LIGHT["line"]}
    settings = {name: colours.get(str(value), value) for name, value in _SETTINGS.items()}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(width, height), dpi=160)
        yield figure, figure.subplots()


def _colour(stand_in: str, name: str, form: str) -> str:
    return stand_in if form == "page" else LIGHT[name]


_MEDIA = {"page": "image/svg+xml", "svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
_NO_DATE: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "png": {"Software": None},
}


def _picture(figure: Figure, alt: str, form: str) -> Picture:
    """Give the figure in one form; for a page, as an SVG that takes its ink from the reader's colour scheme."""
    width, height = (round(96 * side) for side in figure.get_size_inches())
    if form != "page":
        file = io.BytesIO()
        figure.savefig(file, format=form, dpi=300, facecolor="white", metadata=_NO_DATE[form])
        return Picture(file.getvalue(), alt, width, height, _MEDIA[form])
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", transparent=True, metadata=_NO_DATE["svg"])
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
    return Picture(svg.encode("utf-8"), alt, width, height)


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--{name}:{colours[name]}" for name in ("ink", "muted", "line"))
