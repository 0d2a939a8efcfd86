"""What a protocol fixes, and the orders in which it may hand rows to a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError, UsageError

__all__ = ["ENGINES", "Protocol", "length_order", "row_order"]

ENGINES = ("auto", "scikit-learn", "intelex")

# Runs this short are sorted by insertion.
SHORT_RUN = 16


@dataclass(frozen=True, slots=True)
class Protocol:
    """The exact settings of an evaluation of embeddings.

    ``seed`` is every method's ``random_state``; give another with ``dataclasses.replace``. ``order`` is the
    order in which rows reach a method that learns from them: ``file``, or ``length`` (see length_order).
    ``classifiers`` maps each method to the scikit-learn settings that differ from the library's defaults
    (k nearest neighbours weighs ceil(sqrt(training rows)) neighbours by distance, unless ``n_neighbors`` says
    another number); ``methods`` are those that an evaluation runs unless it names others. ``n_init`` is the
    number of starts of k-means. ``silhouette_of`` says of which assignments a silhouette is given:
    ``clusters``, ``labels``; up to ``silhouette_rows`` rows it is exact, above it is that of a stratified sample
    (None: always exact, by scikit-learn).

    ``grids`` maps a method to the values of each setting that are tried on dev (``scaled``: columns brought to
    mean 0 and deviation 1), learnt from ``grid_rows`` training rows at most; ``uses_dev`` says whether dev is
    read, for grids and for temperatures. ``more`` adds the scores that the paper doesn't have. ``engine`` is who
    computes SVM and k nearest neighbours: ``scikit-learn``, ``intelex`` (scikit-learn-intelex), or ``auto``,
    which is intelex for many rows where it is installed.
    """

    name: str
    seed: int
    order: Literal["file", "length"]
    classifiers: Mapping[str, Mapping[str, Any]]
    methods: tuple[str, ...]
    n_init: int
    silhouette_of: tuple[str, ...]
    silhouette_rows: int | None = 10_000
    grids: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=lambda: MappingProxyType({}))
    grid_rows: int = 5000
    uses_dev: bool = True
    more: bool = True
    engine: Literal["auto", "scikit-learn", "intelex"] = "auto"


def row_order(protocol: Protocol, n: int, lengths: Sequence[int] | None) -> npt.NDArray[np.intp]:
    """Row numbers in the order in which ``protocol`` hands ``n`` rows to a method.

    ``lengths`` are the rows' lengths in characters, which the order ``length`` needs. Raises UsageError when
    they are missing, InputError when they are not n.
    """
    if protocol.order == "file":
        return np.arange(n)
    if lengths is None:
        raise UsageError(f"the protocol {protocol.name} orders rows by length and needs their lengths")
    if len(lengths) != n:
        raise InputError(f"{n} rows but {len(lengths)} lengths", "embeddings")
    return length_order(lengths)


def length_order(lengths: Sequence[int]) -> npt.NDArray[np.intp]:
    """Row numbers that sort ``lengths`` upwards, ties as numpy's plain quicksort leaves them.

    numpy breaks ties in its default sort by the vector instructions of the processor at hand. Written out in
    Python (median of three, short runs by insertion) the order is the same on every machine, and it is that
    of ``numpy.argsort`` and ``pandas.sort_values`` where no vector instructions are used.
    """
    keys = [int(length) for length in lengths]
    rows = list(range(len(keys)))
    waiting = [(0, len(keys) - 1)]
    while waiting:
        low, high = waiting.pop()
        while high - low >= SHORT_RUN:
            split = _partition(keys, rows, low, high)
            waiting.append((split + 1, high))
            high = split - 1
        for at in range(low + 1, high + 1):
            row, place = rows[at], at
            while place > low and keys[row] < keys[rows[place - 1]]:
                rows[place] = rows[place - 1]
                place -= 1
            rows[place] = row
    return np.array(rows, dtype=np.intp)


def _partition(keys: list[int], rows: list[int], low: int, high: int) -> int:
    """Split rows[low:high+1] around the median of its first, middle and last; return the pivot's place."""
    middle = low + (high - low) // 2
    for left, right in ((low, middle), (middle, high), (low, middle)):
        if keys[rows[right]] < keys[rows[left]]:
            rows[left], rows[right] = rows[right], rows[left]
    pivot = keys[rows[middle]]
    up, down = low, high - 1
    rows[middle], rows[down] = rows[down], rows[middle]
    while True:
        up += 1
        while keys[rows[up]] < pivot:
            up += 1
        down -= 1
        while pivot < keys[rows[down]]:
            down -= 1
        if up >= down:
            break
        rows[up], rows[down] = rows[down], rows[up]
    rows[up], rows[high - 1] = rows[high - 1], rows[up]
    return up
