"""Labels that a model trained on the other articles would not give: candidates for a second look.

Paper: Northcutt, Jiang and Chuang 2021, Confident Learning (arXiv 1911.00068), section 3.1: a row is suspect when
the out-of-sample probability of another label reaches what is usual for rows that bear that label.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.audit.rows import Array, Batch, RowsReader, cells, read_batches
from sectioncls.corpora import Corpus
from sectioncls.errors import InputError

__all__ = ["Suspect", "confident_labels", "find_label_errors", "out_of_fold"]

FOLDS = 5
FEATURES = 2**18
Probabilities = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A sentence whose label is doubted: what it bears, what it more likely is, and how likely both are."""

    rank: int
    split: str
    article_id: str
    index: int
    label: str
    suggested: str
    probability: float
    suggested_probability: float
    text: str | None = None


def find_label_errors(corpus: Corpus, *, with_text: bool = False) -> list[Suspect]:
    """Give the suspects of all splits, the surest first.

    Probabilities come from TF-IDF of words and pairs of words with logistic regression, each article judged by
    a model that has seen none of it. Raises InputError for a corpus with one label or one article only.
    """
    reader = RowsReader(corpus)
    rows, probabilities = _probabilities(corpus, reader)
    suggested = confident_labels(probabilities, rows.label)
    found = np.flatnonzero(suggested != rows.label)
    own, other = probabilities[found, rows.label[found]], probabilities[found, suggested[found]]
    order = np.lexsort((found, own - other))
    texts = cells(corpus, found, ("text",)) if with_text else {}
    return [
        Suspect(
            rank=rank,
            split=rows.splits[rows.split[row]],
            article_id=rows.article_ids[rows.article[row]],
            index=int(rows.index[row]),
            label=rows.labels[rows.label[row]],
            suggested=rows.labels[suggested[row]],
            probability=round(float(own[number]), 4),
            suggested_probability=round(float(other[number]), 4),
            text=texts[int(row)][0] if with_text else None,
        )
        for rank, (number, row) in enumerate(zip(order, found[order], strict=True), start=1)
    ]


def confident_labels(probabilities: Probabilities, labels: Array) -> Array:
    """Give for each row the label that it confidently has, or the one that it bears.

    ``probabilities`` are rows x labels, out of sample. A label's threshold is its mean probability over the rows
    that bear it; among the labels at or above theirs a row has the likeliest. A row whose own label is the
    likeliest of all keeps it.
    """
    count = probabilities.shape[1]
    thresholds = np.full(count, np.inf)
    for label in np.unique(labels):
        thresholds[label] = probabilities[labels == label, label].mean()
    confident = np.where(probabilities >= thresholds - 1e-12, probabilities, -1.0)
    best = np.argmax(confident, axis=1)
    sure = (confident.max(axis=1) >= 0) & (np.argmax(probabilities, axis=1) != labels)
    return np.where(sure, best, labels)


def out_of_fold(features: Any, labels: Array, groups: Array) -> Probabilities:
    """Give rows x labels probabilities, each group judged by a model of the other groups (columns by label id)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    found = np.zeros((len(labels), int(labels.max()) + 1))
    folds = GroupKFold(min(FOLDS, len(np.unique(groups))))
    # A rank needs no last digits: the solver may stop early. One thread keeps the order of its sums.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, held in folds.split(features, labels, groups):
            if len(np.unique(labels[train])) < 2:
                found[held, labels[train[0]]] = 1.0
                continue
            model = LogisticRegression(C=4, max_iter=100, tol=1e-3).fit(features[train], labels[train])
            found[np.ix_(held, model.classes_)] = model.predict_proba(features[held])
    return found


def _probabilities(corpus: Corpus, reader: RowsReader) -> tuple[Any, Probabilities]:
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    words = HashingVectorizer(
        n_features=FEATURES, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32
    )
    parts = []
    for batch in _read(corpus):
        texts, _ = reader.add(batch)
        parts.append(words.transform(texts))
    rows = reader.rows()
    if len(np.unique(rows.label)) < 2 or len(rows.article_ids) < 2:
        raise InputError("has one label or one article only: nothing to judge labels by", corpus.path)
    counts = vstack(parts).tocsr()
    counts = counts[:, np.flatnonzero(counts.getnnz(axis=0) > 1)]  # a word of one sentence tells nothing of another
    features = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return rows, out_of_fold(features, rows.label.astype(np.int64), rows.article)


def _read(corpus: Corpus) -> Iterable[Batch]:
    return read_batches(corpus, RowsReader.COLUMNS)
