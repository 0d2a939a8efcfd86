"""What a recipe's ``baselines`` names: words, models that are learnt here, and encoders that others published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sectioncls.errors import UsageError
from sectioncls.recipes.paper_words import METHODS
from sectioncls.recipes.papers.baselines.fitting import FITTED, check_fitted
from sectioncls.recipes.papers.baselines.published import PUBLISHED

__all__ = ["Chosen", "choose_baselines"]

_SPELLINGS = {"tf-idf": "tfidf", "fasttext-sum": "fasttext"}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The baselines of a recipe: ``words`` and ``fitted`` by name, ``published`` as (name, folder or None)."""

    words: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    published: tuple[tuple[str, str | None], ...] = ()


def choose_baselines(given: bool | tuple[str, ...]) -> Chosen:
    """Sort out what ``baselines`` says: true is BM25, TF-IDF and popularity, false nothing, else names.

    ``NAME=FOLDER`` is a published encoder whose weights lie in a folder; another hub id or folder is read as such
    encoders are. Raises UsageError for a name that is not known, and where a library is missing.
    """
    if isinstance(given, bool):
        return Chosen(words=METHODS if given else ())
    words, fitted, published = [], [], []
    for asked in dict.fromkeys(_SPELLINGS.get(name, name) for name in given):
        name, _, folder = asked.partition("=")
        if asked in METHODS:
            words.append(asked)
        elif asked in FITTED:
            fitted.append(asked)
        elif name in PUBLISHED:
            published.append((name, folder or None))
        elif "/" in asked or Path(asked).is_dir():
            published.append((asked, None))
        else:
            known = ", ".join((*METHODS, *FITTED, *PUBLISHED))
            raise UsageError(f"no baseline {asked!r}", todo=f"known: {known}; or NAME=FOLDER, a hub id, a folder")
    check_fitted(tuple(fitted))
    return Chosen(tuple(words), tuple(fitted), tuple(published))
