"""Tasks in other groups than their formats: an encoder that was so trained, scored on each task along its group.

Paper: arXiv 2211.13308, section 5.2 (formats against a random partition of the tasks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.encoders import Encoder
from sectioncls.recipes.observer import Observer
from sectioncls.recipes.paper_evaluate import evaluate_papers
from sectioncls.recipes.paper_results import PaperEvaluation, format_of_task, task_means
from sectioncls.recipes.papers.material import Material
from sectioncls.recipes.papers.schema import PaperEvaluateOptions
from sectioncls.recipes.papers.scores import answered, embedder, is_scored, keep_rows, learnt_tasks, protocol_of
from sectioncls.runs import Run

__all__ = ["groups_of", "route_of_scored", "score_grouped"]


def groups_of(facts: Mapping[str, Any]) -> dict[str, str]:
    """Give the route of each task that an encoder was trained on along another than its format's; {} for most."""
    tasks = (facts.get("training") or {}).get("tasks", ())
    return {task["name"]: task["route"] for task in tasks if task.get("route")}


def route_of_scored(task: str, groups: Mapping[str, str]) -> str:
    """Give the route of a scored task: that of the training task that teaches it, else its format's."""
    return next((route for name, route in groups.items() if learnt_tasks((name,), (task,))), format_of_task(task))


def score_grouped(
    run: Run,
    material: Material,
    encoder: Encoder,
    name: str,
    seed: int | None,
    tasks: Sequence[str],
    options: PaperEvaluateOptions,
    groups: Mapping[str, str],
    observer: Observer,
) -> None:
    """Score an encoder into a run as score_encoder does, but each task along the route of its group."""
    embed = embedder(encoder, observer, precision=options.precision)
    for split in options.splits:
        if is_scored(run, name, split, seed):
            continue
        asked, _ = answered(material, encoder, options, split)
        result = PaperEvaluation()
        for route in dict.fromkeys(route_of_scored(task, groups) for task in asked):
            found = evaluate_papers(
                material.papers,
                _along(embed, route),
                name=name,
                protocol=protocol_of(options),
                split=split,
                tasks=[task for task in asked if route_of_scored(task, groups) == route],
                whole=options.whole,
                separator=material.options.separator,
                search_texts=material.found if material.options.search_fields else None,
                least=options.least,
                observer=observer,
            )
            result.add(found)
        scores = [score if seed is None else replace(score, seed=seed) for score in result.scores]
        there = tuple(dict.fromkeys(score.task for score in scores))
        scores += task_means(scores, trained=learnt_tasks(tasks, there))
        keep_rows(run, replace(result, scores=scores), split)


def _along(embed: Callable[..., Any], route: str) -> Callable[[Sequence[str], str, str], npt.NDArray[np.float32]]:
    """Give an embedding function that takes one route whatever the task."""

    def along(texts: Sequence[str], task: str, side: str) -> npt.NDArray[np.float32]:
        vectors: npt.NDArray[np.float32] = embed(texts, route, side)
        return vectors

    return along
