"""A set of pairs of row numbers that answers for many pairs at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["PairSet", "pair_keys", "pair_set", "set_of_keys"]

Rows = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

# Golden ratio x 2**64, the multiplier of Fibonacci hashing.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
# Slots of the filter: eight a pair, at most 64 MB.
SLOTS, LARGEST = 8, 26
SHARED = np.uint8(255)


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """Pairs (a, b) as ascending keys a * width + b, behind a hashed filter that turns strangers away.

    A slot of ``filter`` is 0 when empty, else the mark of its key, an odd number, or 255 where keys of two marks meet.
    """

    width: int
    keys: Rows
    filter: Bytes

    def __len__(self) -> int:
        return len(self.keys)

    def has(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Mask:
        """Say for each pair whether it is in the set; arrays broadcast, pairs with a negative number are not."""
        first, second = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
        asked = first * np.int64(self.width) + second
        slot, mark = _places(asked, len(self.filter))
        held = self.filter[slot]
        found: Mask = np.equal(held, mark)
        found |= held == SHARED
        found &= second >= 0  # a negative first number makes a negative key, which no pair has
        rest = asked[found]
        if len(rest):
            found[found] = self.keys[np.minimum(np.searchsorted(self.keys, rest), len(self.keys) - 1)] == rest
        return found

    def lacks(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Mask:
        """Say for each pair whether it is not in the set."""
        found = self.has(a, b)
        return np.logical_not(found, out=found)


def pair_keys(a: npt.ArrayLike, b: npt.ArrayLike, width: int) -> Rows:
    """Give the keys a * width + b of the pairs, ascending and each once; ``width`` is above every b."""
    keys = np.asarray(a, dtype=np.int64) * np.int64(width) + np.asarray(b, dtype=np.int64)
    keys.sort()
    return keys[np.concatenate(([True], keys[1:] != keys[:-1]))] if len(keys) else keys


def pair_set(a: npt.ArrayLike, b: npt.ArrayLike, width: int) -> PairSet:
    """Make the set of the pairs (a, b), in any order and with repeats; ``width`` is above every b."""
    return set_of_keys(pair_keys(a, b, width), width)


def set_of_keys(keys: Rows, width: int) -> PairSet:
    """Make the set of pairs from their keys, ascending and each once."""
    table = np.zeros(1 << min(max(SLOTS * len(keys), 2).bit_length(), LARGEST), dtype=np.uint8)
    slot, mark = _places(keys, len(table))
    table[slot] = mark
    table[slot[table[slot] != mark]] = SHARED
    return PairSet(width, keys, table)


def _places(keys: Rows, size: int) -> tuple[Rows, Bytes]:
    """Give slot and mark of each key: the high bits of a product, which are its well-mixed ones, and those below."""
    mixed = keys.view(np.uint64) * MULTIPLIER
    bits = size.bit_length() - 1
    mark = (mixed >> np.uint64(56 - bits)).astype(np.uint8)
    mixed >>= np.uint64(64 - bits)
    return mixed.view(np.int64), mark | np.uint8(1)
