"""Watching for collapse: embeddings that fall together please the silhouette and say nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.vectors import effective_rank, mean_distance

__all__ = ["collapse_note", "margin_note"]

# No distance on the unit sphere exceeds 2; cosine distances end there as well.
_DIAMETER = 2.0


def margin_note(margin: float, *, bounded: bool) -> str | None:
    """Say when a margin can never be met: ``bounded`` is true for unit vectors and for cosine distance."""
    if not bounded or margin < _DIAMETER:
        return None
    return (
        f"margin {margin:g} is never met: distances here end at {_DIAMETER:g}, so every triplet stays active for ever "
        "and the embeddings of a label are pulled into one point (collapse)"
    )


def collapse_note(vectors: npt.NDArray[np.float32], labels: int, seed: int) -> str | None:
    """Say when embeddings have fallen together: fewer effective dimensions than ``labels`` - 1, or no distance left."""
    rank = effective_rank(vectors)
    distance = mean_distance(vectors, seed=seed)
    scale = float(np.linalg.norm(vectors, axis=1).mean())
    if rank >= labels - 1 and distance > 0.01 * scale:
        return None
    return (
        f"collapse: effective rank {rank:.1f} of {vectors.shape[1]} for {labels} labels, mean distance {distance:.3f}; "
        "a high silhouette says nothing here"
    )
