"""The conflict rule against a naive loop."""

from __future__ import annotations

import random

from sectioncls.corpora.conflicts import conflicting_texts, without_texts
from sectioncls.records import Sentence


def naive(rows: list[Sentence]) -> list[Sentence]:
    return [row for row in rows if all(row.label == other.label for other in rows if other.text == row.text)]


def test_rule_equals_the_naive_loop() -> None:
    draw = random.Random(0)
    for _ in range(50):
        rows = [
            Sentence("a", i, -1, f"text {draw.randrange(12)}", 0, 1, label=draw.choice(["method", "result"]))
            for i in range(draw.randrange(30))
        ]
        texts, copies = conflicting_texts(rows)
        kept = list(without_texts(rows, texts))
        assert kept == naive(rows)
        assert copies == len(rows) - len(kept)


def test_texts_are_compared_as_exact_strings() -> None:
    rows = [
        Sentence("a", 0, -1, "Same.", 0, 5, label="method"),
        Sentence("a", 1, -1, "same.", 0, 5, label="result"),
        Sentence("a", 2, -1, "Same. ", 0, 6, label="result"),
    ]
    assert conflicting_texts(rows) == (frozenset(), 0)
