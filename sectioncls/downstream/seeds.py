"""Several seeds of one system: their spread, and whether systems differ by more than seeds do.

``scirepeval`` tests as arXiv 2211.13308 does: an analysis of variance over the seeds of all systems, then Tukey's test
of each pair. It sees the chance of training alone, and nothing of the chance in the test set: compare.py does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sectioncls.errors import InputError

__all__ = ["SeedPair", "SeedTest", "Spread", "seed_test", "spread"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of several seeds: mean, deviation (of a sample; None for one seed) and range."""

    mean: float
    deviation: float | None
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class SeedPair:
    """Tukey's test of two systems: ``difference`` is second minus first, with its simultaneous 95 % interval."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class SeedTest:
    """The analysis of variance over all systems (``f``, ``p``) and every pair of them."""

    f: float
    p: float
    pairs: tuple[SeedPair, ...]


def spread(values: Sequence[float]) -> Spread:
    """Mean, deviation and range of the values of some seeds. Raises InputError for none."""
    if not len(values):
        raise InputError("no value of any seed")
    given = [float(value) for value in values]
    deviation = float(np.std(given, ddof=1)) if len(given) > 1 else None
    return Spread(math.fsum(given) / len(given), deviation, min(given), max(given), len(given))


def seed_test(systems: Mapping[str, Sequence[float]]) -> SeedTest:
    """One-way analysis of variance over the seeds' values of systems, and Tukey's test of each pair.

    Raises InputError for fewer than two systems, a system with fewer than two seeds, or seeds that all agree.
    """
    from scipy.stats import f_oneway, tukey_hsd

    names = list(systems)
    if len(names) < 2:
        raise InputError("two systems or more are needed for a test over seeds")
    for name, values in systems.items():
        if len(values) < 2:
            raise InputError(f"{name} has {len(values)} seed, and a test over seeds needs two or more of each system")
    given = [np.asarray(values, dtype=np.float64) for values in systems.values()]
    if all(np.ptp(values) == 0 for values in given):
        raise InputError("the seeds of each system give one value, so there is no chance to test against")
    whole, pairs = f_oneway(*given), tukey_hsd(*given)
    bounds = pairs.confidence_interval(0.95)
    found = [
        SeedPair(
            names[a],
            names[b],
            float(given[b].mean() - given[a].mean()),
            float(bounds.low[b, a]),
            float(bounds.high[b, a]),
            float(pairs.pvalue[a, b]),
        )
        for a, b in combinations(range(len(names)), 2)
    ]
    return SeedTest(float(whole.statistic), float(whole.pvalue), tuple(found))
