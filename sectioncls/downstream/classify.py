"""Five classifiers that judge embeddings by what a simple learner can read from them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, as_ids, as_matrix
from sectioncls.downstream.protocols import Protocol, row_order
from sectioncls.downstream.threads import threads
from sectioncls.errors import InputError, UsageError

__all__ = ["CLASSIFIERS", "classify"]


def classify(
    train_x: npt.ArrayLike,
    train_y: npt.ArrayLike,
    test_x: npt.ArrayLike,
    *,
    method: str,
    protocol: Protocol,
    train_lengths: Sequence[int] | None = None,
) -> Ids:
    """Class ids that ``method``, trained on the train embeddings, predicts for the test rows, in their order.

    ``train_x`` and ``test_x`` are rows x dimensions, ``train_y`` holds class ids. ``train_lengths`` are the
    lengths in characters of the training sentences, which the protocol ``paper`` sorts by; the order of the
    test rows changes no prediction and is left alone. Paper: arXiv 2404.00224, section 5. Raises UsageError
    for an unknown method, InputError for non-finite embeddings, unequal sizes or a single training label.
    """
    if method not in CLASSIFIERS or method not in protocol.classifiers:
        raise UsageError(f"no classifier {method!r} in the protocol {protocol.name}: {', '.join(CLASSIFIERS)}")
    x, seen = as_matrix(train_x, "train embeddings"), as_matrix(test_x, "test embeddings")
    y = as_ids(train_y, len(x), "train labels")
    if x.shape[1] != seen.shape[1]:
        raise InputError(f"train rows have {x.shape[1]} dimensions, test rows {seen.shape[1]}", "embeddings")
    if len(np.unique(y)) < 2:
        raise InputError("the training sentences bear one label only; nothing to learn", "train labels")
    order = row_order(protocol, len(x), train_lengths)
    model = CLASSIFIERS[method](y, protocol.seed, dict(protocol.classifiers[method]))
    return _fit_predict(model, x[order], y[order], seen, single_thread=method == "mlp")


def _fit_predict(model: Any, x: Any, y: Ids, seen: Any, *, single_thread: bool) -> Ids:
    from sklearn.exceptions import ConvergenceWarning

    # The perceptron's sums depend on how many threads share a product; the others' results don't.
    with threads(1) if single_thread else nullcontext(), warnings.catch_warnings():
        # It stops at 200 rounds by the paper's settings, which is no news to who asked for them.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(x, y).predict(seen), dtype=np.int64)


def _decision_tree(y: Ids, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed, **settings)


def _knn(y: Ids, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(math.ceil(math.sqrt(len(y))), weights="distance", n_jobs=-1, **settings)


def _random_forest(y: Ids, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=-1, **settings)


def _mlp(y: Ids, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.neural_network import MLPClassifier

    counts = np.unique(y, return_counts=True)[1]
    # The rows held out for early stopping are a tenth of each label: some sets are too small for that.
    if counts.min() < 2 or math.ceil(len(y) / 10) < len(counts):
        settings = {**settings, "early_stopping": False}
    return MLPClassifier(random_state=seed, **settings)


def _svm(y: Ids, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.svm import SVC

    return SVC(random_state=seed, **settings)


CLASSIFIERS: dict[str, Callable[[Ids, int, dict[str, Any]], Any]] = {
    "decision-tree": _decision_tree,
    "knn": _knn,
    "random-forest": _random_forest,
    "mlp": _mlp,
    "svm": _svm,
}
