"""Classifiers that judge embeddings by what a simple learner can read from them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids, Matrix, as_ids, as_matrix
from sectioncls.downstream.engines import engine_of, neighbours_class, svm_class
from sectioncls.downstream.protocols import Protocol, row_order
from sectioncls.downstream.threads import threads
from sectioncls.downstream.tuning import choose_settings
from sectioncls.errors import InputError, UsageError

__all__ = ["CLASSIFIERS", "FIXED", "PROBABILISTIC", "Classifier", "classify", "fit_classifier"]

FIXED = frozenset({"knn", "svm", "logistic-regression", "nearest-centroid"})
"""Methods without chance: another seed gives the same predictions."""

PROBABILISTIC = frozenset({"decision-tree", "knn", "random-forest", "mlp", "logistic-regression", "gradient-boosting"})
"""Methods that say how likely each class is."""

# Their sums depend on how many threads share a product; the results of the others don't.
_ONE_THREAD = frozenset({"mlp", "logistic-regression"})


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A classifier that has learnt: ``settings`` are those that a grid chose, ``engine`` is who computes it."""

    method: str
    model: Any
    classes: Ids
    settings: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "scikit-learn"

    def predict(self, x: npt.ArrayLike) -> Ids:
        """Class ids of the rows of ``x``, in their order."""
        rows = self._rows(x)
        with _quiet(self.method):
            return np.asarray(self.model.predict(rows), dtype=np.int64)

    def probabilities(self, x: npt.ArrayLike) -> npt.NDArray[np.float64] | None:
        """How likely each class is, (rows, classes) in the order of ``classes``; None where the method can't say."""
        if self.method not in PROBABILISTIC:
            return None
        rows = self._rows(x)
        with _quiet(self.method):
            return np.asarray(self.model.predict_proba(rows), dtype=np.float64)

    def _rows(self, x: npt.ArrayLike) -> Any:
        rows, expected = as_matrix(x, "test embeddings"), self.model.n_features_in_
        if rows.shape[1] != expected:
            raise InputError(f"train rows have {expected} dimensions, test rows {rows.shape[1]}", "embeddings")
        return rows


def classify(
    train_x: npt.ArrayLike,
    train_y: npt.ArrayLike,
    test_x: npt.ArrayLike,
    *,
    method: str,
    protocol: Protocol,
    train_lengths: Sequence[int] | None = None,
    dev: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Ids:
    """Class ids that ``method``, trained on the train embeddings, predicts for the test rows, in their order.

    The order of the test rows changes no prediction. See fit_classifier for the rest.
    """
    x, seen = as_matrix(train_x, "train embeddings"), as_matrix(test_x, "test embeddings")
    if x.shape[1] != seen.shape[1]:
        raise InputError(f"train rows have {x.shape[1]} dimensions, test rows {seen.shape[1]}", "embeddings")
    model = fit_classifier(x, train_y, method=method, protocol=protocol, train_lengths=train_lengths, dev=dev)
    return model.predict(seen)


def fit_classifier(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    method: str,
    protocol: Protocol,
    train_lengths: Sequence[int] | None = None,
    dev: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Classifier:
    """The classifier that ``method`` learns from ``x`` (rows x dimensions) and class ids ``y`` under ``protocol``.

    ``train_lengths`` are the lengths in characters of the sentences, which the protocol ``paper`` sorts by.
    ``dev`` are embeddings and class ids that a protocol with grids chooses its settings on. Paper: arXiv
    2404.00224, section 5. Raises UsageError for an unknown method or a grid without ``dev``, InputError for
    non-finite embeddings, unequal sizes or a single training label.
    """
    if method not in CLASSIFIERS or method not in protocol.classifiers:
        known = ", ".join(name for name in CLASSIFIERS if name in protocol.classifiers) or "none"
        raise UsageError(f"no classifier {method!r} in the protocol {protocol.name}: {known}")
    rows = as_matrix(x, "train embeddings")
    ids = as_ids(y, len(rows), "train labels")
    if len(np.unique(ids)) < 2:
        raise InputError("the training sentences bear one label only; nothing to learn", "train labels")
    order = row_order(protocol, len(rows), train_lengths)
    rows, ids = rows[order], ids[order]
    chosen: Mapping[str, Any] = {}
    if method in protocol.grids:
        if dev is None:
            raise UsageError(f"the protocol {protocol.name} chooses its settings on dev and needs its embeddings")
        # By scikit-learn alone, so that what is chosen does not depend on what else is installed.
        plain = replace(protocol, engine="scikit-learn")

        def learn(x: Matrix, y: Ids, settings: Mapping[str, Any]) -> Classifier:
            return _fitted(x, y, method, plain, settings)

        chosen = choose_settings(learn, rows, ids, *dev, grid=protocol.grids[method], limit=protocol.grid_rows)
    return _fitted(rows, ids, method, protocol, chosen)


def _fitted(x: Matrix, y: Ids, method: str, protocol: Protocol, chosen: Mapping[str, Any]) -> Classifier:
    """The classifier of ``method`` with the protocol's settings and, over these, the ``chosen`` ones."""
    settings = {**protocol.classifiers[method], **chosen}
    scaled = settings.pop("scaled", False)
    engine = engine_of(protocol, len(x)) if method in ("svm", "knn") else "scikit-learn"
    model = CLASSIFIERS[method](y, protocol.seed, settings, engine)
    if method == "nearest-centroid" and not np.ptp(x, axis=0).any():
        # Every centroid is the same point, which scikit-learn refuses: the commonest label is all that can be said.
        model = neighbours_class("scikit-learn")(len(y))
    if scaled:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), model)
    with _quiet(method):
        model.fit(x, y)
    return Classifier(method, model, np.unique(y), dict(chosen), engine)


@contextmanager
def _quiet(method: str) -> Iterator[None]:
    """Threads as the method needs them, and no word of a solver that stops at its last round."""
    from sklearn.exceptions import ConvergenceWarning

    with threads(1) if method in _ONE_THREAD else nullcontext(), warnings.catch_warnings():
        # The perceptron stops at 200 rounds by the paper's settings, which is no news to who asked for them.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # One row a label has no deviation, and equal ones have none: a centroid would only need it for shrinking.
        warnings.filterwarnings("ignore", "invalid value encountered", RuntimeWarning)
        warnings.filterwarnings("ignore", "self.within_class_std_dev_", UserWarning)
        yield


def _decision_tree(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed, **settings)


def _knn(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    number = settings.pop("n_neighbors", None) or math.ceil(math.sqrt(len(y)))
    return neighbours_class(engine)(min(number, len(y)), weights="distance", n_jobs=-1, **settings)


def _random_forest(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=-1, **settings)


def _mlp(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.neural_network import MLPClassifier

    counts = np.unique(y, return_counts=True)[1]
    # The rows held out for early stopping are a tenth of each label: some sets are too small for that.
    if counts.min() < 2 or math.ceil(len(y) / 10) < len(counts):
        settings = {**settings, "early_stopping": False}
    return MLPClassifier(random_state=seed, **settings)


def _svm(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    return svm_class(engine)(random_state=seed, **settings)


def _logistic_regression(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed, **settings)


def _linear_svm(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=5000, random_state=seed, **settings)


def _nearest_centroid(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.neighbors import NearestCentroid

    return NearestCentroid(**settings)


def _gradient_boosting(y: Ids, seed: int, settings: dict[str, Any], engine: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    # By itself it holds rows out from 10,000 on, which a label of one sentence does not survive.
    return HistGradientBoostingClassifier(random_state=seed, early_stopping=False, **settings)


CLASSIFIERS: dict[str, Callable[[Ids, int, dict[str, Any], str], Any]] = {
    "decision-tree": _decision_tree,
    "knn": _knn,
    "random-forest": _random_forest,
    "mlp": _mlp,
    "svm": _svm,
    "logistic-regression": _logistic_regression,
    "linear-svm": _linear_svm,
    "nearest-centroid": _nearest_centroid,
    "gradient-boosting": _gradient_boosting,
}
