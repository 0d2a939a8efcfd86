"""Co-citation and coupling against counting by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

from sectioncls.papersets import links
from sectioncls.papersets.links import cocited, coupled, matrix_of


def by_hand(edges: set[tuple[int, int]], least: int, by: int, busiest: int | None) -> list[tuple[int, int, int]]:
    groups: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        groups[edge[by]].add(edge[1 - by])
    pairs = Counter(
        pair
        for members in groups.values()
        if busiest is None or len(members) <= busiest
        for pair in combinations(sorted(members), 2)
    )
    return sorted((*pair, number) for pair, number in pairs.items() if number >= least)


@pytest.mark.parametrize("busiest", [None, 4])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_against_counting(least: int, busiest: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_CELLS", 40)  # several slices
    random = np.random.default_rng(least)
    for _ in range(10):
        edges = random.integers(0, 25, (130, 2))
        edges = np.concatenate([edges, edges[:9]])  # doubles; self-citations are in it by chance
        known = {(one, other) for one, other in edges.tolist() if one != other}
        for function, by in ((cocited, 0), (coupled, 1)):
            pairs, numbers = function(edges, least, busiest=busiest)
            found = [(*pair, number) for pair, number in zip(pairs.tolist(), numbers.tolist(), strict=True)]
            assert found == by_hand(known, least, by, busiest)


def test_a_graph_without_edges() -> None:
    pairs, numbers = cocited(np.empty((0, 2), dtype=np.int64))
    assert pairs.shape == (0, 2)
    assert len(numbers) == 0


def test_works_outside_couple() -> None:
    edges = np.array([[paper, 100 + work] for paper in (0, 1) for work in range(4)] + [[2, 100]])
    pairs, numbers = coupled(edges)
    assert pairs.tolist() == [[0, 1]]
    assert numbers.tolist() == [4]


def test_matrix() -> None:
    matrix = matrix_of(np.array([[0, 1], [0, 1], [1, 1], [2, 0]]), 3, 3)
    assert matrix.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
