"""Draws without repetition: every choice that is allowed, evenly, and nothing else."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from sectioncls.mining.draws import draw_one_each, draw_places, fill_in, pool_source, ranges
from sectioncls.mining.hops import grouped, two_steps
from sectioncls.mining.pairset import pair_set


def even(counts: Counter, choices: int, drawn: int) -> bool:
    """Say whether counts lie within five standard deviations of an even share."""
    share = drawn / choices
    return len(counts) == choices and max(abs(count - share) for count in counts.values()) < 5 * share**0.5


def test_ranges():
    owner, place = ranges([5, 0, 9], [2, 0, 3])
    assert owner.tolist() == [0, 0, 2, 2, 2]
    assert place.tolist() == [5, 6, 9, 10, 11]


@pytest.mark.parametrize(("size", "count"), [(4, 3), (3, 3), (5, 1)])
def test_places_are_all_ordered_choices_evenly(size, count):
    places = draw_places(np.full(24_000, size), count, np.random.default_rng(size))
    assert even(Counter(map(tuple, places.tolist())), len(list(permutations(range(size), count))), 24_000)


def test_too_few_places_leave_the_rest_absent():
    places = draw_places([0, 1, 2, 9], 3, np.random.default_rng(0))
    assert (places[0] == -1).all()
    assert places[1].tolist() == [0, -1, -1]
    assert sorted(places[2].tolist()) == [-1, 0, 1]
    assert len(set(places[3].tolist())) == 3


def test_one_of_each_owner():
    owner = np.repeat([0, 2], [2, 3])
    drawn = np.stack([draw_one_each(owner, 4, np.random.default_rng(seed)) for seed in range(3000)])
    assert set(drawn[:, 0]) == {0, 1}
    assert (drawn[:, [1, 3]] == -1).all()
    assert even(Counter(drawn[:, 2].tolist()), 3, 3000)


def test_fill_in_is_even_over_what_is_accepted_and_not_taken():
    """Two of ten may stay: most queries are drawn from their list."""
    random = np.random.default_rng(0)
    source = pool_source(np.arange(10), lambda queries, candidates: candidates >= 7, random)
    drawn = np.full((9000, 3), -1)
    drawn[:, 1] = 9
    assert fill_in(drawn, [0], source, random) == 0
    assert even(Counter(drawn[:, 0].tolist()), 2, 9000)
    assert fill_in(drawn, [2], source, random) == 0
    assert (np.sort(drawn, axis=1) == [7, 8, 9]).all()
    assert fill_in(np.concatenate((drawn, np.full((9000, 1), -1)), axis=1), [3], source, random) == 9000


def test_an_empty_pool_fills_nothing():
    source = pool_source(
        np.zeros(0, dtype=np.int64), lambda queries, candidates: candidates >= 0, np.random.default_rng(0)
    )
    drawn = np.full((3, 2), -1)
    assert fill_in(drawn, [0, 1], source, np.random.default_rng(0)) == 6
    assert (drawn == -1).all()


@pytest.mark.parametrize("rounds", [0, 6])
@pytest.mark.parametrize("distinct", [True, False])
def test_two_steps_are_even_over_ends_or_over_paths(monkeypatch, rounds, distinct):
    """Row 0 reaches 5 over three paths and 6 and 7 over one, proposed and listed alike."""
    from sectioncls.mining import draws

    monkeypatch.setattr(draws, "ROUNDS", rounds)
    first = grouped(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 0]), (2, 4))
    steps = np.array([[1, 5], [2, 5], [3, 5], [3, 6], [2, 7]])
    second = grouped(steps[:, 0], steps[:, 1], (4, 8))
    random = np.random.default_rng(rounds)
    inside = pair_set(steps[:, 0], steps[:, 1], 8) if distinct else None
    queries = np.repeat([0, 1], [6000, 10])
    everything = lambda queries, candidates: np.ones(len(queries), dtype=bool)  # noqa: E731
    source = two_steps(first, second, queries, everything, random, inside=inside)
    drawn = np.full((len(queries), 1), -1)
    assert fill_in(drawn, [0], source, random) == 10
    shares = {5: 1 / 3, 6: 1 / 3, 7: 1 / 3} if distinct else {5: 0.6, 6: 0.2, 7: 0.2}
    counts = Counter(drawn[:6000, 0].tolist())
    assert set(counts) == set(shares)
    assert all(abs(counts[end] / 6000 - share) < 0.035 for end, share in shares.items())
