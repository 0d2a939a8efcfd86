"""The parts of a distillation against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.encoders import (
    bag_means,
    encode,
    fit_table,
    load_encoder,
    main_axes,
    sif_weights,
    static_tokens,
    token_table,
    word_counts,
)
from sectioncls.errors import ModelError, UsageError

TEXTS = ["we propose a method to study data", "results show that", "the background of patients", "", "a model in this"]


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder(tiny_bert, device="cpu")


@pytest.fixture(scope="module")
def tokens(encoder):
    return static_tokens(encoder.model.tokenizer.backend_tokenizer, TEXTS)


def test_each_word_goes_through_the_encoder_alone(encoder):
    table = token_table(encoder)
    tokenizer = encoder.model.tokenizer
    words = ["results", "patients", "x", "7"]
    np.testing.assert_allclose(table[tokenizer.convert_tokens_to_ids(words)], encode(encoder, words), atol=1e-6)
    assert not table[tokenizer.all_special_ids].any()
    assert np.count_nonzero(table.any(1)) == len(table) - len(set(tokenizer.all_special_ids))


def test_a_static_encoder_can_not_be_a_teacher():
    class Static:
        conditioning = None
        model = type("Model", (), {"tokenizer": object()})

    with pytest.raises(ModelError, match="fast tokenizer"):
        token_table(Static())


def test_axes_are_those_of_scikit_learn():
    from sklearn.decomposition import PCA

    x = np.random.default_rng(1).normal(size=(50, 6)).astype(np.float32) @ np.diag([5, 4, 3, 2, 1, 0.5]).astype(
        np.float32
    )
    mean, axes = main_axes(x, 3)
    found = PCA(3).fit(x)
    np.testing.assert_allclose(mean, found.mean_, atol=1e-5)
    np.testing.assert_allclose(np.abs(axes.T @ found.components_.T), np.eye(3), atol=1e-4)
    with pytest.raises(UsageError, match="dimensions"):
        main_axes(x, 7)


def test_frequent_words_weigh_little():
    weights = sif_weights(np.array([9, 0, 89]), 3, smoothing=0.1)
    np.testing.assert_allclose(
        weights, [0.1 / (0.1 + 10 / 101), 0.1 / (0.1 + 1 / 101), 0.1 / (0.1 + 90 / 101)], rtol=1e-6
    )
    zipf = sif_weights(None, 2, smoothing=0.1)
    np.testing.assert_allclose(zipf, [0.1 / (0.1 + 0.6), 0.1 / (0.1 + 0.4)], rtol=1e-6)


def test_bags_are_means(tokens):
    table = np.random.default_rng(2).normal(size=(120, 4)).astype(np.float32)
    means = bag_means(tokens, table)
    for row in range(len(TEXTS)):
        ids = tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]]
        np.testing.assert_allclose(means[row], table[ids].mean(0) if len(ids) else np.zeros(4), atol=1e-6)
    counts = word_counts(tokens, 120)
    assert counts.sum() == len(tokens.ids) and counts[tokens.ids[0]] == np.sum(tokens.ids == tokens.ids[0])


@pytest.mark.parametrize("strength", [0.01, 1.0])
def test_the_fit_solves_its_ridge_regression(tokens, strength):
    random = np.random.default_rng(3)
    table, targets = random.normal(size=(120, 3)), random.normal(size=(len(TEXTS), 3))
    fitted = fit_table(table.astype(np.float32), tokens, targets.astype(np.float32), strength)
    bags = np.zeros((len(TEXTS), 120))
    for row in range(len(TEXTS)):
        ids = tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]]
        for token in ids:
            bags[row, token] += 1 / len(ids)
    means = bags @ table
    turned = table @ np.linalg.lstsq(means, targets, rcond=None)[0]
    change = np.linalg.solve(bags.T @ bags + strength * np.eye(120), bags.T @ (targets - bags @ turned))
    np.testing.assert_allclose(fitted, turned + change, atol=2e-3)
    unseen = np.setdiff1d(np.arange(120), tokens.ids)
    np.testing.assert_allclose(fitted[unseen], turned[unseen], atol=2e-3)
