"""Rows drawn so that every label keeps its share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids

__all__ = ["rows_per_label", "stratified_rows"]


def stratified_rows(y: npt.ArrayLike, limit: int, *, seed: int) -> Ids:
    """Row numbers, rising, of about ``limit`` rows with the labels in their shares; all where there are no more.

    Each label gives its share rounded to the nearest, and one row at least, so the number may differ from ``limit``
    by one for each label.
    """
    ids = np.asarray(y)
    if len(ids) <= limit:
        return np.arange(len(ids))
    rng = np.random.default_rng(seed)
    share = limit / len(ids)
    parts = [
        rng.choice(rows, max(1, round(share * len(rows))), replace=False)
        for rows in (np.flatnonzero(ids == label) for label in np.unique(ids))
    ]
    return np.sort(np.concatenate(parts))


def rows_per_label(y: npt.ArrayLike, number: int, *, seed: int) -> Ids:
    """Row numbers, rising, of ``number`` rows of each label, or all of a label's where it has fewer."""
    ids = np.asarray(y)
    rng = np.random.default_rng(seed)
    parts = [
        rng.choice(rows, min(number, len(rows)), replace=False)
        for rows in (np.flatnonzero(ids == label) for label in np.unique(ids))
    ]
    return np.sort(np.concatenate(parts))
