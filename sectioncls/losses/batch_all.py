"""Batch-all triplet loss, exact, in O(B² log B) time and one B x B matrix of memory.

Paper: arXiv 1703.07737, equation 6 (batch all), averaged over the terms above zero; the loss of arXiv 2404.00224.

For an anchor *a*, let ``k(p)`` be the number of negatives nearer than ``d(a,p) + margin`` and ``c(n)`` the number of
positives ``p`` with ``d(a,p) + margin > d(a,n)``. Both come from sorted rows by binary search, and they are all that
is needed: the sum of the active terms is ``Σ k(p)·(d(a,p) + margin) − Σ c(n)·d(a,n)``, its derivatives are ``k(p)``
and ``−c(n)``. No triplet is ever written down.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

__all__ = ["Distance", "batch_all_triplet_loss"]

Distance = Literal["euclidean", "cosine"]

# Elements of one block of rows: large enough to keep the cores busy, small enough to stay in cache.
_BLOCK = 1 << 19


def batch_all_triplet_loss(
    embeddings: Tensor, labels: Tensor, margin: float = 5.0, distance: Distance = "euclidean"
) -> Tensor:
    """Give the mean over all active triplets of ``d(a,p) − d(a,n) + margin``, a scalar with a graph.

    A triplet is an anchor, a positive of the same label at another row, a negative of another label; it is active when
    its term is above zero. ``embeddings`` is (B, dim) in any float type (computed in float32 at least), ``labels`` is
    (B,) of integers. Distances are Euclidean, or 1 - cosine similarity. Rows at distance zero get no gradient from each
    other. Without an active triplet the loss is zero and the gradient is zero.

    Raises ValueError when there is not one label per row, or the distance is unknown.
    """
    if embeddings.ndim != 2 or labels.numel() != embeddings.shape[0]:
        raise ValueError(f"needs one label per row, got {tuple(embeddings.shape)} and {tuple(labels.shape)}")
    if distance not in ("euclidean", "cosine"):
        raise ValueError(f"distance is 'euclidean' or 'cosine', not {distance!r}")
    with torch.autocast(embeddings.device.type, enabled=False):
        rows = embeddings.float() if embeddings.dtype in (torch.bfloat16, torch.float16) else embeddings
        if distance == "cosine":
            rows = torch.nn.functional.normalize(rows, dim=1)
        return _BatchAll.apply(rows, labels.reshape(-1), float(margin), distance == "cosine")  # type: ignore[no-any-return, no-untyped-call]


class _BatchAll(torch.autograd.Function):
    """The gradient falls out of the value's own counts, so the forward pass computes both."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, labels: Tensor, margin: float, cosine: bool) -> Tensor:
        order = torch.argsort(labels, stable=True)
        rows = rows.detach()[order]
        sizes = torch.unique_consecutive(labels[order], return_counts=True)[1].tolist()
        matrix = _distances(rows, cosine)
        total, active = _weigh(matrix, sizes, margin, divide=not cosine)
        scale = 1.0 / active if active else 0.0
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(order, _pull(matrix, rows, cosine).mul_(scale))
        return rows.new_tensor(total * scale)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        order, pull = ctx.saved_tensors
        return torch.empty_like(pull).index_copy_(0, order, pull * grads[0]), None, None, None


def _distances(rows: Tensor, cosine: bool) -> Tensor:
    """Give all pairwise distances, (B, B), in one matrix."""
    matrix = rows @ rows.T
    if cosine:
        return matrix.neg_().add_(1)
    squares = matrix.diagonal().clone()
    return matrix.mul_(-2).add_(squares[:, None]).add_(squares[None, :]).clamp_(min=0).sqrt_()


def _weigh(matrix: Tensor, sizes: list[int], margin: float, *, divide: bool) -> tuple[float, int]:
    """Give the sum and the number of active terms; turn ``matrix`` in place from distances d into ``∂sum/∂d``.

    Rows are grouped by label, ``sizes`` rows each. With ``divide`` the derivative is divided by d (0 where d is 0),
    which is what the gradient of a Euclidean distance needs.
    """
    total, active, start = 0.0, 0, 0
    batch = matrix.shape[0]
    for size in sizes:
        stop = start + size
        step = max(1, _BLOCK // batch)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            block = matrix[first:last]
            own = torch.arange(first - start, last - start, device=matrix.device)[:, None]
            positives = block[:, start:stop] + margin
            positives.scatter_(1, own, -torch.inf)  # an anchor is no positive of its own
            negatives = torch.cat((block[:, :start], block[:, stop:]), dim=1)
            nearer = torch.searchsorted(_sorted(negatives), positives, out_int32=True)
            beaten = size - torch.searchsorted(_sorted(positives), negatives, right=True, out_int32=True)
            positives.scatter_(1, own, 0.0)
            nearer, beaten = nearer.to(matrix.dtype), beaten.to(matrix.dtype)
            total += _dot(nearer, positives) - _dot(beaten, negatives)
            active += int(nearer.sum(dtype=torch.float64).item())
            weights = torch.cat((-beaten[:, :start], nearer, -beaten[:, start:]), dim=1)
            if divide:
                weights.div_(block).masked_fill_(block == 0, 0.0)
            block.copy_(weights)
        start = stop
    return total, active


def _pull(weights: Tensor, rows: Tensor, cosine: bool) -> Tensor:
    """Give ``∂sum/∂rows``, (B, dim), from what _weigh left in the matrix."""
    both = weights + weights.T
    if cosine:
        return (both @ rows).neg_()
    return both.sum(1, keepdim=True) * rows - both @ rows


def _sorted(block: Tensor) -> Tensor:
    """Give each row in ascending order; numpy's vectorised sort is several times torch's on a CPU."""
    if block.device.type == "cpu":
        return torch.from_numpy(np.sort(block.numpy(), axis=1))
    return block.sort(dim=1).values


def _dot(a: Tensor, b: Tensor) -> float:
    return float((a * b).sum(dtype=torch.float64).item())
