"""B³ worked by hand and by a loop; clusters of blocks."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import authors
from sectioncls.downstream.authors import author_clusters, author_scores, b_cubed, choose_bound
from sectioncls.errors import InputError
from sectioncls.records import Score

RNG = np.random.default_rng(5)


def test_b_cubed_worked_by_hand():
    # Clusters {a a b} {a} {b}: precision of the first a is 2/3, its recall 2/3.
    precision, recall = b_cubed(["a", "a", "b", "a", "b"], [0, 0, 0, 1, 2])
    assert precision == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1, 1])
    assert recall == pytest.approx([2 / 3, 2 / 3, 1 / 2, 1 / 3, 1 / 2])


def test_b_cubed_equals_a_loop_over_pairs():
    truth, found = RNG.integers(0, 7, 60), RNG.integers(10, 16, 60)
    precision, recall = b_cubed(truth, found)
    for row in range(60):
        both = ((truth == truth[row]) & (found == found[row])).sum()
        assert precision[row] == pytest.approx(both / (found == found[row]).sum())
        assert recall[row] == pytest.approx(both / (truth == truth[row]).sum())


def people():
    """Papers of six people in three blocks: each person's papers near one direction."""
    person = np.repeat(np.arange(6), 5)
    x = np.eye(6)[person] + 0.1 * RNG.normal(size=(30, 6))
    return x, [f"block {one // 2}" for one in person], person


def test_people_are_told_apart_within_their_block():
    x, block, person = people()
    found = author_clusters(x, block, 0.5)
    assert [row.value for row in author_scores(person, found, like=Score("", 0.0))] == [1, 1, 1]
    assert len(np.unique(author_clusters(x, block, 1.99))) == 3
    assert len(np.unique(author_clusters(x, block, 1e-6))) == 30
    assert author_clusters(x[:1], block[:1], 0.5).tolist() == [0]


def test_the_bound_with_the_best_f1_is_chosen():
    x, block, person = people()
    bound = choose_bound(x, block, person)
    assert np.mean(b_cubed(person, author_clusters(x, block, bound))) == 1
    lower = [one for one in authors.BOUNDS if one < bound]
    assert all(np.mean(b_cubed(person, author_clusters(x, block, one))) < 1 for one in lower)


def test_rows_and_their_intervals():
    x, block, person = people()
    rows = author_scores(person, author_clusters(x, block, 1.99), like=Score("", 0.0, task="s2and"))
    assert [row.metric for row in rows] == ["b3-precision", "b3-recall", "b3-f1"]
    assert (rows[0].value, rows[1].value) == (0.5, 1)
    assert rows[2].value == pytest.approx(2 / 3)
    assert {(row.n, row.unit, row.task) for row in rows} == {(30, "paper", "s2and")}
    found = RNG.integers(0, 3, 30)
    assert all(row.low < row.value < row.high for row in author_scores(person, found, like=Score("", 0.0)))


def test_refusals(monkeypatch):
    x, block, person = people()
    with pytest.raises(InputError, match="30 rows but 29 block names"):
        author_clusters(x, block[1:], 0.5)
    with pytest.raises(InputError, match="30 authors but 29 clusters"):
        b_cubed(person, person[1:])
    monkeypatch.setattr(authors, "LARGEST", 9)
    with pytest.raises(InputError, match="block 'block 0' has 10 papers, the most is 9"):
        author_clusters(x, block, 0.5)
