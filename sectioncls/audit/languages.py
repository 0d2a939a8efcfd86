"""Which language each sentence reads as; journals print articles in two, so an article alone does not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sectioncls.audit.rows import Array
from sectioncls.documents.language import SURE, recognise

__all__ = ["LanguageReader", "Languages"]


@dataclass(frozen=True, slots=True, eq=False)
class Languages:
    """Language codes (``en``), and for each row a position in them, -1 where a sentence says too little."""

    names: tuple[str, ...]
    codes: Array


class LanguageReader:
    """Takes the texts of a corpus in batches and gives their Languages in the end."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._codes: list[Array] = []

    def add(self, texts: Sequence[str]) -> None:
        """Judge the texts of a batch."""
        codes = np.full(len(texts), -1, dtype=np.int16)
        for row, text in enumerate(texts):
            name, probability = recognise(text)
            if name is not None and probability >= SURE:
                codes[row] = self._names.setdefault(name, len(self._names))
        self._codes.append(codes)

    def languages(self) -> Languages:
        """Give what was found."""
        return Languages(tuple(self._names), np.concatenate([np.zeros(0, np.int16), *self._codes]))
