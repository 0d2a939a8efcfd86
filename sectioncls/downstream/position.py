"""What the place of a sentence in its article tells of its role, without a word of it: the floor for context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_ids
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError

__all__ = ["POSITION", "classify_positions", "position_features"]

POSITION = "position-logistic-regression"

_TENTHS = 10
_ENDS = 5  # sentences at either end that have a feature of their own


def position_features(article_ids: Sequence[str], index: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Give 0/1 features (n, 20): the tenth of its article that a sentence stands in, and its place at either end."""
    places = np.asarray(index, dtype=np.int64)
    _, codes = np.unique(np.asarray(article_ids, dtype=object), return_inverse=True)
    order = np.lexsort((places, codes))
    firsts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    lengths = np.diff(firsts, append=len(order))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(firsts, lengths)
    left = lengths[codes] - 1 - ranks
    features = np.zeros((len(order), _TENTHS + 2 * _ENDS))
    rows = np.arange(len(order))
    features[rows, ranks * _TENTHS // lengths[codes]] = 1
    for first, distance in ((_TENTHS, ranks), (_TENTHS + _ENDS, left)):
        near = distance < _ENDS
        features[rows[near], first + distance[near]] = 1
    return features


def classify_positions(
    train: tuple[Sequence[str], npt.ArrayLike],
    train_y: npt.ArrayLike,
    test: tuple[Sequence[str], npt.ArrayLike],
    *,
    seed: int = 0,
) -> Ids:
    """Give the class ids that logistic regression predicts from positions alone.

    ``train`` and ``test`` are (article ids, places in the article). Raises InputError for no sentence or one label.
    """
    from sklearn.linear_model import LogisticRegression

    y = as_ids(train_y, len(train[0]), "train labels")
    if not len(y) or not len(test[0]):
        raise InputError("no sentences", "train and test positions")
    if len(np.unique(y)) < 2:
        raise InputError("the training sentences bear one label only; nothing to learn", "train labels")
    model = LogisticRegression(max_iter=1000, random_state=seed)
    with threads(1):
        return np.asarray(model.fit(position_features(*train), y).predict(position_features(*test)), dtype=np.int64)
