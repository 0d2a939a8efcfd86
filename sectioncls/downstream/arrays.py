"""Checks of the arrays that reach this room."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError

__all__ = ["Ids", "Matrix", "as_ids", "as_matrix"]

Matrix = npt.NDArray[np.floating[Any]]
Ids = npt.NDArray[np.int64]


def as_matrix(x: npt.ArrayLike, name: str = "embeddings") -> Matrix:
    """``x`` as a matrix of rows x dimensions, in the float type that it has.

    Raises InputError, with ``name``, for no rows, another shape, or NaN and infinite values.
    """
    rows = np.asarray(x)
    if not np.issubdtype(rows.dtype, np.floating):
        rows = rows.astype(np.float64)
    if rows.ndim != 2 or not rows.size:
        raise InputError(f"expected a matrix of rows x dimensions, got shape {rows.shape}", name)
    good = np.isfinite(rows).all(axis=1)
    if not good.all():
        raise InputError(
            f"{int((~good).sum())} of {len(rows)} rows hold NaN or infinite values, "
            f"the first is row {int(np.argmin(good))}",
            name,
        )
    return rows


def as_ids(y: npt.ArrayLike, rows: int, name: str = "labels") -> Ids:
    """``y`` as ``rows`` whole numbers; raises InputError, with ``name``, for another length or kind."""
    ids = np.asarray(y)
    if ids.shape != (rows,):
        raise InputError(f"expected {rows} ids, one a row, got shape {ids.shape}", name)
    if not np.issubdtype(ids.dtype, np.integer):
        raise InputError(f"expected whole numbers as ids, got {ids.dtype}", name)
    return ids.astype(np.int64)
