"""Measures of a study that are made of its trained encoders: how tasks go together, what each encoder costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sectioncls.encoders import encode, load_encoder
from sectioncls.errors import UsageError
from sectioncls.recipes.paper_results import format_of_task
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.positives import called
from sectioncls.recipes.papers.schema import TaskOptions
from sectioncls.recipes.papers.study.schema import MeasureOptions
from sectioncls.recipes.papers.study.tables import MeasuredTable, Value
from sectioncls.runs import Run

__all__ = ["OUTCOMES", "outcome"]

# Encoders below which a correlation over them says nothing.
_FEW = 4


def outcome(measure: MeasureOptions, run: Run, material: Material) -> MeasuredTable:
    """Give the table of one measure of a run's encoders. Raises UsageError for an unknown kind or option."""
    if measure.kind not in OUTCOMES:
        raise UsageError(f"no measure {measure.kind!r}", f"measure {measure.name}", f"known: {', '.join(OUTCOMES)}")
    task = TaskOptions(name=measure.name, options=measure.options)
    table: MeasuredTable = called(OUTCOMES[measure.kind], task, run, material)
    return replace(table, name=measure.name, kind=measure.kind)


def _correlation(run: Run, material: Material) -> MeasuredTable:
    """Pearson's correlation of tasks over encoders (figure 2 of arXiv 2211.13308)."""
    scores = _main(run)
    tasks = [task for task in next(iter(scores.values()), {}) if all(task in row for row in scores.values())]
    matrix = np.array([[row[task] for task in tasks] for row in scores.values()], dtype=np.float64)
    rows: list[tuple[Value, ...]] = []
    for first, task in enumerate(tasks):
        cells: list[Value] = []
        for second in range(len(tasks)):
            cells.append(_pearson(matrix[:, first], matrix[:, second]))
        rows.append((task, *cells))
    few = f"{len(scores)} encoders: correlations over so few are mostly chance"
    return MeasuredTable(
        "",
        "",
        "Which tasks go together",
        f"Pearson's correlation of the tasks' scores over {len(scores)} encoders.",
        ("task", *tasks),
        tuple(rows),
        notes=(few,) if len(scores) < 10 else (),
        heat=True,
    )


def _pearson(first: Any, second: Any) -> float | None:
    if len(first) < _FEW or first.std() == 0 or second.std() == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _costs(run: Run, material: Material, papers: int = 64) -> MeasuredTable:
    """Weights, training and encoding time, memory and score of each encoder (efficiency table of arXiv 2211.13308)."""
    means = {s.encoder: s.value for s in run.scores() if s.task == "average:all" and s.split == "test"}
    texts = [material.texts[row] for row in material.rows[:papers].tolist()]
    rows: list[tuple[Value, ...]] = []
    for name, facts in (run.info.get("encoders") or {}).items():
        weights = facts.get("parameters") or {}
        folder = _folder(run.path, name)
        speed = _speed(folder, texts) if folder is not None else None
        total = weights.get("all")
        rows.append(
            (
                name,
                facts.get("conditioning") or "",
                total,
                weights.get("learn"),
                None if total is None else 4 * total / 2**20,
                facts.get("papers"),
                facts.get("seconds"),
                speed,
                means.get(name),
            )
        )
    return MeasuredTable(
        "",
        "",
        "What each encoder costs",
        "Weights in all, those that learn, memory in float32, papers and seconds of training steps (last stage), "
        f"papers a second when encoding {len(texts)} (best of two), mean over tasks.",
        (
            *("encoder", "conditioning", "weights", "learning", "MiB", "papers", "seconds"),
            *("papers a second", "mean"),
        ),
        tuple(rows),
        notes=("times are of this machine and vary from run to run",),
    )


def _speed(folder: Path, texts: Sequence[str]) -> float:
    """Give how many papers a second an encoder reads, the better of two tries."""
    encoder = load_encoder(folder)
    taken = []
    for _ in range(2):
        start = time.perf_counter()
        encode(encoder, list(texts), "proximity", "document")
        taken.append(time.perf_counter() - start)
    return len(texts) / min(taken)


def _folder(run: Path, name: str) -> Path | None:
    """Give where an encoder of a run lies; None for one that was not trained here."""
    seeds = sorted((run / "encoder").glob(f"{name}-*"))
    for folder in (run / "encoder" / name, *seeds, run / "encoder"):
        if (folder / "sectioncls.json").is_file():
            return folder
    return None


def _main(run: Run) -> dict[str, dict[str, float]]:
    """Give each encoder's main score on each task, the mean where it has several seeds."""
    main = run.info.get("main") or {}
    found: dict[str, dict[str, list[float]]] = {}
    for score in run.scores():
        wanted = main.get(score.encoder, {}).get(score.task)
        shown = score.split == "test" and score.label is None and format_of_task(score.task)
        if shown and wanted == [score.metric, score.method]:
            found.setdefault(score.encoder, {}).setdefault(score.task, []).append(score.value)
    return {name: {task: float(np.mean(v)) for task, v in tasks.items()} for name, tasks in found.items()}


OUTCOMES: Mapping[str, Callable[..., MeasuredTable]] = {"correlation": _correlation, "costs": _costs}
