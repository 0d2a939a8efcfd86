"""Validation triplets: for every labelled sentence one positive and one negative, drawn once with a seed.

Paper: arXiv 2404.00224, section 3 (one triplet per sentence; negatives in proportion to label frequency, which is what
the authors' files show). Theirs hold an anchor that is its own positive; ours never do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["triplet_loss_and_accuracy", "validation_triplets"]


def validation_triplets(labels: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """Give (anchor, positive, negative) row numbers, (m, 3), one row per sentence that has both, in row order.

    The positive is uniform over the other rows of the label, the negative uniform over all rows of other labels.
    Sentences that are alone in their label, and corpora of one label, give no row.
    """
    random = np.random.default_rng(seed)
    order = np.argsort(labels, kind="stable")
    _, inverse, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = np.arange(len(labels))
    size, start = sizes[inverse], starts[inverse]
    # Draw among the others of the label by skipping the anchor's own place, among the rest by skipping the label.
    other = start + (random.random(len(labels)) * np.maximum(size - 1, 1)).astype(np.int64)
    positive = order[np.minimum(other + (other >= place), len(labels) - 1)]
    outside = (random.random(len(labels)) * np.maximum(len(labels) - size, 1)).astype(np.int64)
    negative = order[np.minimum(outside + np.where(outside >= start, size, 0), len(labels) - 1)]
    keep = (size > 1) & (size < len(labels))
    return np.stack((np.arange(len(labels)), positive, negative), axis=1)[keep]


def triplet_loss_and_accuracy(
    vectors: npt.NDArray[np.float32], triplets: npt.NDArray[np.int64], margin: float
) -> tuple[float, float]:
    """Give the mean hinge loss and the share of triplets whose positive is the nearer one (Euclidean distance)."""
    if not len(triplets):
        return float("nan"), float("nan")
    anchor, positive, negative = (vectors[column].astype(np.float64) for column in triplets.T)
    near = np.linalg.norm(anchor - positive, axis=1)
    far = np.linalg.norm(anchor - negative, axis=1)
    return float(np.maximum(0.0, near - far + margin).mean()), float((near < far).mean())
