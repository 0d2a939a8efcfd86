from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream.sgc import smooth_features
from sectioncls.errors import InputError


def naive(features, edges, rounds):
    """The paper's formula with a power of a dense matrix."""
    links = np.eye(len(features))
    for one, other in edges:
        links[one, other] = links[other, one] = 1
    scale = np.diag(1 / np.sqrt(links.sum(axis=1)))
    rows = np.linalg.matrix_power(scale @ links @ scale, rounds) @ features
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_a_power_of_the_normalised_graph(rounds):
    random = np.random.default_rng(rounds)
    features = random.standard_normal((30, 6))
    edges = random.integers(30, size=(50, 2))
    edges = np.concatenate((edges, edges[:9], edges[:9, ::-1]))  # repeated and turned: the same graph
    np.testing.assert_allclose(
        smooth_features(features, edges, rounds=rounds), naive(features, edges, rounds), atol=1e-5
    )


def test_papers_without_links_keep_their_features():
    found = smooth_features([[3, 4], [1, 0], [0, 2]], [[1, 2]])
    np.testing.assert_allclose(found[0], [0.6, 0.8], atol=1e-6)
    np.testing.assert_allclose(found[1], found[2], atol=1e-6)
    np.testing.assert_allclose(smooth_features([[3, 4]], np.zeros((0, 2))), [[0.6, 0.8]], atol=1e-6)


def test_edges_outside_the_papers():
    with pytest.raises(InputError, match="beyond 2"):
        smooth_features([[1.0], [1.0]], [[0, 2]])
