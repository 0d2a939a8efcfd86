from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import calibrate, calibration_bins, calibration_error, fit_temperature, with_temperature
from sectioncls.errors import InputError


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


def test_before_and_after_a_temperature_from_dev():
    random = np.random.default_rng(2)
    logits = 2 * random.normal(size=(8000, 4))
    labels = (softmax(logits).cumsum(1) > random.random((len(logits), 1))).argmax(1)
    chances = softmax(3 * logits)
    found = calibrate(chances[4000:], labels[4000:], (chances[:4000], labels[:4000]))
    assert found.temperature == pytest.approx(fit_temperature(chances[:4000], labels[:4000]))
    assert found.before == calibration_error(chances[4000:], labels[4000:])
    assert found.after == calibration_error(with_temperature(chances[4000:], found.temperature), labels[4000:])
    assert found.after < 0.03 < found.before
    assert sum(b.n for b in found.bins_before) == sum(b.n for b in found.bins_after) == 4000


def test_without_dev_there_is_no_after():
    found = calibrate(np.eye(3), np.arange(3))
    assert (found.before, found.temperature, found.after, found.bins_after) == (0, None, None, ())


def test_labels_that_were_not_learnt_are_never_right():
    chances = np.array([[0.9, 0.1], [0.8, 0.2]])
    assert calibrate(chances, np.array([-1, -1])).before == pytest.approx(0.85)
    assert calibrate(chances, np.array([0, 1]), (chances, np.array([-1, -1]))).temperature is None


@pytest.mark.parametrize(
    ("chances", "labels"),
    [(np.eye(2), [0]), (np.zeros((0, 2)), []), (np.full((2, 2), np.nan), [0, 1]), (np.ones((2, 2)), [0, 1])],
)
def test_what_is_no_probability_is_one_line(chances, labels):
    with pytest.raises(InputError) as caught:
        calibrate(chances, np.array(labels, dtype=int))
    assert "\n" not in str(caught.value)
