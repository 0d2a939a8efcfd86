"""Papers that repeat others: one text under several ids, one title in train and in an evaluation split."""

from __future__ import annotations

import hashlib

from sectioncls.papersets.splits import SPLITS, normalised

__all__ = ["Repeats"]

_TRAIN = 1


class Repeats:
    """Counts repeated texts while papers pass, by 8 bytes for each."""

    def __init__(self) -> None:
        self._texts: dict[bytes, int] = {}
        self._titles: dict[bytes, int] = {}
        self._splits = 0

    def add(self, title: str, abstract: str, split: int) -> None:
        """Count a paper; ``split`` is the number of its split."""
        words = normalised(title)
        self._splits |= 1 << split
        if words:
            key = _short(words)
            self._titles[key] = self._titles.get(key, 0) | 1 << split
        key = _short(f"{words}\n{normalised(abstract)}")
        self._texts[key] = self._texts.get(key, 0) + 1

    def notes(self) -> list[str]:
        """Give what is to be said about repeats, leaks between the splits and splits without papers."""
        notes = []
        repeats = sum(count - 1 for count in self._texts.values())
        if repeats:
            notes.append(f"{repeats} papers repeat title and abstract of another under another id (kept)")
        leaks = sum(1 for splits in self._titles.values() if splits & _TRAIN and splits > _TRAIN)
        if leaks:
            notes.append(f"{leaks} titles stand in train and in dev or test: leaks between them")
        empty = [name for number, name in enumerate(SPLITS) if not self._splits >> number & 1]
        if empty:
            notes.append(f"no paper is in {' or '.join(empty)}")
        return notes


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
