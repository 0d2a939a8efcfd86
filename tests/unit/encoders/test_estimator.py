"""SentenceEncoder keeps scikit-learn's habits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sectioncls.encoders import SentenceEncoder, condition, encode, load_encoder

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
    expected = {"model": str(tiny_bert), "task": None, "side": "document", "device": "cpu"}
    assert clone(estimator).get_params() == expected
    assert list(estimator.fit(TEXTS).get_feature_names_out())[:2] == ["dim0", "dim1"]


def test_wrong_input(tiny_bert):
    with pytest.raises(NotFittedError):
        SentenceEncoder().transform(TEXTS)
    fitted = SentenceEncoder(str(tiny_bert), device="cpu").fit(TEXTS)
    with pytest.raises(TypeError, match="one string"):
        fitted.transform("one text")
    with pytest.raises(TypeError, match="int"):
        fitted.transform(["a", 3])


def test_a_conditioned_encoder_is_told_its_task(tiny_bert, tmp_path):
    encoder = condition(load_encoder(tiny_bert, device="cpu"), "control-codes", seed=1)
    encoder.model.save(str(tmp_path), create_model_card=False)
    for side in ("query", "document"):
        vectors = SentenceEncoder(str(tmp_path), task="search", side=side, device="cpu").fit_transform(["a study"])
        np.testing.assert_array_equal(vectors, encode(encoder, ["a study"], "search", side))
