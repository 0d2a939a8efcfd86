"""Bands of ranks around a paper, and how they scale with the number of papers."""

from __future__ import annotations

from dataclasses import dataclass

from sectioncls.errors import InputError, UsageError

__all__ = ["Band", "check_bands", "scaled_bands"]

# What the paper tuned: bands that end at these ranks, among as many papers.
K_PLUS, K_MINUS, PAPERS = 25, 4000, 680_967


@dataclass(frozen=True, slots=True)
class Band:
    """The neighbours of ranks low + 1 … high of a paper; rank 1 is the nearest, the paper itself has none."""

    low: int
    high: int

    @property
    def width(self) -> int:
        """Number of ranks."""
        return self.high - self.low


def scaled_bands(papers: int, *, positives: int = 5, hard: int = 2) -> tuple[Band, Band]:
    """Give SciNCL's bands, (20, 25] and (3998, 4000], scaled to a graph of ``papers``: positives, hard negatives.

    The hard negatives' rank goes with the square root of the number of papers, half of them at most; the positives'
    stays 25, a tenth of the other at most; and neither is less than its count needs. Raises InputError where the graph
    is too small to hold both bands.
    """
    k_minus = min(round(K_MINUS * min(1.0, papers / PAPERS) ** 0.5), papers // 2)
    k_plus = max(positives, min(K_PLUS, k_minus // 10))
    k_minus = max(k_minus, k_plus + hard)
    bands = Band(k_plus - positives, k_plus), Band(k_minus - hard, k_minus)
    check_bands(*bands, papers, positives=positives, hard=hard)
    return bands


def check_bands(near: Band, far: Band, papers: int, *, positives: int, hard: int) -> None:
    """Raise UsageError where bands are narrower than their counts or overlap, InputError where the graph is too small.

    ``papers`` are the candidates, among them the query itself, which has no rank.
    """
    if near.low < 0 or near.width < positives:
        raise UsageError(f"a band of ranks {near.low + 1} to {near.high} does not hold {positives} positives", "bands")
    if far.low < 0 or far.width < hard:
        raise UsageError(f"a band of ranks {far.low + 1} to {far.high} does not hold {hard} hard negatives", "bands")
    if far.low < near.high:
        raise UsageError(
            f"bands overlap: positives end at rank {near.high}, hard negatives begin at rank {far.low + 1}", "bands"
        )
    if far.high >= papers:
        raise InputError(
            f"hard negatives end at rank {far.high}, but a paper has {max(papers - 1, 0)} neighbours",
            "bands",
            "take smaller bands, such as scaled_bands gives",
        )
