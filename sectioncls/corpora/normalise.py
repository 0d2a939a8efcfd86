"""The form that sentences have in PMC-Sents-FULL (arXiv 2404.00224), for corpora that are to be set beside it.

The authors published no code for it. The rules are read off the 34,619 published rows: see docs/guides/labels.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

__all__ = ["NORMALISERS", "paper_normalise"]

_BRACKETS: Final = str.maketrans("", "", "()[]{}")
# A stop is kept before a capital letter and at the end; all others, also those of abbreviations, become a space.
_STOP = re.compile(r"\.(?=\s*(\S))")
_SPACES = re.compile(" {2,}")


def paper_normalise(text: str) -> str:
    """Give a sentence in the paper's form.

    Brackets are removed and their content kept, a stop that a capital letter does not follow becomes a space
    (``p < 0.05`` is ``p < 0 05``, ``i.e., a`` is ``i e , a``), all is lower case. Placeholders such as ``@cite`` stay.
    """
    text = _STOP.sub(lambda stop: "." if stop[1].isupper() else " ", text.translate(_BRACKETS))
    return _SPACES.sub(" ", text).strip().lower()


NORMALISERS: dict[str, Callable[[str], str]] = {"paper": paper_normalise}
"""Forms of a sentence's text by name."""
