"""The gradient of one batch, however large the batch and however many the processes.

Papers: arXiv 2101.06983 (GradCache): embed in chunks without a graph, take the loss on the whole batch, then embed each
chunk again with a graph and give it the gradient of its vectors. Exact, for any loss over the batch's vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from sectioncls.encoders import Encoder
from sectioncls.training.tasks import Task

__all__ = ["backward", "share_gradients"]

Rows: TypeAlias = npt.NDArray[np.int64]


def backward(encoder: Encoder, task: Task, members: Rows, *, precision: str, chunk: int = 0) -> float:
    """Add the gradient of the task's loss over ``members`` to the weights and give the loss.

    With ``chunk`` > 0 at most so many rows have a graph at once: peak memory is a chunk's, the gradient is the same,
    dropout included. In several processes each embeds its part, the loss sees all vectors, and share_gradients sums.
    """
    rank, processes = _place()
    if processes == 1 and (not chunk or len(members) <= chunk):
        loss = _loss(task, _embed(encoder, task, members, precision), members, precision)
        (loss * task.weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())
    members = members[np.argsort(task.tokens.lengths[members], kind="stable")]  # rows of like length share a chunk
    own = np.array_split(members, processes)[rank]
    pieces = np.array_split(own, max(1, -(-len(own) // chunk))) if chunk else [own]
    states: list[_Random] = []
    cached: list[Tensor] = []
    with torch.no_grad():
        for piece in pieces:
            states.append(_Random(encoder.device))
            cached.append(_embed(encoder, task, piece, precision))
    mine = torch.cat(cached).requires_grad_()
    loss = _loss(task, _gather(mine), members, precision)
    (loss * task.weight).backward()  # type: ignore[no-untyped-call]
    pulls = torch.split(mine.grad, [len(vectors) for vectors in cached]) if mine.grad is not None else ()
    for piece, pull, state in zip(pieces, pulls, states, strict=True):
        with state.restored():
            vectors = _embed(encoder, task, piece, precision)
        vectors.backward(pull)  # type: ignore[no-untyped-call]
    return float(loss.detach())


def share_gradients(encoder: nn.Module, objectives: nn.Module) -> None:
    """Bring the gradients of all processes together: parts of the batch are summed, whole losses averaged.

    A weight that got a gradient in no process keeps none, so that the optimiser leaves it alone as in one process.
    """
    _, processes = _place()
    if processes == 1:
        return
    parts = ((encoder, 1), (objectives, processes))
    weights = [(weight, divisor) for part, divisor in parts for weight in part.parameters() if weight.requires_grad]
    if not weights:
        return
    known = torch.tensor([weight.grad is not None for weight, _ in weights], dtype=torch.int32)
    known = known.to(weights[0][0].device)
    torch.distributed.all_reduce(known)
    for (weight, divisor), processes_with_one in zip(weights, known.tolist(), strict=True):
        if processes_with_one:
            grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
            torch.distributed.all_reduce(grad)
            weight.grad = grad / divisor


class _Random:
    """The random state at a point, to draw the same dropout again."""

    def __init__(self, device: torch.device) -> None:
        self.cpu = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else None

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Go back to the state; afterwards go on as if nothing had been drawn."""
        with torch.random.fork_rng(devices=[] if self.cuda is None else None):
            torch.set_rng_state(self.cpu)
            if self.cuda is not None:
                torch.cuda.set_rng_state(self.cuda)
            yield


def _embed(encoder: Encoder, task: Task, rows: Rows, precision: str) -> Tensor:
    batch = task.tokens.batch(rows).to(encoder.device)
    # Accelerate keeps one precision for the whole process; two trainings in one process may differ.
    with torch.autocast(encoder.device.type, torch.bfloat16, enabled=precision == "bf16"):
        return encoder(batch).float()  # type: ignore[no-any-return]


def _loss(task: Task, vectors: Tensor, rows: Rows, precision: str) -> Tensor:
    places = torch.from_numpy(task.tokens.members(rows))
    targets = [column[places].to(vectors.device) for column in task.targets]
    with torch.autocast(vectors.device.type, torch.bfloat16, enabled=precision == "bf16"):
        return task.objective(vectors, *targets)


def _place() -> tuple[int, int]:
    """Give this process's rank and the number of processes."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def _gather(mine: Tensor) -> Tensor:
    """Give the vectors of all processes in order; a gradient flows to our own only."""
    rank, processes = _place()
    if processes == 1:
        return mine
    sizes = [torch.zeros(1, dtype=torch.long, device=mine.device) for _ in range(processes)]
    torch.distributed.all_gather(sizes, torch.tensor([len(mine)], device=mine.device))
    longest = int(max(size.item() for size in sizes))
    padded = nn.functional.pad(mine.detach(), (0, 0, 0, longest - len(mine)))
    parts = [torch.empty_like(padded) for _ in range(processes)]
    torch.distributed.all_gather(parts, padded)
    whole = [part[: int(size)] for part, size in zip(parts, sizes, strict=True)]
    whole[rank] = mine
    return torch.cat(whole)
