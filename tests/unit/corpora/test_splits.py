"""Splits by article depend on the article alone; splits by sentence keep every label's share exactly."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from sectioncls.corpora.splits import StratifiedSplitter, hash_fraction, split_of_article


def test_hash_fraction_is_that_of_sha256() -> None:
    number = int(hashlib.sha256(b"7:PMC1").hexdigest(), 16) / 2**256
    assert hash_fraction("PMC1", 7) == pytest.approx(number, abs=1e-13)


def test_shares_by_article() -> None:
    counts = Counter(split_of_article(f"PMC{number}", 0) for number in range(20_000))
    assert counts["train"] / 20_000 == pytest.approx(0.8, abs=0.01)
    assert counts["dev"] / 20_000 == pytest.approx(0.1, abs=0.01)
    other = [split_of_article(f"PMC{number}", 1) for number in range(100)]
    assert other != [split_of_article(f"PMC{number}", 0) for number in range(100)]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 9, 10, 14, 997])
def test_shares_by_label_are_exact(n: int) -> None:
    labels = ["a"] * n + ["b"] * 40
    splitter = StratifiedSplitter(Counter(labels) | Counter(a=0), seed=3)
    counts = Counter((label, splitter.split_of(label)) for label in labels)
    assert counts["b", "dev"] == counts["b", "test"] == 4
    held = counts["a", "dev"] + counts["a", "test"]
    assert held == round(n / 5)
    assert 0 <= counts["a", "test"] - counts["a", "dev"] <= 1


def test_every_place_is_drawn_alike() -> None:
    hits = Counter(
        place
        for seed in range(2000)
        for splitter in [StratifiedSplitter({"a": 10}, seed)]
        for place in range(10)
        if splitter.split_of("a") == "test"
    )
    assert all(hits[place] == pytest.approx(200, abs=60) for place in range(10))
