"""Latent semantic analysis: TF-IDF weights in few dimensions, the text features of models that need dense ones.

Paper: Deerwester et al., JASIS 41(6), 1990; scikit-learn's truncated SVD of TF-IDF weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.lexical import TERMS
from sectioncls.downstream.words import unit_rows
from sectioncls.errors import InputError

__all__ = ["Latent", "fit_latent"]


@dataclass(frozen=True, slots=True, eq=False)
class Latent:
    """Fitted to texts: ``weigh`` gives sparse TF-IDF rows, ``terms`` (words, dimensions) the direction of each word."""

    weigh: Any
    terms: npt.NDArray[np.float32]

    def weights(self, texts: Sequence[str]) -> Any:
        """Give the TF-IDF rows of texts, a scipy CSR matrix (texts, words)."""
        return self.weigh.transform(texts).astype(np.float32)

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Give unit rows, (texts, dimensions)."""
        return unit_rows(self.weights(texts) @ self.terms)


def fit_latent(texts: Sequence[str], seed: int, *, dimensions: int = 300) -> Latent:
    """Fit TF-IDF and its first ``dimensions`` singular directions (fewer where there are fewer) to ``texts``.

    Raises InputError where no word occurs in two of them.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2, max_features=TERMS)
    try:
        weights = words.fit_transform(texts)
    except ValueError as error:
        raise InputError("no word occurs in two of the texts", "train texts") from error
    most = min(dimensions, min(weights.shape) - 1)
    if most < 1:
        raise InputError("one word or one text is too little for directions", "train texts")
    parts = TruncatedSVD(most, random_state=seed).fit(weights).components_
    return Latent(words, np.ascontiguousarray(parts.T, dtype=np.float32))
