"""The training loop. Nothing in it is about sentences, papers, labels or a loss."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn

from sectioncls.encoders import Encoder
from sectioncls.errors import UsageError
from sectioncls.training.backward import backward, share_gradients
from sectioncls.training.tasks import Mixing, Task, steps_per_epoch, task_batches

__all__ = ["Settings", "State", "Step", "fit", "start"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train: AdamW, a linear warm-up over ``warmup`` of the steps, then decay.

    ``schedule`` decays linearly to zero, or with the inverse square root of the step. ``steps`` is how many to take,
    whatever ``epochs`` says. ``clip`` bounds the gradient's norm; ``precision`` is ``float32`` or ``bf16`` (autocast;
    weights stay float32). ``chunk`` > 0 bounds the rows that have a graph at once (see backward.py); 0 takes each batch
    in one pass. ``mixing`` says how several tasks share the steps.
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


def start(encoder: Encoder, tasks: Sequence[Task], settings: Settings) -> State:
    """Give the state before the first step: everything on its device, the random generator seeded."""
    from accelerate import Accelerator

    accelerator = Accelerator()
    torch.manual_seed(settings.seed)
    objectives = nn.ModuleDict({t.name: t.objective for t in tasks if isinstance(t.objective, nn.Module)})
    encoder.to(accelerator.device)
    objectives.to(accelerator.device)
    optimiser = torch.optim.AdamW(
        _groups([encoder, objectives], settings.weight_decay), lr=settings.learning_rate, fused=True
    )
    return State(encoder, objectives, accelerator.prepare(optimiser), accelerator)


def fit(state: State, tasks: Sequence[Task], settings: Settings) -> Iterator[Step]:
    """Train from ``state.step`` on, yielding after every optimiser step; the caller logs, evaluates and may stop.

    A step takes the batches that ``settings.mixing`` gives it, one of every task unless told otherwise, adds the losses
    and moves the weights once. Raises UsageError when a loss is not finite.
    """
    per_epoch = steps_per_epoch(tasks, settings.mixing)
    total = settings.total(tasks)
    weights = [p for group in state.optimiser.param_groups for p in group["params"]]
    stream = task_batches(tasks, state.step, settings.mixing)
    while state.step < total:
        began = time.perf_counter()
        rate = settings.learning_rate * _schedule(state.step, total, settings)
        for group in state.optimiser.param_groups:
            group["lr"] = rate
        state.encoder.train()
        losses: dict[str, float] = {}
        rows = 0
        for task, members in next(stream):
            losses[task.name] = backward(
                state.encoder, task, members, precision=settings.precision, chunk=settings.chunk
            )
            rows += len(members)
        _refuse_infinite(losses, state.step)
        share_gradients(state.encoder, state.objectives)
        torch.nn.utils.clip_grad_norm_(weights, settings.clip)
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


def _groups(modules: Sequence[nn.Module], decay: float) -> list[dict[str, Any]]:
    """Weight decay acts on matrices, not on biases and normalisations, as usual for BERT."""
    weights = [p for module in modules for p in module.parameters() if p.requires_grad]
    return [
        {"params": [p for p in weights if p.ndim >= 2], "weight_decay": decay},
        {"params": [p for p in weights if p.ndim < 2], "weight_decay": 0.0},
    ]


def _refuse_infinite(losses: dict[str, float], step: int) -> None:
    for name, value in losses.items():
        if value != value or value in (float("inf"), float("-inf")):
            what = f"the loss of {name} is {value} at step {step + 1}"
            raise UsageError(what, todo="lower --learning-rate, or train with --precision float32")
