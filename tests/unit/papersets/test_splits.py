"""Splits hang on titles alone."""

from __future__ import annotations

import hashlib

import pytest

from sectioncls.errors import InputError
from sectioncls.papersets.splits import SPLITS, known_split, normalised, split_number, split_of_paper, split_of_query


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  On WAX: a Note! ", "on wax a note"),
        ("Café naïve", "cafe nai ve"),  # NFKD parts letters from their accents
        ("x-ray", "x ray"),
        ("…", ""),
        ("ﬁve", "five"),
    ],
)
def test_normalised(text: str, words: str) -> None:
    assert normalised(text) == words


def test_the_rule() -> None:
    for number in range(200):
        title = f"Flock {number}: a story"
        place = int(hashlib.sha1(f"split:flock {number} a story".encode()).hexdigest()[:8], 16) % 10
        assert split_of_paper(title, "") == {0: "test", 1: "dev"}.get(place, "train")


def test_the_same_title_in_another_dress_and_shares() -> None:
    assert len({split_of_paper(title, str(n)) for n, title in enumerate(("A Flock", "a flock.", "«A  FLOCK»"))}) == 1
    splits = [split_of_paper("", f"set|{number}") for number in range(5000)]
    assert 0.78 < splits.count("train") / 5000 < 0.82
    assert 0.08 < splits.count("dev") / 5000 < 0.12
    assert splits != [split_of_paper("", f"set|{number}", seed=1) for number in range(5000)]


def test_queries_are_never_train() -> None:
    splits = [split_of_query(f"q{number}") for number in range(2000)]
    assert set(splits) == {"dev", "test"}
    assert 0.22 < splits.count("dev") / 2000 < 0.28


def test_names() -> None:
    assert [known_split(name) for name in (" Val ", "validation", "TEST", "train", "holdout")] == [
        *("dev", "dev", "test", "train"),
        None,
    ]
    assert [split_number(split) for split in SPLITS] == [0, 1, 2]
    with pytest.raises(InputError, match="'val' is not a split"):
        split_number("val")
