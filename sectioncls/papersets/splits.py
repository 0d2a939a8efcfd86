"""Which split a paper, a citation or a query belongs to.

The rule of paper sets: a paper's split hangs on its title alone, so that two records of one paper are never parted.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from sectioncls.errors import InputError

__all__ = ["SPLITS", "known_split", "normalised", "split_number", "split_of_paper", "split_of_query"]

SPLITS = ("train", "dev", "test")
"""The position is the number that a split has in arrays; a citation has the greatest of its two papers'."""
_NAMES = {"train": "train", "dev": "dev", "val": "dev", "valid": "dev", "validation": "dev", "test": "test"}
_OTHERS = re.compile(r"[^a-z0-9]+")


def normalised(text: str) -> str:
    """Give a text in lower case and NFKD, every run of other characters than a-z and 0-9 as one blank."""
    return _OTHERS.sub(" ", unicodedata.normalize("NFKD", text.lower())).strip()


def split_of_paper(title: str, fallback: str, seed: int = 0) -> str:
    """Give the split by a hash of the normalised title, of ``fallback`` where there is none: 80/10/10."""
    place = _hashed(f"{_prefix('split', seed)}{normalised(title) or fallback}") % 10
    return "test" if place == 0 else "dev" if place == 1 else "train"


def split_of_query(query: str, seed: int = 0) -> str:
    """Give the split of a search query that nobody trains on: one in four is dev, the others are test."""
    return "dev" if _hashed(f"{_prefix('query', seed)}{query}") % 4 == 0 else "test"


def split_number(split: str) -> int:
    """Give the place of a split in SPLITS. Raises InputError for another name."""
    if split not in SPLITS:
        raise InputError(f"{split!r} is not a split", None, f"one of {', '.join(SPLITS)}")
    return SPLITS.index(split)


def known_split(name: str) -> str | None:
    """Give our name of a split as others write it (``val``, ``Test``), None for what is no split."""
    return _NAMES.get(name.strip().lower())


def _prefix(kind: str, seed: int) -> str:
    return f"{kind}:" if seed == 0 else f"{kind}:{seed}:"


def _hashed(text: str) -> int:
    return int(hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:8], 16)
