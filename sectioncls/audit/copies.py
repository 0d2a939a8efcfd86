"""Articles that stand whole in another one: published twice, or under two ids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sectioncls.audit.rows import Array, Rows

__all__ = ["Articles", "articles_of", "whole_copies"]

SMALLEST = 2
"""Different texts that an article must have; a lone sentence elsewhere is a copied sentence, not a copied article."""

# Of an article made of stock phrases only ("None declared.") so many that hold its rarest one are looked at.
LOOKED_AT = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Articles:
    """The articles of each split: one that stands in two splits counts as two.

    ``of_row`` numbers them from 0 for each row, sorted by split and article; ``split`` and ``article`` are theirs,
    ``sentences`` their rows.
    """

    of_row: Array
    split: Array
    article: Array
    sentences: Array

    def __len__(self) -> int:
        return len(self.split)


def articles_of(rows: Rows) -> Articles:
    """Give the articles of each split."""
    count = np.int64(max(1, len(rows.article_ids)))
    codes, of_row, sentences = np.unique(
        rows.split.astype(np.int64) * count + rows.article, return_inverse=True, return_counts=True
    )
    return Articles(of_row, codes // count, codes % count, sentences)


def whole_copies(rows: Rows, articles: Articles) -> Array:
    """Give the pairs (inner, outer) of articles such that every text of inner, in any order, stands in outer.

    Equal articles make two pairs. Of one id in two splits no pair is made. Shape (n, 2), sorted.
    """
    texts = np.int64(max(1, len(rows.hashes)))
    held = np.unique(articles.of_row * texts + rows.text)  # (article, text), each once
    article, text = held // texts, held % texts
    bounds = np.searchsorted(article, np.arange(len(articles) + 1))
    by_text = np.argsort(text, kind="stable")
    where = np.searchsorted(text[by_text], np.arange(texts + 1))
    spread = np.diff(where)  # in how many articles a text stands
    found: list[tuple[int, int]] = []
    for inner in np.flatnonzero(np.minimum.reduceat(spread[text], bounds[:-1]) > 1) if len(articles) else ():
        own = text[bounds[inner] : bounds[inner + 1]]
        if len(own) < SMALLEST:
            continue
        rarest = own[np.argmin(spread[own])]
        for outer in article[by_text[where[rarest] : where[rarest + 1]][:LOOKED_AT]]:
            if outer == inner or articles.article[outer] == articles.article[inner]:
                continue
            other = text[bounds[outer] : bounds[outer + 1]]
            if len(other) >= len(own) and np.isin(own, other, assume_unique=True).all():
                found.append((int(inner), int(outer)))
    return np.array(found, dtype=np.int64).reshape(-1, 2)
