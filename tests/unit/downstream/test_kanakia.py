from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream.kanakia import hybrid_scorer
from sectioncls.errors import InputError

WORDS = np.array([[1.0, 0.2, 0.9, 0.0, 0.1], [0.2, 1.0, 0.3, 0.4, 0.0]])


def text(rows):
    return WORDS[rows]


def test_worked_by_hand():
    # Papers 3 and 4 cite 0, 1 together, 4 also cites 2; the queries are papers 0 and 1.
    edges = [[3, 0], [3, 1], [4, 0], [4, 1], [4, 2], [4, 2]]
    found = hybrid_scorer(text, np.array([0, 1]), edges, 5, slope=1.0, offset=2.0)(np.array([0, 1]))
    twice, once = 0.5, 1 / (1 + np.e)  # 2 and 1 co-citations
    expected = [[1.0, twice, 0.9, 0.0, 0.1], [twice, 1.0, 0.3, 0.4, 0.0]]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert once < 0.3  # so text decides between 0 or 1 and 2
    some = hybrid_scorer(text, np.array([0, 1]), edges, 5, slope=1.0, offset=0.0)(np.array([1]))
    np.testing.assert_allclose(some, [[1 / (1 + np.exp(-2)), 1.0, 1 / (1 + np.exp(-1)), 0.4, 0.0]], atol=1e-7)


def test_without_citations_text_alone():
    found = hybrid_scorer(text, np.array([0, 1]), np.zeros((0, 2)), 5)(np.array([0, 1]))
    np.testing.assert_array_equal(found, WORDS)


def test_counts_are_those_of_a_naive_loop():
    random = np.random.default_rng(1)
    edges = random.integers(20, size=(120, 2))
    found = hybrid_scorer(lambda rows: np.zeros((len(rows), 20)), np.arange(20), edges, 20)(np.arange(20))
    refs = [{int(b) for a, b in edges if a == paper} for paper in range(20)]
    counts = np.array([[sum({one, other} <= mine for mine in refs) for other in range(20)] for one in range(20)])
    expected = np.where(counts > 0, 1 / (1 + np.exp(0.4 * (5 - counts))), 0)
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_citation_outside_the_papers():
    with pytest.raises(InputError, match="beyond 3"):
        hybrid_scorer(text, np.array([0]), [[0, 3]], 3)
