"""Settings chosen on dev: every point of a small grid learns from train, the best on dev is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_ids, as_matrix
from sectioncls.downstream.confusion import f1_macro, table
from sectioncls.downstream.sampling import stratified_rows

__all__ = ["Predictor", "choose_settings"]


class Predictor(Protocol):
    """What a grid needs of a classifier."""

    def predict(self, x: npt.ArrayLike, /) -> Ids:
        """Class ids of the rows of ``x``."""
        ...


def choose_settings(
    learn: Callable[[Matrix, Ids, Mapping[str, Any]], Predictor],
    x: Matrix,
    y: Ids,
    dev_x: npt.ArrayLike,
    dev_y: npt.ArrayLike,
    *,
    grid: Mapping[str, Sequence[Any]],
    limit: int,
    seed: int = 0,
) -> Mapping[str, Any]:
    """The point of ``grid`` ({setting: values}) with the highest macro F1 on dev; the first of equals.

    ``learn(x, y, settings)`` gives a classifier; it sees a stratified sample of ``limit`` rows where there are more.
    {} where all rows are alike, which no setting can tell apart. Raises InputError for dev rows that are not finite
    or not labelled.
    """
    seen = as_matrix(dev_x, "dev embeddings")
    truth = as_ids(dev_y, len(seen), "dev labels")
    rows = stratified_rows(y, limit, seed=seed)
    x, y = x[rows], y[rows]
    if not np.ptp(x, axis=0).any():
        return {}
    ids = np.unique(np.concatenate([y, truth]))
    shape = (len(ids), len(ids))
    best: tuple[float, Mapping[str, Any]] = (-1.0, {})
    for point in product(*grid.values()):
        settings = dict(zip(grid, point, strict=True))
        predicted = learn(x, y, settings).predict(seen)
        score = float(f1_macro(table(np.searchsorted(ids, truth), np.searchsorted(ids, predicted), shape)))
        if score > best[0]:
            best = (score, settings)
    return best[1]
