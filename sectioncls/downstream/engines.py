"""Who computes the two classifiers that take longest: scikit-learn, or scikit-learn-intelex where it is installed.

Only SVM and k nearest neighbours: their predictions are equal (tests/integration/test_intelex.py), those of its forest
and the picture of its t-SNE are not.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sectioncls.downstream.protocols import Protocol
from sectioncls.errors import UsageError

__all__ = ["ENOUGH_ROWS", "engine_of", "neighbours_class", "svm_class"]

# Training rows from which ``auto`` takes intelex: fewer are quick with either, and loading it takes a second.
ENOUGH_ROWS = 5000


def engine_of(protocol: Protocol, rows: int) -> str:
    """``scikit-learn`` or ``intelex``: who computes SVM and neighbours of ``rows`` training rows under ``protocol``.

    Raises UsageError where the protocol asks for intelex and it is not installed or can't be loaded.
    """
    if protocol.engine == "auto":
        return "intelex" if rows >= ENOUGH_ROWS and _missing() is None else "scikit-learn"
    if protocol.engine == "intelex" and (missing := _missing()):
        raise UsageError(*missing)
    return protocol.engine


def _missing() -> tuple[str, str, str] | None:
    """Say why intelex can't compute: what, where, what to do; None where it can.

    It can't be loaded into a process where another library, as OpenVINO, has brought an older TBB before.
    """
    if find_spec("sklearnex") is None:
        return "scikit-learn-intelex is not installed", "engine", "pip install 'sectioncls[intelex]'"
    try:
        import_module("sklearnex.svm")
    except ImportError:
        return "scikit-learn-intelex can't be loaded beside another library's TBB", "engine", "take scikit-learn"
    return None


def svm_class(engine: str) -> Any:
    """The class SVC of an engine."""
    return import_module("sklearnex.svm" if engine == "intelex" else "sklearn.svm").SVC


def neighbours_class(engine: str) -> Any:
    """The class KNeighborsClassifier of an engine."""
    return import_module("sklearnex.neighbors" if engine == "intelex" else "sklearn.neighbors").KNeighborsClassifier
