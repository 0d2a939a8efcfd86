"""Trackers: what a training gave, told to TensorBoard, W&B or trackio by accelerate. Nothing is imported unused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sectioncls.errors import InputError, UsageError

if TYPE_CHECKING:
    from sectioncls.training.fit import State, Step

__all__ = ["TRACKERS", "Tracking", "begin_tracking", "check_tracker", "end_tracking", "track_scores", "track_step"]

TRACKERS = ("tensorboard", "wandb", "trackio")
"""The trackers that ``Tracking.tool`` may name."""


@dataclass(frozen=True, slots=True)
class Tracking:
    """Which tracker, under which name it files the training, where its own files go, and what it says of settings."""

    tool: str
    name: str
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)


def check_tracker(tool: str) -> None:
    """Raise UsageError for a tracker that we don't know, InputError for one that is not installed."""
    if tool not in TRACKERS:
        raise UsageError(f"there is no tracker {tool!r}", todo=f"one of {', '.join(TRACKERS)}")
    if find_spec(tool) is None:
        raise InputError(f"{tool} is not installed", "--track", f"pip install {tool}, or train without --track")


def begin_tracking(accelerator: Any, tracking: Tracking) -> None:
    """Open the tracker that ``accelerator`` was made for; only the first of several processes writes."""
    plain = {
        name: value if isinstance(value, str | int | float | bool) else str(value)
        for name, value in tracking.settings.items()
    }
    accelerator.init_trackers(tracking.name, config=plain)


def track_step(state: State, step: Step) -> None:
    """Tell the tracker, where there is one, of a step: losses, learning rate, rows a second."""
    if state.accelerator.trackers:
        values = {f"loss/{task}": loss for task, loss in step.losses.items()}
        values |= {"learning-rate": step.learning_rate, "rows-per-second": step.rows / max(step.seconds, 1e-9)}
        state.accelerator.log(values, step=step.number)


def track_scores(state: State, scores: Mapping[str, float]) -> None:
    """Tell the tracker, where there is one, of dev's scores at the state's step."""
    if state.accelerator.trackers:
        state.accelerator.log({f"dev/{name}": value for name, value in scores.items()}, step=state.step)


def end_tracking(state: State) -> None:
    """Close the tracker, where there is one."""
    # accelerate's own end_training would also leave the group of processes.
    for tracker in state.accelerator.trackers:
        tracker.finish()
    state.accelerator.trackers = []
