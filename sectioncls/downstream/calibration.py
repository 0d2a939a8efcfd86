"""How far probabilities can be trusted: expected calibration error, and one temperature that mends most of it.

Paper: arXiv 1706.04599 (Guo et al.), sections 2 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError

__all__ = [
    "Bin",
    "Calibration",
    "among_allowed",
    "calibrate",
    "calibration_bins",
    "calibration_error",
    "fit_temperature",
    "with_temperature",
]

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of like probability: mean probability, share that is right, number."""

    probability: float
    accuracy: float
    n: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Expected calibration error and reliability bins on test, ``before`` and ``after`` one temperature from dev.

    Without dev there is no temperature, and ``after`` is None.
    """

    before: float
    bins_before: tuple[Bin, ...]
    temperature: float | None = None
    after: float | None = None
    bins_after: tuple[Bin, ...] = ()


def calibrate(
    probabilities: Floats,
    labels: npt.NDArray[np.integer],
    dev: tuple[Floats, npt.NDArray[np.integer]] | None = None,
    *,
    bins: int = 15,
) -> Calibration:
    """Give how far the probabilities (n, classes) of test can be trusted, and how far with a temperature from ``dev``.

    ``labels`` are columns of ``probabilities``; a row whose label has no column (it was not seen in training, so -1)
    is never right. The temperature is fitted on dev rows that have a column. Raises InputError for no rows, unequal
    lengths or values that are no probabilities.
    """
    for name, (chances, ids) in {"test": (probabilities, labels), **({"dev": dev} if dev else {})}.items():
        if len(chances) != len(ids) or not len(ids):
            raise InputError(f"{len(chances)} rows of probabilities but {len(ids)} labels", name)
        if not np.isfinite(chances).all() or chances.min() < 0 or np.abs(chances.sum(1) - 1).max() > 1e-3:
            raise InputError("rows that are no probabilities: they must sum to 1", name)
    plain = (calibration_error(probabilities, labels, bins), tuple(calibration_bins(probabilities, labels, bins)))
    known = np.asarray(dev[1]) >= 0 if dev else np.zeros(0, dtype=bool)
    if dev is None or not known.any():
        return Calibration(*plain)
    temperature = fit_temperature(dev[0][known], np.asarray(dev[1])[known])
    softened = with_temperature(probabilities, temperature)
    found = tuple(calibration_bins(softened, labels, bins))
    return Calibration(*plain, temperature, calibration_error(softened, labels, bins), found)


def calibration_bins(probabilities: Floats, labels: npt.NDArray[np.integer], bins: int = 15) -> list[Bin]:
    """Give the non-empty bins of equal width of the likeliest class's probability, (n, classes) against (n,)."""
    top = probabilities.max(1)
    right = probabilities.argmax(1) == labels
    # The k-th bin is (k/bins, (k+1)/bins], as in the paper.
    places = np.clip(np.ceil(top * bins).astype(int) - 1, 0, bins - 1)
    found = []
    for place in np.unique(places):
        inside = places == place
        found.append(Bin(float(top[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    return found


def calibration_error(probabilities: Floats, labels: npt.NDArray[np.integer], bins: int = 15) -> float:
    """Give the expected calibration error, 0 to 1: the mean gap between probability and share of right ones."""
    total = len(labels)
    return sum(b.n / total * abs(b.probability - b.accuracy) for b in calibration_bins(probabilities, labels, bins))


def fit_temperature(probabilities: Floats, labels: npt.NDArray[np.integer]) -> float:
    """Give the temperature that makes ``labels`` likeliest; above 1 softens, below 1 sharpens. Fit it on dev."""
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        softened = with_temperature(probabilities, float(np.exp(log_temperature)))
        return float(-np.log(softened[np.arange(len(labels)), labels].clip(1e-12)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def among_allowed(probabilities: Floats, allowed: npt.NDArray[np.bool_]) -> Floats:
    """Give the probabilities (n, classes) of each row among its ``allowed`` classes, made to sum to one."""
    kept = np.where(allowed, probabilities, 0)
    return np.asarray(kept / kept.sum(1, keepdims=True).clip(1e-12))


def with_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Give ``p^{1/T}`` made to sum to one, which divides the logits by T; the order of classes stays."""
    logs = np.log(np.clip(probabilities, 1e-12, None)) / temperature
    powers = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))
