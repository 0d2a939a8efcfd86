"""What stands around a sentence, without its own words or without order: the ablations of context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_ids, as_matrix
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError

__all__ = ["TITLE", "classify_titles", "neighbour_vectors", "shuffled_articles"]

TITLE = "title-logistic-regression"


def classify_titles(
    train_paths: Sequence[Sequence[str]],
    train_y: npt.ArrayLike,
    test_paths: Sequence[Sequence[str]],
    *,
    seed: int = 0,
) -> Ids:
    """Give the class ids that logistic regression predicts from the titles of the sections alone.

    A path is the titles that a sentence stands under, outermost first; features are whether a title, or a word of one,
    is among them, in lower case. Raises InputError for no sentence or one label.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    y = as_ids(train_y, len(train_paths), "train labels")
    if not len(y) or not len(test_paths):
        raise InputError("no sentences", "train and test titles")
    if len(np.unique(y)) < 2:
        raise InputError("the training sentences bear one label only; nothing to learn", "train labels")
    words = CountVectorizer(analyzer=_title_features, binary=True)
    model = LogisticRegression(max_iter=1000, random_state=seed)
    with threads(1):
        model.fit(words.fit_transform(train_paths), y)
        return np.asarray(model.predict(words.transform(test_paths)), dtype=np.int64)


def neighbour_vectors(
    x: npt.ArrayLike, articles: Sequence[npt.NDArray[np.int64]], *, width: int = 1, own: bool = True
) -> Matrix:
    """Give each sentence's vector between those of its ``width`` neighbours on either side, end to end.

    ``articles`` are the rows of each article in order. Shape (n, (2 x width + 1) x dimension), without ``own`` one
    dimension less: the neighbours only. Beyond the ends of an article, and around a row of none, there are zeros.
    """
    rows = as_matrix(x)
    flat = np.concatenate([*articles, np.zeros(0, dtype=np.int64)])
    codes = np.repeat(np.arange(len(articles)), [len(article) for article in articles])
    offsets = [offset for offset in range(-width, width + 1) if offset or own]
    result = np.zeros((len(rows), len(offsets), rows.shape[1]), dtype=rows.dtype)
    for place, offset in enumerate(offsets):
        if offset == 0:
            result[:, place] = rows
            continue
        left, right = _shifted(codes, offset), _shifted(codes, -offset)
        inside = codes[left] == codes[right]
        result[flat[left][inside], place] = rows[flat[right][inside]]
    return result.reshape(len(rows), -1)


def shuffled_articles(
    articles: Sequence[npt.NDArray[np.int64]], random: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """Give the rows of each article in an order drawn anew: what is left of context without its order."""
    return [random.permutation(rows) for rows in articles]


def _shifted(codes: Ids, offset: int) -> slice:
    """Give the places that still have one ``offset`` further on."""
    return slice(max(0, -offset), max(0, len(codes) - max(0, offset)))


def _title_features(path: Sequence[str]) -> Iterator[str]:
    for title in path:
        lowered = title.casefold().strip()
        yield f"title {lowered}"
        yield from lowered.split()
    if not path:
        yield "no title"
