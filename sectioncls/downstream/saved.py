"""A trained classifier as one file without pickle: safetensors for the linear methods, skops for three others.

What skops would have to trust beyond scikit-learn's plain objects is never written and never read: trees and
neighbours are read by compiled code that believes whatever indices a file holds.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.classify import Classifier
from sectioncls.errors import InputError, UsageError
from sectioncls.staging import staged_file

__all__ = ["SAVED", "read_classifier", "write_classifier"]

LINEAR = ("logistic-regression", "linear-svm")
BY_SKOPS = {"svm": "SVC", "mlp": "MLPClassifier", "nearest-centroid": "NearestCentroid"}
SAVED = (*LINEAR, *BY_SKOPS)
"""Methods that can be written."""

_KIND = "sectioncls-linear"
_LARGEST = 2**31  # bytes of an unpacked skops file
_NO_SKOPS = "skops is not installed", "skops", "pip install 'sectioncls[skops]', or take a linear method"

Labels = npt.NDArray[Any]


def write_classifier(classifier: Classifier, labels: Labels, path: Path) -> None:
    """Write ``classifier`` and the ``labels`` of its classes. Raises UsageError for a method not in SAVED."""
    method = classifier.method
    if method not in SAVED:
        raise UsageError(f"{method} can't be written without pickle", todo=f"take one of {', '.join(SAVED)}")
    if method in LINEAR:
        from safetensors.numpy import save_file

        model = classifier.model
        facts = {"kind": _KIND, "method": method, "labels": json.dumps(labels.tolist())}
        arrays = {"weight": np.ascontiguousarray(model.coef_), "bias": np.ascontiguousarray(model.intercept_)}
        with staged_file(path) as aside:
            save_file(arrays, aside, metadata=facts)
        return
    if find_spec("skops") is None:
        raise UsageError(*_NO_SKOPS)
    from skops.io import dump

    with staged_file(path) as aside:
        dump({"method": method, "labels": labels.tolist(), "model": _plain(classifier)}, aside)


def read_classifier(path: Path) -> tuple[Classifier, Labels]:
    """Give what write_classifier wrote, and the labels. Raises InputError for another file."""
    if zipfile.is_zipfile(path):
        return _by_skops(path)
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            facts = file.metadata() or {}
            if facts.get("kind") != _KIND or facts.get("method") not in LINEAR:
                raise InputError("is not a saved SectionClassifier", path)
            weight, bias = file.get_tensor("weight"), file.get_tensor("bias")
    except (OSError, SafetensorError) as error:
        raise InputError(f"can't be read as safetensors: {error}", path) from error
    try:
        labels = json.loads(facts["labels"])
    except (KeyError, ValueError) as error:
        raise InputError("has no labels", path) from error
    return _linear(facts["method"], labels, weight, bias, path)


def _linear(method: str, labels: Any, weight: Any, bias: Any, path: Path) -> tuple[Classifier, Labels]:
    """Put weights into an estimator, after a look at whether they fit each other."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    names = _names(labels, path)
    outputs = 1 if len(names) == 2 else len(names)
    if weight.ndim != 2 or weight.shape[0] != outputs or bias.shape != (outputs,):
        raise InputError(f"{len(names)} labels don't fit weights of shape {weight.shape}", path)
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise InputError("holds NaN or infinite weights", path)
    model = LogisticRegression() if method == "logistic-regression" else LinearSVC()
    model.coef_, model.intercept_, model.classes_ = weight, bias, np.arange(len(names))
    model.n_features_in_ = weight.shape[1]
    return Classifier(method, model, np.arange(len(names))), names


def _names(labels: Any, path: Path) -> Labels:
    if not isinstance(labels, Sequence) or isinstance(labels, str) or len(labels) < 2:
        raise InputError("has no labels", path)
    names = np.asarray(labels)
    if names.ndim != 1:
        raise InputError("has no labels", path)
    return names


def _plain(classifier: Classifier) -> Any:
    """The model without what predicting does not need; an SVM of intelex as scikit-learn's own."""
    model = copy(classifier.model)
    if classifier.method == "mlp":
        model._optimizer = None
    elif classifier.method == "svm" and classifier.engine == "intelex":
        from sklearn.svm import SVC

        # intelex keeps what it learnt in scikit-learn's attributes too, of its own types: a fitted one tells which.
        shape = SVC().fit(np.eye(4), [0, 1, 0, 1])
        plain = SVC()
        for name, known in vars(shape).items():
            value = getattr(model, name, known)
            array = isinstance(known, np.ndarray)
            setattr(plain, name, np.ascontiguousarray(value, dtype=known.dtype) if array else value)
        return plain
    return model


def _by_skops(path: Path) -> tuple[Classifier, Labels]:
    if find_spec("skops") is None:
        raise UsageError(*_NO_SKOPS)
    from skops.io import load

    try:
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > _LARGEST:
                raise InputError(f"unpacks to more than {_LARGEST / 2**30:g} GiB", path)
        held = load(path, trusted=[])
        method, labels, model = held["method"], _names(held["labels"], path), held["model"]
    except InputError:
        raise
    except Exception as error:  # skops raises whatever a broken file leads its readers to
        line = " ".join(str(error).split())[:200]
        raise InputError(f"is no saved SectionClassifier: {line or type(error).__name__}", path) from error
    if type(model).__name__ != BY_SKOPS.get(method) or len(labels) != len(getattr(model, "classes_", ())):
        raise InputError("is no saved SectionClassifier: its parts don't fit each other", path)
    return Classifier(method, model, np.arange(len(labels))), labels
