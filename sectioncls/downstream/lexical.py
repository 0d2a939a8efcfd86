"""What words alone give: BM25 and TF-IDF as scorers, and TF-IDF as features for the linear probes.

BM25 is bm25s's (Lucene's form, k1 1.5, b 0.75, English stop words, no stemming); TF-IDF is scikit-learn's with
logarithmic term counts and English stop words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.retrieve import Scorer, sparse_scorer
from sectioncls.errors import InputError

__all__ = ["TERMS", "Fitted", "bm25", "bm25_scorer", "tfidf", "tfidf_features", "tfidf_scorer"]

Fitted = Callable[[Sequence[str]], Scorer]
"""From queries to a scorer against documents that were counted once."""

TERMS = 50_000
"""At most so many terms are features of a probe, the commonest."""

K1, B = 1.5, 0.75


def bm25(documents: Sequence[str]) -> Fitted:
    """What gives queries (any texts, whole papers too) a scorer against ``documents`` by BM25.

    The statistics are those of ``documents``. A word that a query repeats counts as often as it stands there.
    Raises InputError for documents without a word.
    """
    import bm25s

    found = _words(documents)
    if not any(found):
        raise InputError("no document holds a word", "documents")
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index(found, show_progress=False)
    count = len(documents)

    def fitted(queries: Sequence[str]) -> Scorer:
        known = [index.get_tokens_ids(words) for words in _words(queries)]

        def scores(rows: Ids) -> npt.NDArray[np.float32]:
            values = np.zeros((len(rows), count), dtype=np.float32)
            for place, row in enumerate(rows):
                if known[row]:
                    values[place] = index.get_scores_from_ids(known[row])
            return values

        return scores

    return fitted


def tfidf(documents: Sequence[str]) -> Fitted:
    """What gives queries a scorer against ``documents`` by the cosine of their TF-IDF weights.

    The statistics are those of ``documents``. Raises InputError for documents without a word.
    """
    words = _vectorizer()
    try:
        weights = words.fit_transform(documents)
    except ValueError as error:
        raise InputError("no document holds a word", "documents") from error
    return lambda queries: sparse_scorer(words.transform(queries), weights)


def bm25_scorer(queries: Sequence[str], documents: Sequence[str]) -> Scorer:
    """A scorer of ``queries`` against ``documents`` by BM25; see bm25, which keeps the documents for more queries."""
    return bm25(documents)(queries)


def tfidf_scorer(queries: Sequence[str], documents: Sequence[str]) -> Scorer:
    """A scorer of ``queries`` against ``documents`` by TF-IDF; see tfidf."""
    return tfidf(documents)(queries)


def tfidf_features(train: Sequence[str], test: Sequence[str]) -> tuple[Any, Any]:
    """Sparse rows of ``train`` and ``test``: terms of two or more training texts, TERMS of them at most.

    Raises InputError where no word occurs in two of them.
    """
    words = _vectorizer(min_df=2, max_features=TERMS)
    try:
        weights = words.fit_transform(train)
    except ValueError as error:
        raise InputError("no word occurs in two of the texts", "train texts") from error
    return weights, words.transform(test)


def _vectorizer(**settings: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, stop_words="english", **settings)


def _words(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text as bm25s cuts them; a text without words has none."""
    import bm25s

    found = bm25s.tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)
    return [list(words) for words in found]
