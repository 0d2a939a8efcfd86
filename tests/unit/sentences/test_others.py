from __future__ import annotations

import time

import pytest

from sectioncls.errors import UsageError
from sectioncls.sentences import SPLITTERS, join_wrong_ends, split_sentences


def sentences(text: str, splitter: str = "sentencizer") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, splitter)]


@pytest.mark.parametrize("splitter", sorted(SPLITTERS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "One ewe.",
        "  One ewe. Two rams!  Was it so?\n\nYes \u00a0.  ",
        "H₂O \U0001f411 stayed. α-Actin fell. e.g. this. ... (So. It. Goes.) \u2028 End",
        "." * 500,
        "a" * 5000,
    ],
)
def test_offsets_are_trimmed_and_cover_all_but_white_space(splitter: str, text: str) -> None:
    spans = split_sentences(text, splitter)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize(
    "parts",
    [
        ["Wool et al. @cite saw lambs, i.e. small sheep.", "They grew."],
        ["See Fig. 3 and refs. 4 to 6.", "It held."],
        ["It grew with E. coli and S. aureus.", "Then it died."],
        ["It fell, says Wool et al., for long.", "So did Ewe etc., all."],
        ["Dr. Lamb sold No. 12 of Ovis sp. and left.", "Ewes etc. were fed."],
        ["We met J. R. Ramsey and her dog.", "Both sang."],
        ["About five vs. Seven were cf. Ewe seen approx. in May.", "No more."],
        ["The dose was 0.5 mg (p < 0.01).", "It was low."],
    ],
)
def test_abbreviations_do_not_end_a_sentence(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize("piece", ["(", ".", "a.", "a'", "1-", "http://", "x", ") ", ". "])
def test_long_runs_end_in_time(piece: str) -> None:
    begin = time.perf_counter()
    split_sentences("So " + piece * 20_000 + " it is.")
    assert time.perf_counter() - begin < 10


def test_the_plain_splitter_repairs_nothing() -> None:
    text = "Wool et al. Saw it."
    assert sentences(text, "sentencizer-plain") == ["Wool et al.", "Saw it."]
    assert sentences(text) == [text]


def test_joining_leaves_right_ends_alone() -> None:
    text = "It was fed. Rams slept."
    assert join_wrong_ends(text, [(0, 11), (12, 23)]) == [(0, 11), (12, 23)]
    assert join_wrong_ends(text, []) == []


def test_a_text_beyond_the_limit_is_cut_at_white_space() -> None:
    text = "A sheep is a sheep " * 12_000
    found = sentences(text)
    assert len(found) == 2
    assert " ".join(found) == text.strip()


def test_an_unknown_splitter_is_refused() -> None:
    with pytest.raises(UsageError, match="sentencizer"):
        split_sentences("x", "nothing")
