"""BM25 from a saved index: bm25s computes it and writes plain arrays, and a query adds up a few of their columns.

The import of bm25s takes longer than hundreds of queries, so reading needs numpy only; scores are those of
``bm25s.BM25.get_scores``.

Paper: Robertson & Zaragoza 2009, in Lucene's form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.errors import InputError

__all__ = ["BM25", "TERM_FILES", "Terms", "open_terms", "write_terms"]

BM25 = {"method": "lucene", "k1": 1.5, "b": 0.75}
"""How terms are weighted."""

TERM_FILES = tuple(
    f"{name}.index.{kind}"
    for name, kind in (
        ("data.csc", "npy"),
        ("indices.csc", "npy"),
        ("indptr.csc", "npy"),
        ("norms", "npy"),
        ("vocab", "json"),
        ("params", "json"),
    )
)
"""The files of a saved BM25, in bm25s's own form, and the lengths of its rows."""

# As in bm25s, where it is the default; English stop words are left out of the index, so a query need not know them.
_TERM = re.compile(r"(?u)\b\w\w+\b")


Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Weights by term: of term t, ``weights[starts[t]:starts[t + 1]]`` in the texts ``texts[…]``.

    ``norms`` (n,) are the lengths of the texts' rows of weights.
    """

    weights: npt.NDArray[np.float32]
    texts: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    norms: Floats
    vocabulary: dict[str, int]
    count: int
    path: Path

    def scores(self, query: str) -> npt.NDArray[np.float32]:
        """Give the BM25 score of every text for ``query``, (n,); 0 where no word of it occurs."""
        numbers = [self.vocabulary[word] for word in _TERM.findall(query.lower()) if word in self.vocabulary]
        return self._sum(numbers)

    def scores_like(self, row: int) -> npt.NDArray[np.float32]:
        """Give the cosine of every text's BM25 weights with those of text ``row``, (n,); 0 for a text without words.

        A whole text as a query favours texts that are long or repeat its common words; the cosine does not.
        """
        places = np.flatnonzero(self.texts == row)
        numbers = np.searchsorted(self.starts, places, side="right") - 1
        lengths = self.norms * self.norms[row]
        products = self._sum(numbers.tolist(), self.weights[places])
        cosines: Floats = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return cosines

    def _sum(self, numbers: Sequence[int], factors: Sequence[float] | Floats | None = None) -> Floats:
        """Give the sum of some terms' weights for every text, each term times its factor."""
        found = np.zeros(self.count, dtype=np.float32)
        for number, factor in zip(numbers, np.ones(len(numbers)) if factors is None else factors, strict=True):
            if not 0 <= number < len(self.starts) - 1:
                raise InputError("names a term that the index lacks", self.path / "vocab.index.json")
            part = slice(int(self.starts[number]), int(self.starts[number + 1]))
            rows = self.texts[part]
            if len(rows) and (int(rows.min()) < 0 or int(rows.max()) >= self.count):
                raise InputError("names a text that the index lacks", self.path / "indices.csc.index.npy")
            found[rows] += np.float32(factor) * self.weights[part]  # a text occurs once under each term
        return found


def write_terms(texts: Sequence[str], folder: Path) -> None:
    """Write the BM25 of ``texts`` into ``folder``; texts without a word may be among them."""
    import bm25s

    tokens = bm25s.tokenize(list(texts), stopwords="en", show_progress=False)
    if any(len(ids) for ids in tokens.ids):
        model = bm25s.BM25(backend="numpy", **BM25)
        model.index(tokens, show_progress=False)
        model.save(folder, show_progress=False, allow_pickle=False)
    else:
        _write_nothing(len(texts), folder)
    weights, rows = (np.load(folder / name, allow_pickle=False) for name in TERM_FILES[:2])
    squares = np.bincount(rows, np.square(weights, dtype=np.float64), minlength=len(texts))
    np.save(folder / TERM_FILES[3], np.sqrt(squares).astype(np.float32), allow_pickle=False)


def _write_nothing(count: int, folder: Path) -> None:
    """Write the index of texts without a word, which bm25s does not take: one term that no text has."""
    folder.mkdir(parents=True, exist_ok=True)
    empty: list[npt.NDArray[Any]] = [np.zeros(n, dtype) for n, dtype in ((0, np.float32), (0, np.int32), (2, np.int64))]
    for name, array in zip(TERM_FILES[:3], empty, strict=True):
        np.save(folder / name, array, allow_pickle=False)
    (folder / TERM_FILES[4]).write_text('{"": 0}', encoding="utf-8")
    (folder / TERM_FILES[5]).write_text(json.dumps({**BM25, "num_docs": count}), encoding="utf-8")


def open_terms(folder: Path) -> Terms:
    """Give a saved BM25; its arrays stay on disk. Raises InputError for files that are missing or don't fit."""
    data, indices, indptr, lengths, vocab, params = TERM_FILES
    weights, texts, starts, norms = (load_array(folder / name) for name in (data, indices, indptr, lengths))
    vocabulary, settings = (_json(folder / name) for name in (vocab, params))
    count = settings.get("num_docs")
    fits = (
        isinstance(count, int)
        and all(array.ndim == 1 for array in (weights, texts, starts))
        and len(weights) == len(texts)
        and norms.shape == (count,)
        and len(starts) > 1
        and int(starts[0]) == 0
        and int(starts[-1]) == len(weights)
        and bool((np.diff(starts) >= 0).all())
        and all(isinstance(number, int) for number in vocabulary.values())
    )
    if not fits or count is None:
        raise InputError("is not a BM25 index", folder, "build the index again: --rebuild")
    return Terms(weights, texts, np.asarray(starts), np.asarray(norms), vocabulary, int(count), folder)


def load_array(path: Path) -> npt.NDArray[Any]:
    """Give an array of numbers that stays on disk. Raises InputError when it is missing or something else."""
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"is not a saved array: {error}", path, "build the index again: --rebuild") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise InputError("is not an array of numbers", path, "build the index again: --rebuild")
    return array


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {error}", path, "build the index again: --rebuild") from error
    if not isinstance(content, dict):
        raise InputError("is not a JSON object", path, "build the index again: --rebuild")
    return content
