"""A paper set as a training sees it: texts, the rows that may be learnt from, the graph of training edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.mining import Graph, graph_of
from sectioncls.papersets import Papers, PaperSet, paper_text, paper_texts
from sectioncls.recipes.papers.schema import PapersOptions

__all__ = ["Material", "material_of", "search_text", "search_texts"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What a training needs of a paper set, read once.

    ``texts`` are the papers as an encoder reads them, ``learnt`` the same with some papers' titles alone, ``found`` as
    documents of a search; ``rows`` are the papers that are learnt from and have a text, ``wordless`` counts those
    without.
    """

    papers: PaperSet
    table: Papers
    options: PapersOptions
    texts: tuple[str, ...]
    learnt: tuple[str, ...]
    found: tuple[str, ...]
    rows: Rows
    wordless: int

    def own(self, rows: npt.ArrayLike) -> Rows:
        """Give the places of papers among ``rows``, -1 for those that are not."""
        places = np.full(len(self.table), -1, dtype=np.int64)
        places[self.rows] = np.arange(len(self.rows))
        found: Rows = places[np.asarray(rows, dtype=np.int64)]
        return found

    def split_rows(self, *splits: str) -> Rows:
        """Give the papers of some splits that have a text."""
        rows = self.table.rows(*splits)
        worded: Rows = rows[np.array([bool(self.texts[row]) for row in rows], dtype=bool)]
        return worded

    def graph(self) -> Graph:
        """Give the citations that are learnt from among ``rows``, numbered by their places there."""
        edges = self.own(self.papers.citations(*self.learnt_splits))
        return graph_of(edges[(edges >= 0).all(1)], len(self.rows))

    @property
    def learnt_splits(self) -> tuple[str, ...]:
        """The splits that are learnt from: train, where the recipe says ``transductive`` all."""
        return ("train", "dev", "test") if self.options.transductive else ("train",)

    def overlap(self) -> list[str]:
        """Say how much of what is judged is learnt from, in a line each; nothing where it is nothing."""
        if not self.options.transductive:
            return []
        papers, edges = len(self.table.rows("test")), len(self.papers.citations("test"))
        return [f"transductive: {papers} test papers and {edges} citations of test papers are learnt from"]

    def learnt_texts(self) -> tuple[str, ...]:
        """Give the texts of ``rows`` as they are learnt from."""
        return tuple(self.learnt[row] for row in self.rows)


def material_of(papers: PaperSet, options: PapersOptions, seed: int) -> Material:
    """Read a paper set; ``seed`` chooses the papers whose title stands alone, one by one whatever the order."""
    table = papers.papers()
    texts = tuple(text.strip() for text in paper_texts(table, separator=options.separator))
    alone = np.random.default_rng((seed, 0)).random(len(table)) < options.titles_alone
    learnt = tuple(
        title.strip() if one and title.strip() else text
        for title, one, text in zip(table.titles, alone, texts, strict=True)
    )
    rows = table.rows() if options.transductive else table.rows("train")
    worded = rows[np.array([bool(texts[row]) for row in rows], dtype=bool)]
    found = tuple(search_texts(table, options))
    return Material(papers, table, options, texts, learnt, found, worded, len(rows) - len(worded))


def search_text(title: str, abstract: str, year: int, venue: str, *, separator: str, fields: Sequence[str] = ()) -> str:
    """Give a paper as a document of a search: title, the ``fields`` venue and year where known, abstract.

    The fields stand before the abstract, for texts are cut at their end. Paper: arXiv 2211.13308, section 4.
    """
    known = {"venue": venue, "year": str(year) if year >= 0 else ""}
    head = separator.join(part for part in (title, *(known[field] for field in fields)) if part)
    return paper_text(head, abstract, separator)


def search_texts(table: Papers, options: PapersOptions) -> list[str]:
    """Give all papers as documents of a search."""
    columns = zip(table.titles, table.abstracts, table.years.tolist(), table.venues, strict=True)
    separator, fields = options.separator, options.search_fields
    return [search_text(*row, separator=separator, fields=fields).strip() for row in columns]
