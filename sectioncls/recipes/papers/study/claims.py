"""A paper's claims judged by a run: confirmed, refuted, undecided here with its interval, or not to be had here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream import holm
from sectioncls.recipes.papers.study.evidence import Evidence
from sectioncls.recipes.papers.study.schema import (
    BoundCheck,
    ClaimOptions,
    EncodersCheck,
    RowsCheck,
    TrendCheck,
    WeightsCheck,
)
from sectioncls.recipes.papers.study.tables import MeasuredTable
from sectioncls.report.published.claims import verdict

__all__ = ["CONFIRMED", "NO_WEIGHTS", "REFUTED", "UNDECIDED", "Finding", "Gap", "judge"]

CONFIRMED, REFUTED, UNDECIDED = "confirmed", "refuted", "undecided here"
NO_WEIGHTS = "needs weights that are not here"

# What Kendall's tau of a trend must reach in either direction.
_TREND = 0.5
# Deviations that a true difference must have to be seen 4 times in 5 at the 5 % level: 1.96 + 0.84.
_SEEN = 2.8
_LEVEL = 0.05

Floats = npt.NDArray[np.float64]
Tables = Mapping[str, MeasuredTable]


@dataclass(frozen=True, slots=True)
class Gap:
    """One comparison: ``difference`` is better less worse (fractions or a measure's own scale), with its 95 % interval.

    ``detectable`` is the true difference that would be seen four times in five; ``n`` counts ``unit``. ``p`` is the
    two-sided p value of no difference (for a claim of ``least`` points: of these), None where it was not resampled.
    """

    better: str
    worse: str
    where: str
    difference: float
    low: float | None
    high: float | None
    n: int
    unit: str
    verdict: str
    detectable: float | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a run says of a claim: the verdict, one sentence on why, the comparisons behind it."""

    verdict: str
    reason: str
    gaps: tuple[Gap, ...] = field(default=())


def judge(claim: ClaimOptions, evidence: Evidence, tables: Tables, names: Mapping[str, str] | None = None) -> Finding:
    """Give what a run's ``evidence`` and measured ``tables`` say of a claim.

    ``names`` are other names of systems in the run, such as that of the ``untuned`` model.
    """
    check = claim.check
    if isinstance(check, WeightsCheck):
        return Finding(NO_WEIGHTS, check.needs)
    if isinstance(check, EncodersCheck):
        return _encoders(check, evidence, names or {})
    table = tables.get(check.measure)
    if table is None or not table.rows:
        return Finding(UNDECIDED, f"{check.measure} was not measured")
    if isinstance(check, RowsCheck):
        return _row_pairs(check, table)
    return _trend(check, table) if isinstance(check, TrendCheck) else _bound(check, table)


def _encoders(check: EncodersCheck, evidence: Evidence, names: Mapping[str, str]) -> Finding:
    """Judge by each better encoder against each worse one."""
    gaps: list[Gap] = []
    for better in check.better:
        for worse in check.worse:
            systems = [names.get(name, name) for name in (better, worse, *([check.full] if check.full else []))]
            tasks = _tasks(check, evidence, systems)
            found = [_on_task(check, evidence, systems, task) for task in tasks]
            known = [(task, one) for task, one in zip(tasks, found, strict=True) if one is not None]
            if not known:
                return Finding(UNDECIDED, f"{better} and {worse} share no task that was scored by query or paper")
            if check.tasks == "each":
                gaps += [_gap(check, better, worse, task, one, 1) for task, one in known]
            else:
                where = known[0][0] if len(known) == 1 else f"mean of {len(known)} tasks"
                gaps.append(_gap(check, better, worse, where, _averaged([one for _, one in known]), len(known)))
    return _joined(gaps, points=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Contrast:
    """A difference with its resamples (None: of one alone), and how many queries or papers it is of."""

    value: float
    moved: Floats | None
    n: int


def _tasks(check: EncodersCheck, evidence: Evidence, systems: Sequence[str]) -> tuple[str, ...]:
    """Give the tasks of a check that all systems were scored on."""
    shared = [task for task in evidence.tasks(systems[0]) if all(task in evidence.tasks(name) for name in systems)]
    if isinstance(check.tasks, tuple):
        return tuple(task for task in shared if task in check.tasks or task.partition(":")[0] in check.tasks)
    if check.tasks in ("all", "each"):
        return tuple(shared)
    taught = {task for name in systems for task in evidence.in_train(name, shared)}
    return tuple(task for task in shared if (task in taught) == (check.tasks == "in-train"))


def _on_task(check: EncodersCheck, evidence: Evidence, systems: Sequence[str], task: str) -> _Contrast | None:
    """Give better less worse on one task, less what must be kept of the full gain; None where it can't be paired."""
    sampled = [evidence.sampled(name, task) for name in systems]
    parts = [one for one in sampled if one is not None]
    if len(parts) < len(systems) or any(one.ids != parts[0].ids for one in parts):
        return None
    keeps = check.keeps or 0.0
    weights = (1.0, -1.0 + keeps, -keeps)[: len(parts)]
    value = math.fsum(weight * one.value for weight, one in zip(weights, parts, strict=True))
    moved = [weight * one.moved for weight, one in zip(weights, parts, strict=True) if one.moved is not None]
    return _Contrast(value, np.sum(moved, axis=0) if len(moved) == len(parts) else None, len(parts[0].ids))


def _averaged(found: Sequence[_Contrast]) -> _Contrast:
    """Give the mean over tasks, each counting once; tasks are drawn independently of each other."""
    moved = [one.moved for one in found if one.moved is not None]
    whole = np.mean(moved, axis=0) if len(moved) == len(found) else None
    return _Contrast(math.fsum(one.value for one in found) / len(found), whole, sum(one.n for one in found))


def _gap(check: EncodersCheck, better: str, worse: str, where: str, found: _Contrast, tasks: int) -> Gap:
    low = high = detectable = p = None
    least = check.least / 100
    if found.moved is not None:
        low, high = (float(end) for end in np.percentile(found.moved, [2.5, 97.5]))
        detectable = _SEEN * float(found.moved.std())
        if check.equal is None:
            # Two thousand resamples count no p value below a thousandth; their deviation tells it.
            deviation = float(found.moved.std())
            p = math.erfc(abs(found.value - least) / deviation / math.sqrt(2)) if deviation else 0.0
    shifted = (None, None) if low is None or high is None else (low - least, high - least)
    said = verdict(*shifted, equal=check.equal is not None, margin=(check.equal or 0.0) / 100)
    unit = "queries or papers" if tasks > 1 else "query or paper" if found.n == 1 else "queries or papers"
    return Gap(better, worse, where, found.value, low, high, found.n, unit, _WORDS[said], detectable, p)


_WORDS = {
    "confirmed": CONFIRMED,
    "refuted": REFUTED,
    "undecided": UNDECIDED,
    "not testable here": UNDECIDED,
}


def _row_pairs(check: RowsCheck, table: MeasuredTable) -> Finding:
    """Judge by differences of rows that share the column ``over``, Student's t over these."""
    sides = [_by(table, check.column, check.over, place) for place in (check.better, check.worse)]
    shared = [key for key in sides[0] if key in sides[1]]
    if not shared:
        return Finding(UNDECIDED, f"{table.name} has no rows {_said(check.better)} and {_said(check.worse)} to pair")
    gaps = np.array([sides[0][key] - sides[1][key] for key in shared])
    low, high = _student(gaps)
    said = verdict(low, high, equal=check.equal is not None, margin=check.equal or 0.0)
    deviation = float(gaps.std(ddof=1)) / math.sqrt(len(gaps)) if len(gaps) > 1 else None
    unit = check.over if len(gaps) == 1 else f"{check.over}s"
    gap = Gap(
        _said(check.better),
        _said(check.worse),
        f"{table.name}: {check.column}",
        float(gaps.mean()),
        low,
        high,
        len(gaps),
        unit,
        _WORDS[said],
        None if deviation is None else _SEEN * deviation,
    )
    return _joined([gap], points=False)


def _student(values: Floats) -> tuple[float | None, float | None]:
    """Give the 95 % interval of a mean by Student's t; none for one value."""
    from scipy.stats import t

    if len(values) < 2:
        return None, None
    half = float(t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def _by(table: MeasuredTable, column: str, over: str, place: Mapping[str, Any]) -> dict[Any, float]:
    """Give the mean of a column for each value of ``over`` among the rows at ``place``, without what is undefined."""
    found: dict[Any, list[float]] = {}
    for row in table.at(place):
        if row.get(column) is not None and not math.isnan(row[column]):
            found.setdefault(row.get(over), []).append(float(row[column]))
    return {key: math.fsum(values) / len(values) for key, values in found.items()}


def _trend(check: TrendCheck, table: MeasuredTable) -> Finding:
    """Judge by how a column goes along another."""
    rows = [row for row in table.at(check.where) if row.get(check.column) is not None]
    rows = [row for row in rows if check.start is None or row[check.along] >= check.start]
    if not rows:
        return Finding(UNDECIDED, f"{table.name} has no rows to judge by")
    values = [float(row[check.column]) for row in rows]
    if check.expect == "zero":
        most = max(values)
        where = f"{check.column} is {most:g} at most in {len(rows)} rows"
        where += "" if check.start is None else f" with {check.along} of {check.start:g} or more"
        return Finding(CONFIRMED if most == 0 else REFUTED, f"{where}.")
    from scipy.stats import kendalltau

    along = [float(row[check.along]) for row in rows]
    tau = float(kendalltau(along, values)[0]) if len(set(along)) > 1 and len(set(values)) > 1 else 0.0
    signed = tau if check.expect == "rises" else -tau
    said = CONFIRMED if signed >= _TREND else REFUTED if signed <= -_TREND else UNDECIDED
    reason = f"{check.column} goes from {values[0]:.3g} to {values[-1]:.3g} along {check.along} (τ {tau:+.2f})."
    return Finding(said, reason)


def _bound(check: BoundCheck, table: MeasuredTable) -> Finding:
    """Judge by whether all rows lie on the claimed side of a number."""
    rows = table.at(check.where)
    values = [float(row[check.column]) for row in rows if row.get(check.column) is not None]
    if not values:
        return Finding(UNDECIDED, f"{table.name} has no rows {_said(check.where)}")
    above = check.above is not None
    bound = check.above if check.above is not None else check.below or 0.0
    inside = [value > bound if above else value < bound for value in values]
    said = CONFIRMED if all(inside) else REFUTED if not any(inside) else UNDECIDED
    span = f"{min(values):.3g}" if len(set(values)) == 1 else f"{min(values):.3g} to {max(values):.3g}"
    where = f" at {_said(check.where)}" if check.where else ""
    return Finding(said, f"{check.column}{where} is {span}, the claim is {'above' if above else 'below'} {bound:g}.")


def _joined(gaps: Sequence[Gap], *, points: bool) -> Finding:
    """Confirmed where every comparison is, refuted where one is; the sentence speaks of the one that decides.

    All must hold, so each may be tested at 5 % by itself; one that fails must fail after Holm's correction for all, or
    of twenty that hold one would refute the claim by chance.
    """
    failed = [gap for gap in gaps if gap.verdict == REFUTED]
    known = [gap for gap in gaps if gap.p is not None]
    adjusted = dict(zip(map(id, known), holm([gap.p for gap in known if gap.p is not None]), strict=True))
    refuting = [gap for gap in failed if len(gaps) == 1 or adjusted.get(id(gap), 0.0) < _LEVEL]
    said = REFUTED if refuting else CONFIRMED if {gap.verdict for gap in gaps} == {CONFIRMED} else UNDECIDED
    deciding = refuting or failed or [gap for gap in gaps if gap.verdict == said]
    reason = _sentence(min(deciding, key=lambda gap: gap.difference), points=points, of=len(gaps))
    if failed and not refuting:
        reason += f" Of {len(gaps)} comparisons one may fall below by chance: not so after Holm's correction."
    return Finding(said, reason, tuple(gaps))


def _sentence(gap: Gap, *, points: bool, of: int) -> str:
    form: Callable[[float], str] = (lambda value: f"{100 * value:+.1f}") if points else (lambda value: f"{value:+.3g}")
    unit = " points" if points else ""
    text = f"{gap.better} less {gap.worse}: {form(gap.difference)}{unit}"
    if gap.low is not None and gap.high is not None:
        text += f" (95 % interval {form(gap.low)} to {form(gap.high)}, {gap.n:,} {gap.unit})"
    else:
        text += f" (of {gap.n} {gap.unit} alone, so nothing is known of chance)"
    text += f", {gap.where}"
    return f"{text}; the one of {of} comparisons that decides." if of > 1 else f"{text}."


def _said(place: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in place.items()) or "of any kind"
