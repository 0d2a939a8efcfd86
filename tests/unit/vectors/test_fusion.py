"""Reciprocal rank fusion against hand-worked cases and a naive loop."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.vectors.fusion import RRF, best_words, fuse, nearest


def test_a_hand_worked_fusion() -> None:
    rows, scores = fuse([np.array([5, 2, 9]), np.array([2, 7])])
    gains = {5: 1 / 11, 2: 1 / 12 + 1 / 11, 9: 1 / 13, 7: 1 / 12}
    assert rows.tolist() == [2, 5, 7, 9]
    np.testing.assert_allclose(scores, [gains[row] * 11 / 2 for row in rows.tolist()])


def test_first_in_every_list_scores_one_and_ties_stand_by_row() -> None:
    rows, scores = fuse([np.array([3, 8, 1]), np.array([3, 1, 8])])
    assert rows.tolist() == [3, 1, 8]
    assert scores[0] == pytest.approx(1)
    assert scores[1] == scores[2]


def test_weights_and_empty_lists() -> None:
    rows, scores = fuse([np.array([4]), np.zeros(0, dtype=np.int64)], [3, 1])
    assert rows.tolist() == [4]
    assert scores[0] == pytest.approx(0.75)
    assert fuse([np.zeros(0, dtype=np.int64)] * 2)[0].size == 0
    assert RRF == 10


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_nearest_against_a_loop(similarity: str) -> None:
    rng = np.random.default_rng(3)
    items = rng.normal(size=(1300, 8)).astype(np.float32)
    vector = rng.normal(size=8).astype(np.float32)
    allowed = rng.random(1300) < 0.9
    rows, scores = nearest(vector, items, allowed, similarity)
    each = [
        (float(item @ vector) if similarity == "dot" else -float(np.linalg.norm(item - vector)), -row)
        for row, item in enumerate(items)
        if allowed[row]
    ]
    best = sorted(each, reverse=True)[:1000]
    assert rows.tolist() == [-row for _, row in best]
    np.testing.assert_allclose(scores, [score for score, _ in best], rtol=1e-4, atol=1e-5)
    assert nearest(vector, items, np.zeros(1300, dtype=bool), similarity)[0].size == 0


def test_words_leave_out_what_has_none() -> None:
    scores = np.array([0, 2.0, 0, 5.0, 2.0, 9.0], dtype=np.float32)
    rows, values = best_words(scores, np.array([True, True, True, True, True, False]))
    assert rows.tolist() == [3, 1, 4]
    assert values.tolist() == [5, 2, 2]
