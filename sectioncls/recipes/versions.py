"""Which versions made a result."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import sectioncls

__all__ = ["versions"]

_WATCHED = (
    "torch",
    "transformers",
    "sentence-transformers",
    "scikit-learn",
    "scikit-learn-intelex",
    "numpy",
    "scipy",
    "umap-learn",
    "hdbscan",
    "spacy",
    "lxml",
    "pyarrow",
)


def versions() -> dict[str, str]:
    """Give the versions of sectioncls, Python and the libraries that decide numbers."""
    found = {"sectioncls": sectioncls.__version__, "python": platform.python_version()}
    for name in _WATCHED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
