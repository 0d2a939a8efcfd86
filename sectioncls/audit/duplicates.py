"""Near duplicates among sentences, by MinHash: which different texts share most of their pairs of words.

Signatures propose pairs (Broder 1997; banding as in Leskovec et al., Mining of Massive Datasets, chapter 3), the
exact Jaccard index decides. So the pairs found are right, and at the threshold at most one in a hundred is missed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sectioncls.audit.rows import Array
from sectioncls.errors import UsageError

__all__ = ["NEAR", "Sketches", "bands", "confirmed", "jaccard", "shingles"]

NEAR = 0.8
"""Jaccard index from which texts count as nearly the same: one word replaced in a sentence of twenty."""

PERMUTATIONS = 128
MISSED = 0.01
SEED = 1
# Of look-alikes by the thousand (tables read as text, forms) each is compared with so many others a band, no more.
NEIGHBOURS = 16
_WORD = re.compile(r"\w+")


def shingles(text: str) -> frozenset[str]:
    """Give the pairs of neighbouring words of a normalised text, the word of a single one, nothing of none."""
    words = _WORD.findall(text)
    if len(words) < 2:
        return frozenset(words)
    return frozenset(map(" ".join, pairwise(words)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Give the share of shingles that two texts have in common; 0 when both have none."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 0.0


def bands(near: float) -> tuple[int, int]:
    """Give (bands, rows a band): the most selective ones that miss at most 1 % of pairs as alike as ``near``."""
    if not 0.5 <= near <= 1:
        raise UsageError(f"--near {near:g} is not between 0.5 and 1")
    every = ((PERMUTATIONS // rows, rows) for rows in range(PERMUTATIONS, 0, -1))
    return next((count, rows) for count, rows in every if (1 - near**rows) ** count <= MISSED)


class Sketches:
    """Signatures of the different texts of a corpus, 32 bits a band."""

    def __init__(self, near: float) -> None:
        self._bands, self._rows = bands(near)
        self._hashes: list[Array] = []
        self._bits: list[Array] = []

    def add(self, texts: Sequence[str], hashes: Array) -> None:
        """Sketch the normalised texts of a batch; ``hashes`` tells which are the same."""
        from rensa import RMinHash

        unique, first = np.unique(hashes, return_index=True)
        sets = [sorted(shingles(texts[row])) for row in first]
        kept = [number for number, parts in enumerate(sets) if parts]
        if not kept:
            return
        matrix = RMinHash.digest_matrix_from_token_sets([sets[number] for number in kept], PERMUTATIONS, SEED)
        signatures = np.array(matrix.to_rows(), dtype=np.uint64)
        signatures = signatures[:, : self._bands * self._rows].reshape(len(kept), self._bands, self._rows)
        mixed = np.zeros(signatures.shape[:2], dtype=np.uint64)
        for column in range(self._rows):  # FNV-1a over the numbers of a band; the upper half is mixed best
            mixed = (mixed ^ signatures[:, :, column]) * np.uint64(0x100000001B3) + np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        self._hashes.append(unique[kept])
        self._bits.append((mixed >> np.uint64(32)).astype(np.uint32))

    def candidates(self) -> Array:
        """Give the pairs of hashes (n, 2) whose signatures agree in a band, each once, sorted."""
        if not self._hashes:
            return np.zeros((0, 2), dtype=np.uint64)
        hashes, first = np.unique(np.concatenate(self._hashes), return_index=True)
        bits = np.concatenate(self._bits)[first]
        count = np.int64(len(hashes))
        found: list[Array] = []
        for band in range(self._bands):
            order = np.argsort(bits[:, band], kind="stable")
            values = bits[order, band]
            for step in range(1, NEIGHBOURS + 1):
                same = np.flatnonzero(values[:-step] == values[step:])
                if not len(same):
                    break
                one, other = order[same], order[same + step]  # stable: one < other
                found.append(np.unique(one * count + other))
        if not found:
            return np.zeros((0, 2), dtype=np.uint64)
        codes = np.unique(np.concatenate(found))
        return np.stack([hashes[codes // count], hashes[codes % count]], axis=1)


def confirmed(pairs: Array, text_of: Mapping[int, str], near: float) -> npt.NDArray[np.bool_]:
    """Give the mask of those pairs whose normalised texts are as alike as ``near``."""
    sets = {key: shingles(text) for key, text in text_of.items()}
    return np.array([jaccard(sets[one], sets[other]) >= near for one, other in pairs.tolist()], dtype=np.bool_)
