"""Studies: the papers' claims with their verdicts on one screen, and what each study measured below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sectioncls.errors import InputError
from sectioncls.render import Picture, number, signed, whole
from sectioncls.report.figures import curves
from sectioncls.report.views import RunView, Summary

if TYPE_CHECKING:
    from sectioncls.report.tables import Table

__all__ = ["build", "study_tables"]

_VERDICTS = ("confirmed", "refuted", "undecided here", "needs weights that are not here")
_SHORT = {"needs weights that are not here": "needs weights"}
_MARKS = {"confirmed": "yes", "refuted": "no", "undecided here": "open", "needs weights that are not here": "none"}
# Rows of a measure up to which the page shows them without being asked.
_OPEN = 14
# Lines of a figure that can still be told apart.
_LINES = 6


def build(summary: Summary) -> dict[str, Any] | None:
    """Give the claims of all studies and what each measured; None where no run is a study."""
    entries = [entry for run in summary.runs if (entry := _entry(run)) is not None]
    if not entries:
        return None
    claims = [claim for entry in entries for claim in entry["claims"]]
    counts = Counter(claim["verdict"] for claim in claims)
    papers: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        papers.setdefault(entry["paper"], []).extend(entry["claims"])
    return {
        "entries": entries,
        "papers": papers,
        "lead": _lead(counts, len(entries)),
        "counts": [(name, counts[name]) for name in _VERDICTS if counts[name]],
        "quick": [entry["name"] for entry in entries if entry["quick"]],
        "marks": _MARKS,
        "short": _SHORT,
    }


def study_tables(summary: Summary) -> list[Table]:
    """Give the claims of all studies, and what each study measured, as tables for Markdown, LaTeX and JSON."""
    from sectioncls.report.tables import Cell, Column, Table  # tables.py reads a panel

    values = build(summary)
    if values is None:
        return []
    heads = ("Claim", "Published", "Verdict here", "What was found")
    columns = tuple(Column(head, words=True) for head in heads)
    tables = []
    for paper, claims in values["papers"].items():
        rows = tuple(tuple(Cell(claim[key]) for key in ("text", "published", "verdict", "reason")) for claim in claims)
        if rows:
            notes = tuple(f"{name} is a quick trial on made-up papers" for name in values["quick"])
            caption = f"Claims of {paper}, in our words, and what was found here."
            tables.append(Table("studies", f"Claims of {paper}", caption, columns, rows, notes))
    for entry in values["entries"]:
        for one in entry["measures"]:
            heading = tuple(Column(name, words=not numeric) for name, numeric in one["columns"])
            cells = tuple(tuple(Cell(text) for text, _ in row) for row in one["rows"])
            title = f"{one['title']} ({entry['name']})"
            tables.append(Table("measure", title, one["caption"], heading, cells, tuple(one["notes"])))
    return tables


def _lead(counts: Counter[str], studies: int) -> str:
    total = sum(counts.values())
    parts = [f"{counts[name]} {_SHORT.get(name, name)}" for name in _VERDICTS if counts[name]]
    claims, of = ("claim" if total == 1 else "claims"), ("study" if studies == 1 else "studies")
    return f"{total} published {claims} in {studies} {of}: {', '.join(parts)}." if total else f"{studies} {of}."


def _entry(run: RunView) -> dict[str, Any] | None:
    """Give one study; None for a run that is none. Raises InputError where run.json is not what a study writes."""
    study = run.info.get("study")
    if study is None:
        return None
    try:
        name = run.name
        return {
            "name": name,
            "anchor": f"study-{name}",
            "paper": str(study["paper"]),
            "title": str(study["title"]),
            "quick": bool(study["quick"]),
            "claims": [_claim(claim, name, str(study["title"])) for claim in study["claims"]],
            "measures": [_measure(one) for one in study["measures"]],
            "corpus": run.corpus.name,
            "command": f"sectioncls run papers/studies/{run.info.get('name', name)}",
            "seconds": sum(float(value) for value in (run.info.get("seconds") or {}).values()),
            "seeds": _seeds(run),
            "papers": _encoded(run),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"holds a study that can't be read: {error}", run.run.path / "run.json") from error


def _seeds(run: RunView) -> str:
    """Give the seeds of a run's encoders, or that of its measures."""
    seeds = run.info.get("seeds") or [(run.info.get("recipe") or {}).get("seed", 0)]
    return ", ".join(map(str, seeds))


def _encoded(run: RunView) -> int:
    """Give how many papers all trainings of a run encoded forward and backward."""
    return sum(int(facts.get("papers") or 0) for facts in (run.info.get("encoders") or {}).values())


def _claim(claim: Mapping[str, Any], study: str, title: str) -> dict[str, Any]:
    gaps = [_gap(gap) for gap in claim["gaps"]]
    if claim["verdict"] not in _VERDICTS:
        raise ValueError(f"no verdict {claim['verdict']!r}")
    keys = ("text", "source", "published", "verdict", "reason")
    return {**{key: str(claim[key]) for key in keys}, "gaps": gaps, "study": study, "title": title}


def _gap(gap: Mapping[str, Any]) -> dict[str, str]:
    """Give a comparison in words; points × 100 where it is one of encoders."""
    points = gap["unit"] in ("queries or papers", "query or paper")
    factor, digits = (100.0, 1) if points else (1.0, 3)
    low, high, seen = (None if gap[key] is None else factor * gap[key] for key in ("low", "high", "detectable"))
    ends = "" if low is None or high is None else f"{signed(low, digits)} to {signed(high, digits)}"
    return {
        "what": f"{gap['better']} less {gap['worse']}",
        "where": str(gap["where"]),
        "difference": signed(factor * gap["difference"], digits),
        "ends": ends,
        "n": f"{whole(gap['n'])} {gap['unit']}",
        "seen": "" if seen is None else number(seen, digits),
        "verdict": str(gap["verdict"]),
    }


def _measure(table: Mapping[str, Any]) -> dict[str, Any]:
    """Give a measured table with its cells as text, and its figures."""
    columns = [str(column) for column in table["columns"]]
    rows = [list(row) for row in table["rows"]]
    forms = [_form([row[at] for row in rows]) for at in range(len(columns))]
    heat = bool(table["heat"])
    return {
        "title": str(table["title"]),
        "caption": str(table["caption"]),
        "notes": [str(note) for note in table["notes"]],
        "columns": [(column, forms[at] != "words") for at, column in enumerate(columns)],
        "rows": [
            [(_cell(value, forms[at]), _shade(value) if heat and at else "") for at, value in enumerate(row)]
            for row in rows
        ],
        "folded": len(rows) > _OPEN,
        "figures": [picture for line in table["figures"] if (picture := _figure(table, line)) is not None],
    }


def _form(values: Sequence[Any]) -> str:
    """Give how a column is written: words, whole numbers, or numbers of so many decimals."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known):
        return "words"
    if all(isinstance(value, int) for value in known):
        return "whole"
    largest = max((abs(value) for value in known), default=0.0)
    return "3" if largest < 10 else "1"


def _cell(value: Any, form: str) -> str:
    if form == "words":
        return "" if value is None else str(value)
    return whole(value) if form == "whole" else number(value, int(form))


def _shade(value: Any) -> str:
    """Give the depth of a cell's colour in per cent, with its sign: nothing for an undefined correlation."""
    return "" if not isinstance(value, int | float) else f"{round(60 * max(-1.0, min(1.0, value)))}"


def _figure(table: Mapping[str, Any], line: Mapping[str, Any]) -> Picture | None:
    """Give the picture of a table's line; None where there is nothing to draw. Rows of one place are averaged."""
    columns = list(table["columns"])
    x, y = columns.index(line["x"]), columns.index(line["y"])
    series = columns.index(line["series"]) if line["series"] else None
    found: dict[str, dict[float, list[float]]] = {}
    for row in table["rows"]:
        if row[x] is not None and row[y] is not None:
            name = "" if series is None else f"{line['series'].replace('k_plus', 'k⁺')} {row[series]}"
            found.setdefault(name, {}).setdefault(float(row[x]), []).append(float(row[y]))
    kept = {name: points for name, points in found.items() if len(points) > 1}
    step = -(-len(kept) // _LINES)
    lines = {name: _line(kept[name]) for name in list(kept)[:: max(1, step)]}
    if not lines:
        return None
    label = {"k_plus": "k⁺", "k_minus": "k⁻"}
    alt = f"{line['y']} along {label.get(line['x'], line['x'])}: " + "; ".join(
        f"{name + ' ' if name else ''}{values[0]:.3g} to {values[-1]:.3g}" for name, (_, values) in lines.items()
    )
    return curves(
        lines,
        y_label=str(line["y"]),
        x_label=label.get(line["x"], str(line["x"])),
        logarithmic=bool(line["logarithmic"]),
        alt=alt,
        points=True,
    )


def _line(points: Mapping[float, Sequence[float]]) -> tuple[list[float], list[float]]:
    places = sorted(points)
    return places, [sum(points[place]) / len(points[place]) for place in places]
