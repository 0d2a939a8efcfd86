"""What follows from the scores of paper encoders: claims, formats against formats, interference, leaks, new tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sectioncls.records import Score
from sectioncls.report.published import load_published
from sectioncls.report.views import Measured, RunView

__all__ = ["findings", "format_taught", "leak_twins"]

FORMATS = ("classification", "regression", "proximity", "search")
_TAUGHT = {
    "links": "proximity",
    "cocite": "proximity",
    "couple": "proximity",
    "authors": "proximity",
    "topics": "classification",
    "class": "classification",
    "year": "regression",
    "citations": "regression",
    "target": "regression",
    "search": "search",
    "titles": "search",
}
_SCIREPEVAL = "arxiv_2211_13308"
# Our groups of tasks → those of the printed averages.
_GROUPS = {"in-train": "in-train", "held-out": "held-out, without SciDocs", "all": "all"}
_MARKS = {"confirmed": "yes", "refuted": "no", "undecided": "open", "not testable here": "none"}

Cells = Mapping[str, Measured]


def findings(
    run: RunView, rows: Mapping[str, Cells], means: Mapping[str, Cells], vanilla: str | None
) -> dict[str, Any]:
    """Give what stands below a run's tables; ``rows`` and ``means`` are these, by encoder."""
    # A study judges its own claims, and says so first on its page.
    claims = [] if run.info.get("study") else [dict(claim) for claim in run.info.get("claims") or ()]
    tested = [claim for claim in claims if claim.get("verdict") != "not testable here"]
    return {
        "lead": _held_out(means, vanilla),
        "claims": tested,
        "untested": [claim for claim in claims if claim not in tested],
        "marks": _MARKS,
        "crossed": _crossed(run),
        "single": _single(run, means),
        "formats": FORMATS,
        "beside": _beside(run, means),
        "interference": _interference(run, rows),
    }


def format_taught(tasks: Sequence[Mapping[str, Any]]) -> str | None:
    """Give the format that all training tasks have; None for several formats, or none."""
    formats = {_TAUGHT.get(str(task.get("name", "")).partition(":")[0]) for task in tasks}
    return next(iter(formats)) if len(formats) == 1 else None


def leak_twins(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give pairs of encoders that were trained alike, one of them on test's papers and citations too, by task.

    The two are of two runs on one paper set, or two variants of one run.
    """
    known = [
        (entry, name, _alike(_training(entry["run"], name)), _leaks(entry["run"], name))
        for entry in entries
        for name in entry["run"].encoders
        if _training(entry["run"], name)
    ]
    found = []
    for entry, name, training, leaks in known:
        if not leaks:
            continue
        clean = next(
            (
                (other, its)
                for other, its, same, leaky in known
                if not leaky and same == training and _corpus(other) == _corpus(entry)
            ),
            None,
        )
        if clean is None:
            continue
        other, its = clean
        mine, theirs = entry["rows"].get(name, {}), other["rows"].get(its, {})
        tasks = [task for task, _ in entry["tasks"] if task in mine and task in theirs]
        found.append(
            {
                "clean": its if other is entry else f"{other['run'].name}: {its}",
                "leaky": name if other is entry else f"{entry['run'].name}: {name}",
                "overlap": [note for note in entry["notes"] if note.startswith("transductive")],
                "tasks": [(task, theirs[task], mine[task], mine[task].value - theirs[task].value) for task in tasks],
            }
        )
    return found


def _held_out(means: Mapping[str, Cells], vanilla: str | None) -> str:
    """Say in one sentence who is best on tasks that it didn't learn; '' where none has such tasks."""
    known = {name: cells["held-out"] for name, cells in means.items() if "held-out" in cells}
    known = {name: cell for name, cell in known.items() if not math.isnan(cell.value)}
    if not known:
        return ""
    best = max(known, key=lambda name: known[name].value)
    text = f"Generalisation is judged by the tasks held out: {best} is highest there, {_points(known[best])}"
    if vanilla in known and vanilla != best:
        text += f"; {vanilla} has {_points(known[vanilla])}"
    return f"{text}."


def _points(cell: Measured) -> str:
    span = "" if cell.low is None or cell.high is None else f" ({100 * cell.low:.1f} to {100 * cell.high:.1f})"
    return f"{100 * cell.value:.1f}{span}"


def _crossed(run: RunView) -> list[dict[str, Any]]:
    """Give each encoder's matrix: by whose vectors (rows) which format's tasks were scored (columns)."""
    found: dict[str, dict[tuple[str, str], list[Score]]] = {}
    for score in run.run.scores():
        if score.task.startswith("cross:") and score.split == "test":
            route, _, asked = score.task.removeprefix("cross:").partition(">")
            found.setdefault(score.encoder, {}).setdefault((route, asked), []).append(score)
    return [{"encoder": name, **_matrix(cells)} for name, cells in found.items()]


def _matrix(cells: Mapping[tuple[str, str], Sequence[Score]]) -> dict[str, Any]:
    values = {key: math.fsum(s.value for s in same) / len(same) for key, same in cells.items()}
    asked = [name for name in FORMATS if any(of == name for _, of in values)]
    best = {name: max(value for (_, of), value in values.items() if of == name) for name in asked}
    rows = [
        (route, [(values.get((route, name)), values.get((route, name)) == best[name], route == name) for name in asked])
        for route in FORMATS
        if any(of == route for of, _ in values)
    ]
    return {"asked": asked, "rows": rows}


def _single(run: RunView, means: Mapping[str, Cells]) -> list[tuple[str, str, Cells]]:
    """Give the encoders that learnt one format only, with that format and their means."""
    found = []
    for name, cells in means.items():
        taught = format_taught(_training(run, name).get("tasks") or ())
        if taught is not None and name != "base":
            found.append((name, taught, cells))
    return found if len({taught for _, taught, _ in found}) > 1 else []


def _beside(run: RunView, means: Mapping[str, Cells]) -> dict[str, Any] | None:
    """Give our means beside the averages that SciRepEval printed for the same conditioning."""
    printed = load_published(_SCIREPEVAL).scores
    rows = []
    for name, cells in means.items():
        facts = run.info["encoders"].get(name) or {}
        training = facts.get("training") or {}
        mean = training.get("ensemble") == "mean"
        kind = "mean of adapters and control-codes" if mean else str(facts.get("conditioning"))
        if not training or name == "base" or name.endswith(", titles"):
            continue
        theirs = {
            group: printed.get((f"scirepeval:average:{name_there}", "scincl", kind, "", "mean"))
            for group, name_there in _GROUPS.items()
        }
        if any(value is not None for value in theirs.values()):
            rows.append((name, [(cells.get(group), theirs[group]) for group in _GROUPS]))
    return {"groups": list(_GROUPS), "rows": rows} if rows else None


def _interference(run: RunView, rows: Mapping[str, Cells]) -> dict[str, Any] | None:
    """Give what each encoder that learnt fewer tasks got, and by how much that is more than with all of them."""
    known = run.info.get("interference") or []
    tasks = list(dict.fromkeys(task for one in known for task in one["gaps"]))
    if not tasks:
        return None
    lines = []
    for one in known:
        cells = []
        for task in tasks:
            gap, alone = one["gaps"].get(task), rows.get(one["alone"], {}).get(task)
            sure = gap is not None and gap[1] is not None and (gap[1] > 0 or gap[2] < 0)
            cells.append((alone, gap, sure))
        lines.append((one["alone"], one["together"], one["tasks"], cells))
    together = [(name, rows[name]) for name in dict.fromkeys(one["together"] for one in known) if name in rows]
    return {"tasks": tasks, "lines": lines, "together": together}


def _alike(training: Mapping[str, Any]) -> dict[str, Any]:
    """Give what twins have in common: a leak brings more triples, so the steps of a budget may differ."""
    return {key: value for key, value in training.items() if key != "steps"}


def _training(run: RunView, name: str) -> Mapping[str, Any]:
    facts = (run.info.get("encoders") or {}).get(name) or {}
    return facts.get("training") or {}


def _leaks(run: RunView, name: str) -> bool:
    """Tell whether an encoder learnt from dev's and test's papers and citations."""
    recipe = run.info.get("recipe") or {}
    variants = {str(one.get("name")): one for one in recipe.get("variants") or ()}
    own = ((variants.get(name) or {}).get("papers") or {}).get("transductive")
    return bool((recipe.get("papers") or {}).get("transductive") if own is None else own)


def _corpus(entry: Mapping[str, Any]) -> Any:
    return (entry["run"].info.get("corpus") or {}).get("fingerprint")
