"""A scikit-learn classifier: embeddings in, labels out, by any of our methods."""

from __future__ import annotations

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
from sectioncls.downstream.saved import read_classifier, write_classifier
from sectioncls.errors import UsageError

__all__ = ["SectionClassifier"]


class SectionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns labels from embeddings with the settings of a protocol, in any scikit-learn pipeline.

    ``method`` is one of CLASSIFIERS, ``protocol`` one of PROTOCOLS without grids; ``seed`` replaces the protocol's.
    The order of rows is taken as given::

        make_pipeline(SentenceEncoder("minilm"), SectionClassifier("svm")).fit(texts, labels)

    ``save`` writes the linear methods as safetensors, ``svm``, ``mlp`` and ``nearest-centroid`` by skops (the extra
    ``skops``), never pickle; SectionClassifier.load reads them.
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
        """Write what was learnt as one file without pickle. Raises UsageError for a method that is not in SAVED."""
        write_classifier(self._fitted(), self.classes_, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> SectionClassifier:
        """Give the classifier that ``save`` wrote. Raises InputError for another file."""
        found, labels = read_classifier(Path(path))
        restored = cls(found.method)
        restored.classifier_, restored.classes_ = found, labels
        restored.n_features_in_ = found.model.n_features_in_
        return restored

    def _fitted(self) -> Classifier:
        check_is_fitted(self, "classifier_")
        found: Classifier = self.classifier_
        return found

    def _rows(self, X: npt.ArrayLike) -> Any:
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
