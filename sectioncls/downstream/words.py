"""Texts as lists of words, and the library that learns vectors of words from them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Matrix
from sectioncls.errors import InputError, UsageError

__all__ = ["TextEmbedder", "gensim_models", "unit_rows", "word_lists", "words_of"]

TextEmbedder: TypeAlias = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""From texts to unit rows, (texts, dimensions); zeros for a text of which no word is known."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Give the words of a text in lower case, of two characters or more; hyphens hold a word together."""
    return [word for word in _WORD.findall(text.lower()) if len(word) > 1]


def word_lists(texts: Sequence[str]) -> list[list[str]]:
    """Give the words of each text. Raises InputError where none of them has a word."""
    lists = [words_of(text) for text in texts]
    if not any(lists):
        raise InputError("no text holds a word to learn from", "texts")
    return lists


def gensim_models() -> Any:
    """Give the module ``gensim.models``. Raises UsageError where gensim is not installed."""
    if find_spec("gensim") is None:
        raise UsageError("doc2vec and fasttext need gensim, which is not installed", todo="pip install gensim")
    return importlib.import_module("gensim.models")


def unit_rows(rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Give rows at unit length; a row of zeros stays one."""
    given: Matrix = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", given, given))[:, None]
    return np.asarray(given / np.where(lengths > 0, lengths, 1), dtype=np.float32)
