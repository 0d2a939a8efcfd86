"""Reading a corpus once for all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sectioncls.audit.copies import Articles, articles_of, whole_copies
from sectioncls.audit.duplicates import NEAR, Sketches, confirmed
from sectioncls.audit.languages import LanguageReader, Languages
from sectioncls.audit.rows import Array, Batch, Rows, RowsReader, cells, normalised, read_batches
from sectioncls.corpora import Corpus

__all__ = ["Survey", "survey_corpus"]

Watch = Callable[[Iterable[Batch]], Iterator[Batch]]


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """All that the checks know of a corpus.

    ``copies`` are pairs (inner, outer) of articles, see whole_copies; ``near`` are pairs (n, 2) of texts whose
    Jaccard index is ``threshold`` or more.
    """

    rows: Rows
    articles: Articles
    copies: Array
    near: Array
    threshold: float
    languages: Languages

    def near_splits_of_texts(self) -> Array:
        """Give for each text the set of splits in which something nearly the same stands, as bits."""
        bits = np.zeros(len(self.rows.hashes), dtype=np.uint8)
        if len(self.near):
            there = self.rows.splits_of_texts()
            np.bitwise_or.at(bits, self.near[:, 0], there[self.near[:, 1]])
            np.bitwise_or.at(bits, self.near[:, 1], there[self.near[:, 0]])
        return bits


def survey_corpus(corpus: Corpus, *, near: float = NEAR, languages: bool = True, watch: Watch = iter) -> Survey:
    """Give what the checks need, read in batches: hashes and numbers are held, texts only of near candidates.

    ``watch`` passes the batches on and may show progress; without ``languages`` none is told, which saves two thirds of
    the time. Raises InputError for files that can't be read,
    UsageError for a threshold outside 0.5 to 1.
    """
    reader, sketches, tongues = RowsReader(corpus), Sketches(near), LanguageReader()
    for batch in watch(read_batches(corpus, RowsReader.COLUMNS)):
        texts, hashes = reader.add(batch)
        sketches.add(texts, hashes)
        if languages:
            tongues.add(texts)
    rows = reader.rows()
    articles_ = articles_of(rows)
    return Survey(
        rows=rows,
        articles=articles_,
        copies=whole_copies(rows, articles_),
        near=_near(corpus, rows, sketches, near),
        threshold=near,
        languages=tongues.languages(),
    )


def _near(corpus: Corpus, rows: Rows, sketches: Sketches, near: float) -> Array:
    """Give the pairs of texts that are nearly the same."""
    candidates = sketches.candidates()
    if not len(candidates):
        return np.zeros((0, 2), dtype=np.int64)
    pairs = np.searchsorted(rows.hashes, candidates).astype(np.int64)
    row_of = {int(text): int(rows.first_row[text]) for text in np.unique(pairs)}
    found = cells(corpus, row_of.values(), ("text",))
    text_of = {text: normalised(found[row][0]) for text, row in row_of.items()}
    return np.asarray(pairs[confirmed(pairs, text_of, near)])
