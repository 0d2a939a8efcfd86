"""Watching for collapse: embeddings that fall together please the silhouette and say nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.vectors import effective_rank, mean_distance, residual_variance

__all__ = ["collapse_note", "margin_note"]

# No distance on the unit sphere exceeds 2; cosine distances end there as well.
_DIAMETER = 2.0

# Less variance than this outside the labels' own directions is called collapse.
_OUTSIDE = 0.05

# Clusters that agree so well with the labels (ARI) are the labels: tight and right is no collapse.
_AGREED = 0.75


def margin_note(margin: float, *, bounded: bool) -> str | None:
    """Say when a margin can never be met: ``bounded`` is true for unit vectors and for cosine distance."""
    if not bounded or margin < _DIAMETER:
        return None
    return (
        f"margin {margin:g} is never met: distances here end at {_DIAMETER:g}, so every triplet stays active for ever "
        "and the embeddings of a label are pulled into one point (collapse)"
    )


def collapse_note(vectors: npt.NDArray[np.float32], labels: int, seed: int, *, agreement: float = 0.0) -> str | None:
    """Say when embeddings have fallen onto as many points as there are ``labels``, or onto one.

    k points span k - 1 directions; rows that keep less than a twentieth of their variance elsewhere differ by little
    but the point they fell onto (a silhouette of the clusters above about 0.75). So do rows without distance. Where the
    clusters' ``agreement`` with the labels (ARI) is three quarters or more the points are the labels, which is the aim.
    """
    if agreement >= _AGREED:
        return None
    outside = residual_variance(vectors, labels - 1)
    distance = mean_distance(vectors, seed=seed)
    scale = float(np.linalg.norm(vectors, axis=1).mean())
    if outside >= _OUTSIDE and distance > 0.01 * scale:
        return None
    return (
        f"collapse: {100 * outside:.0f} % of the variance is left outside the {labels - 1} directions that "
        f"{labels} points span, effective rank {effective_rank(vectors):.1f} of {vectors.shape[1]}, "
        f"mean distance {distance:.3f}; a high silhouette says nothing here"
    )
