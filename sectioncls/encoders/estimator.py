"""A scikit-learn transformer: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sectioncls.encoders.encode import encode
from sectioncls.encoders.load import load_encoder

__all__ = ["SentenceEncoder"]


class SentenceEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns an iterable of texts into a float32 matrix, in any scikit-learn pipeline.

    ``model`` is what load_encoder takes; ``task`` and ``side`` are what a conditioned encoder has to be told. Fitting
    only loads the encoder; nothing is learnt from the texts::

        make_pipeline(SentenceEncoder("minilm"), LogisticRegression()).fit(texts, labels)
    """

    def __init__(
        self, model: str = "minilm", *, task: str | None = None, side: str = "document", device: str | None = None
    ) -> None:
        self.model = model
        self.task = task
        self.side = side
        self.device = device

    def fit(self, X: Iterable[str], y: Any = None) -> SentenceEncoder:
        """Load the encoder."""
        self.encoder_ = load_encoder(self.model, device=self.device)
        self.n_features_out_ = self.encoder_.dimension
        return self

    def transform(self, X: Iterable[str]) -> npt.NDArray[np.float32]:
        """Give one vector per text, (n, dimension). Raises TypeError when X is one string or holds something else."""
        check_is_fitted(self, "encoder_")
        if isinstance(X, str):
            raise TypeError("expected an iterable of texts, got one string")
        texts = list(X)
        for text in texts:
            if not isinstance(text, str):
                raise TypeError(f"expected texts, got {type(text).__name__}")
        return encode(self.encoder_, texts, self.task, self.side)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Give ``dim0 dim1 …``."""
        check_is_fitted(self, "encoder_")
        return np.asarray([f"dim{i}" for i in range(self.n_features_out_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags
