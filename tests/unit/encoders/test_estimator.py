"""SentenceEncoder keeps scikit-learn's habits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sectioncls.encoders import SentenceEncoder, encode, load_encoder

TEXTS = ["We aim to show.", "Results", "the data", "patients"]


def test_in_a_pipeline(tiny_bert):
    pipeline = make_pipeline(SentenceEncoder(str(tiny_bert), device="cpu"), LogisticRegression())
    pipeline.fit(TEXTS, [0, 1, 0, 1])
    assert set(pipeline.predict(TEXTS)) <= {0, 1}


def test_equals_encode(tiny_bert):
    vectors = SentenceEncoder(str(tiny_bert), device="cpu").fit_transform(np.array(TEXTS))
    np.testing.assert_array_equal(vectors, encode(load_encoder(tiny_bert, device="cpu"), TEXTS))


def test_parameters_and_clone(tiny_bert):
    estimator = SentenceEncoder(str(tiny_bert), device="cpu")
    assert clone(estimator).get_params() == {"model": str(tiny_bert), "device": "cpu"}
    assert list(estimator.fit(TEXTS).get_feature_names_out())[:2] == ["dim0", "dim1"]


def test_wrong_input(tiny_bert):
    with pytest.raises(NotFittedError):
        SentenceEncoder().transform(TEXTS)
    fitted = SentenceEncoder(str(tiny_bert), device="cpu").fit(TEXTS)
    with pytest.raises(TypeError, match="one string"):
        fitted.transform("one text")
    with pytest.raises(TypeError, match="int"):
        fitted.transform(["a", 3])
