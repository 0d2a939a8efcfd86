from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import classify_titles, neighbour_vectors, shuffled_articles
from sectioncls.errors import InputError


@pytest.mark.parametrize(("width", "own"), [(1, True), (1, False), (3, True), (2, False)])
def test_neighbours_against_a_loop(width, own):
    random = np.random.default_rng(0)
    x = random.normal(size=(30, 4)).astype(np.float32)
    shuffled = random.permutation(28)  # the last two rows are in no article
    articles = np.split(shuffled, [1, 3, 10, 10, 14])
    found = neighbour_vectors(x, articles, width=width, own=own)
    place = {int(row): (a, t) for a, rows in enumerate(articles) for t, row in enumerate(rows)}
    for row in range(30):
        parts = []
        for offset in range(-width, width + 1):
            if offset == 0:
                parts += [x[row]] if own else []
                continue
            vector = np.zeros(4, dtype=np.float32)
            if row in place:
                article, t = place[row]
                if 0 <= t + offset < len(articles[article]):
                    vector = x[articles[article][t + offset]]
            parts.append(vector)
        np.testing.assert_array_equal(found[row], np.concatenate(parts))


def test_neighbours_of_lonely_rows_are_zeros():
    x = np.ones((2, 3))
    np.testing.assert_array_equal(neighbour_vectors(x, [np.array([0]), np.array([1])], own=False), np.zeros((2, 6)))
    np.testing.assert_array_equal(neighbour_vectors(x, [], own=False), np.zeros((2, 6)))


def test_shuffling_keeps_each_article_its_rows():
    articles = [np.arange(5, 25), np.array([3]), np.arange(2)]
    found = shuffled_articles(articles, np.random.default_rng(0))
    assert [sorted(rows) for rows in found] == [sorted(rows) for rows in articles]
    assert list(found[0]) != list(articles[0])
    again = shuffled_articles(articles, np.random.default_rng(0))
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))


def test_titles_that_decide_are_learnt():
    train = [["Methods"], ["Methods", "Sheep"], ["Results"], ["RESULTS ", "Counts"], [], []] * 5
    found = classify_titles(
        train, [0, 0, 1, 1, 2, 2] * 5, [["methods"], ["Results", "Lambs"], [], ["Results of counting"]]
    )
    np.testing.assert_array_equal(found, [0, 1, 2, 1])


def test_nothing_to_learn_is_said():
    with pytest.raises(InputError, match="one label"):
        classify_titles([["a"], ["b"]], [1, 1], [["a"]])
    with pytest.raises(InputError, match="no sentences"):
        classify_titles([], np.array([], dtype=int), [])
