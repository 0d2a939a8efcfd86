from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import classify_positions, position_features
from sectioncls.errors import InputError


def test_features_by_hand():
    ids, index = ["b", "a", "b", "a", "a"], [7, 2, 3, 0, 1]
    features = position_features(ids, index)
    found = [[int(place) for place in np.flatnonzero(row)] for row in features]
    # Row 0 is b's second of two: tenth 5, place 1 from the left (11), 0 from the right (15); and so on.
    assert found == [[5, 11, 15], [6, 12, 15], [0, 10, 16], [0, 10, 17], [3, 11, 16]]


def test_features_against_a_loop():
    random = np.random.default_rng(0)
    lengths = random.integers(1, 40, size=30)
    rows = [(f"a{a}", place) for a, length in enumerate(lengths) for place in range(length)]
    rows = [rows[i] for i in random.permutation(len(rows))]
    features = position_features([a for a, _ in rows], [place for _, place in rows])
    for (article, place), row in zip(rows, features, strict=True):
        n = lengths[int(article[1:])]
        expected = {int(10 * place / n)}
        expected |= {10 + place} if place < 5 else set()
        expected |= {15 + n - 1 - place} if n - 1 - place < 5 else set()
        assert set(np.flatnonzero(row)) == expected


def test_places_that_decide_are_learnt():
    ids = [f"a{i // 6}" for i in range(120)]
    index = [i % 6 for i in range(120)]
    y = np.array([0, 0, 1, 1, 1, 2] * 20)
    found = classify_positions((ids, index), y, (ids[:6], index[:6]))
    np.testing.assert_array_equal(found, [0, 0, 1, 1, 1, 2])


def test_nothing_to_learn_is_said():
    with pytest.raises(InputError, match="one label"):
        classify_positions((["a", "a"], [0, 1]), [1, 1], (["a"], [0]))
    with pytest.raises(InputError, match="no sentences"):
        classify_positions(([], []), np.array([], dtype=int), ([], []))
