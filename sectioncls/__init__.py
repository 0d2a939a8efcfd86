"""What each sentence of a scientific article does: corpora, encoders, evaluation and reports.

Importing this package loads nothing heavy; the names below load their room when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ROOMS = {
    "Corpus": "sectioncls.corpora",
    "open_corpus": "sectioncls.corpora",
    "SentenceEncoder": "sectioncls.encoders",
    "load_encoder": "sectioncls.encoders",
    "load_model": "sectioncls.predict",
}

__all__ = ["Corpus", "SentenceEncoder", "__version__", "load_encoder", "load_model", "open_corpus"]

if TYPE_CHECKING:
    from sectioncls.corpora import Corpus, open_corpus
    from sectioncls.encoders import SentenceEncoder, load_encoder
    from sectioncls.predict import load_model


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
