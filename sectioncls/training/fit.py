"""The training loop. Nothing in it is about sentences, papers, labels or a loss."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn

from sectioncls.encoders import Encoder
from sectioncls.errors import UsageError
from sectioncls.training.backward import backward, share_gradients
from sectioncls.training.tasks import Mixing, Rows, Task, steps_per_epoch, task_batches
from sectioncls.training.tracking import Tracking, begin_tracking

__all__ = ["Diverged", "Settings", "State", "Step", "fit", "start"]


class Diverged(UsageError):
    """Raised when a loss or its gradient is not finite: before ``step`` moves any weight.

    ``batches`` holds the rows of the step by task.
    """

    def __init__(self, what: str, step: int, batches: Mapping[str, Rows]) -> None:
        self.step = step
        self.batches = batches
        rows = "; ".join(f"rows {', '.join(map(str, rows[:8]))}{', …' * (len(rows) > 8)}" for rows in batches.values())
        where = f"step {step} ({rows})"
        super().__init__(what, where, "lower the learning rate, or train with precision float32")


_BLOCK = re.compile(r"\.(?:encoder\.layer|experts)\.(\d+)\.")
_LAST = 1_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train: AdamW, a linear warm-up over ``warmup`` of the steps, then decay.

    ``schedule`` decays linearly to zero, or with the inverse square root of the step. ``steps`` is how many to take,
    whatever ``epochs`` says. ``clip`` bounds the gradient's norm; ``precision`` is ``float32`` or ``bf16`` (autocast;
    weights stay float32). ``chunk`` > 0 bounds the rows that have a graph at once (see backward.py); 0 takes each batch
    in one pass. ``mixing`` says how several tasks share the steps. ``layer_decay`` below 1 multiplies the last block's
    rate once, each block's below once more, the embeddings' most often (as for ELECTRA, arXiv 2003.10555).
    """

    epochs: float = 4
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: str = "float32"
    chunk: int = 0
    seed: int = 0
    steps: int | None = None
    schedule: Literal["linear", "inverse-sqrt"] = "linear"
    mixing: Mixing = field(default_factory=Mixing)
    layer_decay: float = 1.0

    def total(self, tasks: Sequence[Task]) -> int:
        """Give the number of steps of a training on ``tasks``."""
        return self.steps or max(1, round(self.epochs * steps_per_epoch(tasks, self.mixing)))


@dataclass(frozen=True, slots=True)
class Step:
    """What one optimiser step did. ``epoch`` counts in fractions, ``seconds`` is the step's own time."""

    number: int
    epoch: float
    losses: dict[str, float]
    learning_rate: float
    rows: int
    seconds: float


@dataclass(slots=True)
class State:
    """All that changes while training: what a checkpoint keeps."""

    encoder: Encoder
    objectives: nn.ModuleDict
    optimiser: torch.optim.Optimizer
    accelerator: Any
    step: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


def start(encoder: Encoder, tasks: Sequence[Task], settings: Settings, *, tracking: Tracking | None = None) -> State:
    """Give the state before the first step: everything on its device, the random generator seeded.

    ``tracking`` opens a tracker for what track_step and track_scores tell.
    """
    from accelerate import Accelerator

    if tracking is None:
        accelerator = Accelerator()
    else:
        accelerator = Accelerator(log_with=tracking.tool, project_dir=str(tracking.folder))
        begin_tracking(accelerator, tracking)
    torch.manual_seed(settings.seed)
    objectives = nn.ModuleDict({t.name: t.objective for t in tasks if isinstance(t.objective, nn.Module)})
    encoder.to(accelerator.device)
    objectives.to(accelerator.device)
    groups = _groups([encoder, objectives], settings.weight_decay, settings.layer_decay)
    optimiser = torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
    return State(encoder, objectives, accelerator.prepare(optimiser), accelerator)


def fit(state: State, tasks: Sequence[Task], settings: Settings) -> Iterator[Step]:
    """Train from ``state.step`` on, yielding after every optimiser step; the caller logs, evaluates and may stop.

    A step takes the batches that ``settings.mixing`` gives it, one of every task unless told otherwise, adds the losses
    and moves the weights once. Raises Diverged, before any weight moves, when a loss or the gradient is not finite.
    """
    per_epoch = steps_per_epoch(tasks, settings.mixing)
    total = settings.total(tasks)
    weights = [p for group in state.optimiser.param_groups for p in group["params"]]
    stream = task_batches(tasks, state.step, settings.mixing)
    while state.step < total:
        began = time.perf_counter()
        rate = settings.learning_rate * _schedule(state.step, total, settings)
        for group in state.optimiser.param_groups:
            group["lr"] = rate * group.get("share", 1.0)
        state.encoder.train()
        losses: dict[str, float] = {}
        batches: dict[str, Rows] = {}
        for task, members in next(stream):
            losses[task.name] = backward(
                state.encoder, task, members, precision=settings.precision, chunk=settings.chunk
            )
            batches[task.name] = members
        share_gradients(state.encoder, state.objectives)
        if state.encoder.conditioning is not None:
            state.encoder.conditioning.penalise()
        norm = float(torch.nn.utils.clip_grad_norm_(weights, settings.clip))
        _refuse_infinite(losses, norm, state.step + 1, batches)
        rows = sum(map(len, batches.values()))
        state.optimiser.step()
        state.optimiser.zero_grad(set_to_none=True)
        state.step += 1
        yield Step(state.step, state.step / per_epoch, losses, rate, rows, time.perf_counter() - began)


def _schedule(step: int, total: int, settings: Settings) -> float:
    """Give the share of the full learning rate at a step."""
    rising = max(1, round(settings.warmup * total))
    if step < rising:
        return (step + 1) / rising
    if settings.schedule == "inverse-sqrt":
        return float((rising / (step + 1)) ** 0.5)
    return max(0.0, (total - step) / max(1, total - rising))


def _groups(modules: Sequence[nn.Module], decay: float, layer_decay: float = 1.0) -> list[dict[str, Any]]:
    """Give the optimiser's groups, each with its ``share`` of the rate.

    Weight decay acts on matrices, not on biases and normalisations, as usual for BERT.
    """
    named = [pair for module in modules for pair in module.named_parameters() if pair[1].requires_grad]
    depths = [_depth(name) for name, _ in named] if layer_decay != 1 else [_LAST] * len(named)
    last = max((depth for depth in depths if depth != _LAST), default=0)
    groups: list[dict[str, Any]] = []
    for depth in sorted(set(depths)):
        share = layer_decay ** max(0, last + 1 - depth)
        weights = [weight for (_, weight), place in zip(named, depths, strict=True) if place == depth]
        groups += [
            {"params": [p for p in weights if p.ndim >= 2], "weight_decay": decay, "share": share},
            {"params": [p for p in weights if p.ndim < 2], "weight_decay": 0.0, "share": share},
        ]
    return [group for group in groups if group["params"]]


def _depth(name: str) -> int:
    """Give where a weight stands: 0 the embeddings, then the blocks from 1, behind them all that is in none.

    Experts of a block stand in its place; adapters and the like, of every block, take the full rate.
    """
    if ".embeddings." in name:
        return 0
    found = _BLOCK.search(name)
    return 1 + int(found[1]) if found else _LAST


def _refuse_infinite(losses: dict[str, float], norm: float, step: int, batches: Mapping[str, Rows]) -> None:
    for name, value in losses.items():
        if not math.isfinite(value):
            raise Diverged(f"the loss of {name} is {value}", step, batches)
    if not math.isfinite(norm):
        raise Diverged(f"the gradient's norm is {norm}", step, batches)
