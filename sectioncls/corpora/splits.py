"""Which split an article or a sentence belongs to: 80 % train, 10 % dev, 10 % test."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping

__all__ = ["SHARES", "StratifiedSplitter", "hash_fraction", "split_of_article"]

SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


def hash_fraction(article_id: str, seed: int) -> float:
    """Give a number in [0, 1) that depends on nothing but article id and seed (SHA-256)."""
    digest = hashlib.sha256(f"{seed}:{article_id}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def split_of_article(article_id: str, seed: int) -> str:
    """Give the split of an article: it never depends on which other articles there are."""
    fraction = hash_fraction(article_id, seed)
    if fraction < SHARES["train"]:
        return "train"
    return "dev" if fraction < SHARES["train"] + SHARES["dev"] else "test"


class StratifiedSplitter:
    """Splits sentences so that each label has its exact share in every split, as PMC-Sents-FULL does.

    Sentences are drawn in a stream (selection sampling: each goes to a split with the chance that the places
    left there bear to the sentences left), so only counts are held. Of n sentences with a label, round(n / 5)
    leave train, half of them to dev, and test gets the odd one.
    """

    def __init__(self, counts: Mapping[str, int], seed: int) -> None:
        self._random = random.Random(seed)
        self._left = dict(counts)
        self._places: dict[str, dict[str, int]] = {}
        for label, count in counts.items():
            held = round(count * (SHARES["dev"] + SHARES["test"]))
            self._places[label] = {"dev": held // 2, "test": held - held // 2}

    def split_of(self, label: str) -> str:
        """Give the split of the next sentence with this label."""
        places = self._places[label]
        draw = self._random.random() * self._left[label]
        self._left[label] -= 1
        for split in ("dev", "test"):
            if draw < places[split]:
                places[split] -= 1
                return split
            draw -= places[split]
        return "train"
