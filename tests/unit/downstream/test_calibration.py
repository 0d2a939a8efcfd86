from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import calibration_bins, calibration_error, fit_temperature, with_temperature


def softmax(logits):
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def test_error_by_hand():
    chances = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.45, 0.55]])
    labels = np.array([0, 1, 1, 1])
    # (0.8, 0.9]... of ten bins: 0.9 with one of two right; (0.5, 0.6]: 0.6 and 0.55, both right.
    assert calibration_error(chances, labels, bins=10) == pytest.approx(0.5 * 0.4 + 0.5 * (1 - 0.575))
    assert [(round(b.probability, 3), b.accuracy, b.n) for b in calibration_bins(chances, labels, bins=10)] == [
        (0.575, 1.0, 2),
        (0.9, 0.5, 2),
    ]


def test_sure_and_right_is_no_error():
    assert calibration_error(np.eye(3), np.arange(3)) == 0


def test_temperature_divides_logits():
    logits = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(with_temperature(softmax(logits), 2.5), softmax(logits / 2.5), rtol=1e-9)


def test_the_true_temperature_is_found():
    random = np.random.default_rng(1)
    logits = 2 * random.normal(size=(20_000, 4))
    honest = softmax(logits)
    labels = (honest.cumsum(1) > random.random((len(logits), 1))).argmax(1)
    boastful = softmax(3 * logits)
    assert fit_temperature(boastful, labels) == pytest.approx(3, rel=0.05)
    assert calibration_error(with_temperature(boastful, 3.0), labels) < 0.015 < calibration_error(boastful, labels)
