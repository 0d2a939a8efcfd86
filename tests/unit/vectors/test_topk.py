"""Exact nearest rows: as sorting everything would give them, ties by row, exclusions, errors."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.vectors import top_k, top_k_blocks
from sectioncls.vectors import topk as module


def sorted_whole(queries, items, k, exclude=None):
    scores = queries @ items.T
    for row, barred in enumerate([] if exclude is None else np.reshape(exclude, (len(queries), -1))):
        scores[row, barred[barred >= 0]] = -np.inf
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, rows, axis=1), rows


@pytest.mark.parametrize("k", [1, 7, 59, 60])
def test_is_the_stable_sort_with_many_ties(k):
    random = np.random.default_rng(k)
    queries, items = (random.integers(-2, 3, (n, 4)).astype(np.float32) for n in (40, 60))
    scores, rows = top_k(queries, items, k)
    wanted, order = sorted_whole(queries, items, k)
    assert (rows == order).all()
    assert (scores == wanted).all()


def test_negative_zero_ties_with_zero():
    items = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0]], dtype=np.float32)
    assert top_k(np.array([[1.0, 0.0], [-1.0, 0.0]]), items, 3)[1].tolist() == [[0, 1, 2], [0, 1, 2]]


def test_excludes_items_and_blocks_change_nothing(monkeypatch):
    random = np.random.default_rng(0)
    rows = random.standard_normal((50, 6)).astype(np.float32)
    itself = np.arange(50)
    whole = top_k(rows, rows, 9, exclude=itself)
    assert (whole[1] != itself[:, None]).all()
    assert (whole[1] == sorted_whole(rows, rows, 9, itself)[1]).all()
    monkeypatch.setattr(module, "QUERIES", 7)
    parts = list(top_k_blocks(rows, rows, 9, exclude=itself))
    assert [start for start, _, _ in parts] == list(range(0, 50, 7))
    assert (np.concatenate([found for _, _, found in parts]) == whole[1]).all()
    pairs = np.stack((itself, np.where(itself % 2, (itself + 1) % 50, -1)), axis=1)
    assert (top_k(rows, rows, 9, exclude=pairs)[1] == sorted_whole(rows, rows, 9, pairs)[1]).all()


@pytest.mark.parametrize(
    ("queries", "items", "k", "exclude", "words"),
    [
        (np.ones((2, 3)), np.ones((4, 3)), 5, None, "k = 5, but a query has 4 items"),
        (np.ones((2, 3)), np.ones((4, 3)), 4, [0, 1], "k = 4, but a query has 3 items"),
        (np.ones((2, 3)), np.ones((4, 3)), 0, None, "k = 0"),
        (np.ones((2, 3)), np.ones((0, 3)), 1, None, "0 items"),
        (np.ones((2, 3)), np.ones((4, 2)), 1, None, "3 dimensions, items of 2"),
        (np.ones((2, 3)), np.full((4, 3), np.nan), 1, None, "NaN"),
        (np.ones(3), np.ones((4, 3)), 1, None, "shape"),
        (np.ones((2, 3)), np.ones((4, 3)), 1, [0], "to exclude"),
        (np.ones((2, 3)), np.ones((4, 3)), 1, [0, 4], "item 4 of 4"),
    ],
)
def test_wrong_input_is_one_line(queries, items, k, exclude, words):
    with pytest.raises(InputError) as caught:
        top_k(queries, items, k, exclude=exclude)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_queries_no_rows():
    scores, rows = top_k(np.ones((0, 3)), np.ones((4, 3)), 2)
    assert scores.shape == rows.shape == (0, 2)
