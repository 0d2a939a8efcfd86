"""What a linear regression reads from embeddings, judged by the order that it puts papers in.

Paper: arXiv 2211.13308, section 3 and its evaluation code.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.intervals import kendall_tau, tau_interval
from sectioncls.downstream.probe import FOLDS, as_features
from sectioncls.downstream.significance import RESAMPLES
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = ["REGRESSION_GRID", "regress", "regression_scores"]

REGRESSION_GRID = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)

Floats = npt.NDArray[np.float64]


def regress(
    train_x: Any,
    train_y: npt.ArrayLike,
    test_x: Any,
    *,
    grid: Sequence[float] = REGRESSION_GRID,
    folds: int = FOLDS,
    seed: int = 42,
    max_iter: int = 5000,
    scaled: bool = False,
) -> Floats:
    """Values (test rows,) that a linear SVR, trained on the train rows, gives the test rows.

    ``grid`` holds the values of C among which ``folds``-fold cross-validation on train chooses, by R². Targets are
    learnt in their own scale, as published; with ``scaled`` they are learnt with mean 0 and deviation 1 (on the
    sets here τ moves by less than two points either way, and learning takes six times as long). Raises InputError
    for fewer rows than folds, one value only, or values that are not finite.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import LinearSVR

    x, seen = as_features(train_x, "train rows"), as_features(test_x, "test rows")
    y = _values(train_y, x.shape[0], "train values")
    if len(y) < folds:
        raise InputError(f"{len(y)} papers with a value can't be cut into {folds} folds", "train values")
    if y.min() == y.max():
        raise InputError(f"every training paper has the value {y[0]:g}; nothing to learn", "train values")
    centre, spread = (float(y.mean()), float(y.std())) if scaled else (0.0, 1.0)
    search = GridSearchCV(LinearSVR(random_state=seed, max_iter=max_iter), {"C": list(grid)}, cv=folds)
    with threads(1), warnings.catch_warnings():
        # It stops at max_iter, which is no news to who set it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(x, (y - centre) / spread)
    return np.asarray(search.predict(seen) * spread + centre, dtype=np.float64)


def regression_scores(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    *,
    like: Score,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Score]:
    """One row ``tau``, Kendall's tau-b of truth and prediction, with its 95 % interval over papers.

    No row where one of them has a single value, since there is no order then.
    """
    predicted = np.asarray(y_pred, dtype=np.float64)
    truth = _values(y_true, len(predicted), "true values")
    value = kendall_tau(truth, predicted) if len(truth) > 1 else float("nan")
    if np.isnan(value):
        return []
    low, high = tau_interval(truth, predicted, resamples=resamples, seed=seed) or (None, None)
    return [replace(like, metric="tau", value=value, low=low, high=high, n=len(truth), unit="paper")]


def _values(y: npt.ArrayLike, rows: int, name: str) -> Floats:
    values = np.asarray(y, dtype=np.float64)
    if values.shape != (rows,):
        raise InputError(f"expected {rows} values, one a paper, got shape {values.shape}", name)
    if not np.isfinite(values).all():
        raise InputError(f"{int((~np.isfinite(values)).sum())} of {rows} values are not finite", name)
    return values
