"""Near duplicates: the pairs that a look at all shingles gives, whatever the order."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

from sectioncls.corpora.near import NEAR, bands, near_pairs, signature
from sectioncls.corpora.spill import Packed, Spill, pack


def texts() -> dict[str, str]:
    """Give 30 texts of 300 words; every third is followed by one of it with a word changed, one with half changed."""
    draw = random.Random(4)
    vocabulary = [f"word{n}" for n in range(2000)]
    found = {}
    for n in range(10):
        words = draw.choices(vocabulary, k=300)
        close, far = list(words), list(words)
        close[150] = "changed"
        far[:150] = draw.choices(vocabulary, k=150)
        found |= {f"{n}a": " ".join(words), f"{n}b": " ".join(close), f"{n}c": " ".join(far)}
    return found


def shared(one: str, other: str) -> float:
    """Give the Jaccard index of the runs of five words."""
    sets = []
    for text in (one, other):
        words = text.split()
        sets.append({tuple(words[place : place + 5]) for place in range(len(words) - 4)})
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_pairs_are_those_of_all_shingles(tmp_path: Path) -> None:
    found = texts()
    expected = {pair for pair in combinations(sorted(found), 2) if shared(*(found[name] for name in pair)) >= NEAR}
    assert len(expected) == 10
    for turn, names in enumerate((sorted(found), random.Random(0).sample(sorted(found), len(found)))):
        folder = tmp_path / str(turn)
        folder.mkdir()
        with Spill(folder) as spill:
            for name in names:
                packed = Packed(name, name, 0, {}, "", pack(name), near=signature([found[name]]))
                spill.add("c", name.encode(), [packed])
            for stored in spill.articles():
                spill.add_bands(stored, bands(spill.signature(stored)))
            pairs = list(near_pairs(spill))
        assert [(one, other) for one, other, _ in pairs] == sorted(expected)
        assert all(abs(share - shared(found[one], found[other])) < 0.12 for one, other, share in pairs)


def test_short_texts_have_no_signature() -> None:
    assert signature(["four words are few"]) == b""
    assert len(signature(["these five words are enough"])) == 504
