"""How far probabilities can be trusted: expected calibration error, and one temperature that mends most of it.

Paper: arXiv 1706.04599 (Guo et al.), sections 2 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Bin", "calibration_bins", "calibration_error", "fit_temperature", "with_temperature"]

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of like probability: mean probability, share that is right, number."""

    probability: float
    accuracy: float
    n: int


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


def with_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Give ``p^{1/T}`` made to sum to one, which divides the logits by T; the order of classes stays."""
    logs = np.log(np.clip(probabilities, 1e-12, None)) / temperature
    powers = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))
