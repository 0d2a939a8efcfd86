"""Repeated texts, leaks between splits, empty splits."""

from __future__ import annotations

from sectioncls.papersets.repeats import Repeats


def test_repeats_and_leaks() -> None:
    repeats = Repeats()
    for title, abstract, split in (
        ("A flock", "Text", 0),
        ("a FLOCK!", "text.", 0),  # the same text
        ("A flock", "Other", 2),  # a leak of the title
        ("Dogs", "", 1),
        ("", "Only text", 0),
        ("", "Other text", 2),  # without a title there is no leak
    ):
        repeats.add(title, abstract, split)
    assert repeats.notes() == [
        "1 papers repeat title and abstract of another under another id (kept)",
        "1 titles stand in train and in dev or test: leaks between them",
    ]


def test_an_empty_split() -> None:
    repeats = Repeats()
    repeats.add("A", "B", 0)
    assert repeats.notes() == ["no paper is in dev or test"]
