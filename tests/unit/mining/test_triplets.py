"""Validation triplets: valid, seeded, drawn from the right distribution; their loss as defined."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.mining import triplet_loss_and_accuracy, validation_triplets


@pytest.mark.parametrize("seed", range(5))
def test_every_triplet_is_valid_and_no_anchor_is_its_own_positive(seed):
    labels = np.random.default_rng(seed).integers(0, 4, 200)
    triplets = validation_triplets(labels, seed)
    a, p, n = triplets.T
    assert (a == np.arange(200)).all()
    assert (a != p).all()
    assert (labels[a] == labels[p]).all()
    assert (labels[a] != labels[n]).all()


def test_seed_decides():
    labels = np.arange(60) % 3
    assert (validation_triplets(labels, 1) == validation_triplets(labels, 1)).all()
    assert (validation_triplets(labels, 1) != validation_triplets(labels, 2)).any()


def test_draws_are_uniform_over_rows():
    labels = np.array([0, 0, 0, 1, 2, 2])
    seen = np.zeros((6, 6)), np.zeros((6, 6))
    for seed in range(3000):
        for a, p, n in validation_triplets(labels, seed):
            seen[0][a, p] += 1
            seen[1][a, n] += 1
    same = labels[:, None] == labels[None, :]
    for counts, allowed in ((seen[0], same & ~np.eye(6, dtype=bool)), (seen[1], ~same)):
        assert (counts[~allowed] == 0).all()
        for row in range(6):
            if row != 3:  # alone in its label: no triplet
                share = counts[row, allowed[row]] / 3000
                assert np.abs(share - 1 / allowed[row].sum()).max() < 0.04


def test_lonely_rows_and_single_labels():
    assert len(validation_triplets(np.array([0, 0, 0]), 0)) == 0
    assert validation_triplets(np.array([0, 0, 1]), 0)[:, 0].tolist() == [0, 1]
    assert len(validation_triplets(np.array([], dtype=int), 0)) == 0


def test_loss_and_accuracy_by_hand():
    vectors = np.array([[0.0, 0], [3, 4], [0, 1], [0, 10]], dtype=np.float32)
    triplets = np.array([[0, 1, 2], [0, 2, 3]])  # distances 5 and 1, 1 and 10
    loss, accuracy = triplet_loss_and_accuracy(vectors, triplets, margin=2)
    assert loss == pytest.approx((5 - 1 + 2 + 0) / 2)
    assert accuracy == 0.5
