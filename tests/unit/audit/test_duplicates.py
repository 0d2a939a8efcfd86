"""Near duplicates: all pairs that a naive loop finds, and no others."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from sectioncls.audit.duplicates import NEAR, Sketches, bands, confirmed, jaccard, shingles
from sectioncls.audit.rows import digests
from sectioncls.errors import UsageError

WORDS = [f"word{number}" for number in range(400)]


def texts(seed: int) -> list[str]:
    """Sentences of which most have a sibling with some words replaced, added or left out."""
    rng = random.Random(seed)
    found = []
    for _ in range(110):
        words = rng.choices(WORDS, k=rng.randint(3, 40))
        found.append(" ".join(words))
        for _ in range(rng.randint(0, 3)):
            sibling = list(words)
            for _ in range(rng.randint(0, 3)):
                place = rng.randrange(len(sibling))
                sibling[place : place + rng.randint(0, 1)] = [rng.choice(WORDS)]
            found.append(" ".join(sibling))
    return list(dict.fromkeys(found))


def found_pairs(lines: list[str], near: float, batch: int = 64) -> set[tuple[str, str]]:
    sketches = Sketches(near)
    for start in range(0, len(lines), batch):
        sketches.add(lines[start : start + batch], digests(lines[start : start + batch]))
    number = dict(zip(digests(lines).tolist(), range(len(lines)), strict=True))
    pairs = np.array([[number[one], number[other]] for one, other in sketches.candidates().tolist()]).reshape(-1, 2)
    kept = pairs[confirmed(pairs, dict(enumerate(lines)), near)]
    return {tuple(sorted((lines[one], lines[other]))) for one, other in kept.tolist()}


@pytest.mark.parametrize("near", [0.6, NEAR, 0.9])
def test_pairs_are_those_of_a_naive_loop(near: float) -> None:
    wanted, got = set(), set()
    for seed in range(3):
        lines = texts(seed)
        sets = {line: shingles(line) for line in lines}
        wanted |= {tuple(sorted(pair)) for pair in combinations(lines, 2) if jaccard(*map(sets.get, pair)) >= near}
        got |= found_pairs(lines, near)
    assert len(wanted) > 30
    assert got <= wanted
    assert len(got) >= 0.99 * len(wanted)


def test_batches_and_order_change_nothing() -> None:
    lines = texts(7)
    assert found_pairs(lines, NEAR) == found_pairs(lines, NEAR, batch=1000) == found_pairs(lines[::-1], NEAR)


def test_shingles_are_pairs_of_words() -> None:
    assert shingles("the sheep, the sheep graze.") == {"the sheep", "sheep the", "sheep graze"}
    assert shingles("sheep!") == {"sheep"}
    assert shingles("… 。") == frozenset()
    assert jaccard(frozenset("abc"), frozenset("bcd")) == 0.5
    assert jaccard(frozenset(), frozenset()) == 0


def test_twenty_words_with_one_replaced_are_near() -> None:
    words = WORDS[:20]
    assert jaccard(shingles(" ".join(words)), shingles(" ".join([*words[:9], "other", *words[10:]]))) >= NEAR


def test_texts_without_words_are_near_to_nothing() -> None:
    assert found_pairs(["…", "—", "?", "…!"], NEAR) == set()


@pytest.mark.parametrize("near", [0.5, 0.7, 0.8, 0.9, 1.0])
def test_bands_miss_one_in_a_hundred_at_most(near: float) -> None:
    count, rows = bands(near)
    assert count * rows <= 128
    assert (1 - near**rows) ** count <= 0.01


@pytest.mark.parametrize("near", [0.0, 0.49, 1.01, float("nan")])
def test_thresholds_that_make_no_sense(near: float) -> None:
    with pytest.raises(UsageError, match="not between"):
        Sketches(near)
