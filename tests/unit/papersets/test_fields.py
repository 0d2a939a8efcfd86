"""What JSON records say about papers."""

from __future__ import annotations

from collections import Counter
from math import log1p
from typing import Any

import pytest

from sectioncls.errors import InputError
from sectioncls.papersets.fields import Described, FieldRules, describe

NO_RULES = FieldRules()


def say(record: dict[str, Any], rules: FieldRules = NO_RULES) -> tuple[Described, Counter[str]]:
    unread: Counter[str] = Counter()
    return describe({"id": "1"} | record, "f:1", rules, unread), unread


def test_a_whole_record() -> None:
    found, unread = say(
        {
            "title": "On bells",
            "abstract": None,
            "text": "They ring.",
            "year": "1999",
            "journal": "Bells",
            "authors": ["A", {"name": "B"}, ""],
            "fieldsOfStudy": ["Farming"],
            "keywords": ["bell"],
            "split": "val",
            "mesh": [{"h": "Sheep", "major": 1}, {"h": "Sheep"}],
            "label": "Wool",
            "labels": [3, " Two  words "],
            "labels_2": ["x"],
            "cr_top": ["1"],
            "n_cited": 3,
            "gs_citation": 0,
            "score": 4.5,
            "extra": "?",
            "flag": True,
            "mag_id": 12,
            "ratings": [1, 2],
        }
    )
    paper = found.paper
    assert (paper.title, paper.abstract, paper.year, paper.venue) == ("On bells", "They ring.", 1999, "Bells")
    assert (paper.authors, paper.fields) == (("A", "B"), ("Farming",))
    assert (found.split, found.keywords) == ("val", ("bell",))
    assert found.topics == (
        ("mesh", "Sheep"),
        ("label", "Wool"),
        ("label", "3"),
        ("label", "Two words"),
        ("labels_2", "x"),
        ("cr_top", "1"),
    )
    assert dict(found.targets) == {"year": 1999, "log_n_cited": log1p(3), "log_gs_citation": 0, "score": 4.5}
    assert unread == {"extra": 1, "flag": 1, "mag_id": 1, "ratings": 1}


def test_fields_that_are_named() -> None:
    found, unread = say({"kind": "a", "weight": "2.5"}, FieldRules(frozenset({"kind"}), frozenset({"weight"})))
    assert found.topics == (("kind", "a"),)
    assert found.targets == (("weight", 2.5),)
    assert not unread


@pytest.mark.parametrize("year", ["foo", 1999.5, 12, 99999, float("nan"), float("inf"), 10**400, [1], True])
def test_years_that_are_none(year: Any) -> None:
    found, unread = say({"year": year})
    assert found.paper.year is None
    assert unread == {"year (no year)": 1}


def test_numbers_that_are_none() -> None:
    found, unread = say({"score": float("nan"), "n_cited": -1, "huge": 10**400})
    assert found.targets == ()
    assert unread == {"score (no number)": 1, "n_cited (no number)": 1, "huge (no number)": 1}


def test_a_half_character_is_replaced() -> None:
    assert say({"title": "a \ud800 b"})[0].paper.title == "a \ufffd b"


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"id": None}, "has no id"),
        ({"id": {}}, "neither text nor number"),
        ({"id": True}, "neither text nor number"),
        ({"title": 3}, "a title that is no text"),
        ({"abstract": ["a"]}, "an? abstract that is no text"),
        ({"split": 1}, "a split that is no text"),
        ({"authors": [["a"]]}, "holds a list of list"),
    ],
)
def test_malformed_records(record: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=rf"f:1: .*{words}"):
        say(record)


def test_other_names_of_the_id() -> None:
    unread: Counter[str] = Counter()
    assert describe({"corpus_id": 7, "sha": "x"}, "f:1", NO_RULES, unread).paper.id == "7"
    assert not unread
