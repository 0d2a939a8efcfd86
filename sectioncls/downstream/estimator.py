"""A scikit-learn classifier: embeddings in, labels out, by any of our methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sectioncls.downstream.classify import PROBABILISTIC, Classifier, fit_classifier
from sectioncls.downstream.protocols import PROTOCOLS
from sectioncls.errors import InputError, UsageError
from sectioncls.staging import staged_file

__all__ = ["SectionClassifier"]

_KIND = "sectioncls-linear"
_LINEAR = ("logistic-regression", "linear-svm")


class SectionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns labels from embeddings with the settings of a protocol, in any scikit-learn pipeline.

    ``method`` is one of CLASSIFIERS, ``protocol`` one of PROTOCOLS without grids; ``seed`` replaces the protocol's.
    The order of rows is taken as given::

        make_pipeline(SentenceEncoder("minilm"), SectionClassifier("svm")).fit(texts, labels)

    ``save`` writes the linear methods as safetensors, which no pickle is needed for; SectionClassifier.load reads them.
    """

    def __init__(
        self, method: str = "logistic-regression", *, protocol: str = "default", seed: int | None = None
    ) -> None:
        self.method = method
        self.protocol = protocol
        self.seed = seed

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> SectionClassifier:
        """Learn from ``X`` (rows x dimensions) and labels of any kind. Raises ValueError for a single label."""
        if self.protocol not in PROTOCOLS or PROTOCOLS[self.protocol].grids:
            names = ", ".join(name for name, rules in PROTOCOLS.items() if not rules.grids)
            raise UsageError(f"no protocol {self.protocol!r} for an estimator: {names}")
        rows, labels = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(labels)
        self.classes_, ids = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"SectionClassifier needs two labels or more, got 1 class: {self.classes_[0]!r}")
        rules = replace(PROTOCOLS[self.protocol], order="file")
        if self.seed is not None:
            rules = replace(rules, seed=self.seed)
        self.classifier_ = fit_classifier(rows, ids, method=self.method, protocol=rules)
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Give the label of each row."""
        fitted = self._fitted()
        return np.asarray(self.classes_[fitted.predict(self._rows(X))])

    @available_if(lambda self: self.method in PROBABILISTIC)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Give how likely each of ``classes_`` is; only methods that can say have this."""
        fitted = self._fitted()
        return np.asarray(fitted.probabilities(self._rows(X)))

    def save(self, path: str | Path) -> None:
        """Write weights and labels as one safetensors file. Raises UsageError for a method that is not linear."""
        from safetensors.numpy import save_file

        model = self._fitted().model
        if self.method not in _LINEAR:
            raise UsageError(f"{self.method} can't be written without pickle", todo=f"take {' or '.join(_LINEAR)}")
        facts = {"kind": _KIND, "method": self.method, "labels": json.dumps(self.classes_.tolist())}
        arrays = {"weight": np.ascontiguousarray(model.coef_), "bias": np.ascontiguousarray(model.intercept_)}
        with staged_file(Path(path)) as aside:
            save_file(arrays, aside, metadata=facts)

    @classmethod
    def load(cls, path: str | Path) -> SectionClassifier:
        """Give the classifier that ``save`` wrote. Raises InputError for another file."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                facts = file.metadata() or {}
                if facts.get("kind") != _KIND or facts.get("method") not in _LINEAR:
                    raise InputError("is not a saved SectionClassifier", path)
                arrays = {name: file.get_tensor(name) for name in ("weight", "bias")}
        except (OSError, SafetensorError) as error:
            raise InputError(f"can't be read as safetensors: {error}", path) from error
        return _restored(cls(facts["method"]), facts, arrays, path)

    def _fitted(self) -> Classifier:
        check_is_fitted(self, "classifier_")
        found: Classifier = self.classifier_
        return found

    def _rows(self, X: npt.ArrayLike) -> Any:
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)


def _restored(
    empty: SectionClassifier, facts: Mapping[str, str], arrays: Mapping[str, npt.NDArray[Any]], path: object
) -> SectionClassifier:
    """Put weights and labels into an estimator, after a look at whether they fit each other."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    weight, bias = arrays["weight"], arrays["bias"]
    try:
        labels = np.asarray(json.loads(facts["labels"]))
    except (KeyError, ValueError) as error:
        raise InputError("has no labels", path) from error
    outputs = 1 if len(labels) == 2 else len(labels)
    if labels.ndim != 1 or weight.ndim != 2 or weight.shape[0] != outputs or bias.shape != (outputs,):
        raise InputError(f"{len(labels)} labels don't fit weights of shape {weight.shape}", path)
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise InputError("holds NaN or infinite weights", path)
    model = LogisticRegression() if empty.method == "logistic-regression" else LinearSVC()
    model.coef_, model.intercept_, model.classes_ = weight, bias, np.arange(len(labels))
    model.n_features_in_ = empty.n_features_in_ = weight.shape[1]
    empty.classes_ = labels
    empty.classifier_ = Classifier(empty.method, model, np.arange(len(labels)))
    return empty
