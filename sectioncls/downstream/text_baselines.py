"""What words alone give, without an encoder: the baselines that stand beside every table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_ids
from sectioncls.downstream.cluster import kmeans
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError, UsageError
from sectioncls.parallel import worker_count

__all__ = ["TEXT_CLASSIFIERS", "TEXT_CLUSTERING", "classify_texts", "cluster_texts"]

TEXT_CLUSTERING = "tfidf-kmeans"

# Latent dimensions that k-means sees: the usual hundred, distances in raw TF-IDF are all alike.
TOPICS = 100


def classify_texts(
    train_texts: Sequence[str],
    train_y: npt.ArrayLike,
    test_texts: Sequence[str],
    *,
    method: str,
    seed: int = 0,
) -> Ids:
    """Class ids that ``method``, trained on the train sentences, predicts for the test sentences.

    ``majority`` says the commonest label of train (the lowest id of equals); ``tfidf-logistic-regression``
    weighs words and pairs of words. Raises UsageError for an unknown method, InputError for no sentences, for
    a single training label, or when no word occurs in two training sentences.
    """
    if method not in TEXT_CLASSIFIERS:
        raise UsageError(f"no text baseline {method!r}: {', '.join(TEXT_CLASSIFIERS)}")
    y = as_ids(train_y, len(train_texts), "train labels")
    if not len(y) or not len(test_texts):
        raise InputError("no sentences", "train and test texts")
    return TEXT_CLASSIFIERS[method](train_texts, y, test_texts, seed)


def cluster_texts(texts: Sequence[str], k: int, *, seed: int = 0, n_init: int = 10) -> tuple[Matrix, Ids]:
    """The space (rows x latent dimensions, float64) and the ids of ``k`` clusters of the sentences.

    TF-IDF of words and pairs, reduced to 100 latent dimensions at most and to unit length, then k-means. The
    space is what a silhouette of these clusters needs. Raises InputError for fewer sentences than clusters or
    too few words.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    if not 1 <= k <= len(texts):
        raise InputError(f"{len(texts)} sentences can't make {k} clusters", "texts")
    weights, _ = _tfidf(texts, [])
    with threads(1):
        if weights.shape[1] > TOPICS < len(texts):
            weights = TruncatedSVD(TOPICS, random_state=seed).fit_transform(weights)
        else:
            weights = weights.toarray()
        space = normalize(weights)
    return np.asarray(space), kmeans(space, k, n_init=n_init, seed=seed)


def _majority(train_texts: Sequence[str], y: Ids, test_texts: Sequence[str], seed: int) -> Ids:
    names, counts = np.unique(y, return_counts=True)
    return np.full(len(test_texts), names[np.argmax(counts)], dtype=np.int64)


def _logistic_regression(train_texts: Sequence[str], y: Ids, test_texts: Sequence[str], seed: int) -> Ids:
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(y)) < 2:
        raise InputError("the training sentences bear one label only; nothing to learn", "train labels")
    train, test = _tfidf(train_texts, test_texts)
    model = LogisticRegression(C=4, max_iter=1000, random_state=seed)
    # The solver stops by a tolerance, a little earlier or later by the order of its sums. More threads than cores that
    # we may use wait for each other: ten times as long.
    with threads(min(2, worker_count(0))):
        return np.asarray(model.fit(train, y).predict(test), dtype=np.int64)


def _tfidf(train: Sequence[str], test: Sequence[str]) -> tuple[Any, Any]:
    """Sparse weights of words and pairs of words that occur in two or more of ``train``."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    try:
        weights = words.fit_transform(train)
    except ValueError as error:
        raise InputError("no word occurs in two of the sentences", "texts") from error
    return weights, words.transform(test) if len(test) else None


TEXT_CLASSIFIERS: dict[str, Callable[[Sequence[str], Ids, Sequence[str], int], Ids]] = {
    "majority": _majority,
    "tfidf-logistic-regression": _logistic_regression,
}
