from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sectioncls.documents import inline
from sectioncls.documents.account import Account
from sectioncls.documents.inline import CITE, FIG, FORMULA_MARK, POWER, SUP_CITE, TABLE, clean, raised


def written(text: str) -> str:
    """Marks are written as capital letters behind a hash in these tests."""
    for short, mark in (("#C", CITE), ("#S", SUP_CITE), ("#F", FIG), ("#T", TABLE), ("#M", FORMULA_MARK)):
        text = text.replace(short, mark)
    return text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (" a\u00a0\t\r\n\u2009b\u3000 ", "a b"),
        ("a\u200bb\u00adc\ufeffd\u2060e", "abcde"),
        ("cafe\u0301 µ μ ﬁ", "café µ μ ﬁ"),
        ("bees [#C,#C–#C; #C].", "bees @cite."),
        ("bees (#C; #C) and (see #C)", "bees @cite and (see @cite)"),
        ("bees (#C and #C & #C)[#C], [#C] [mg]", "bees @cite [mg]"),
        ("bees ([#C]) sat", "bees @cite sat"),
        ("bees #C and #C", "bees @cite and @cite"),
        ("fly.#S They#S rest,#S,#S-#S now et al.#S so", "fly @cite. They @cite rest @cite, now et al. @cite so"),
        ("fly.[#S] They", "fly @cite. They"),
        ("see Fig. #F, Figs #F and figure#F", "see @fig and @fig"),
        ("see #FA,B and #Fc–e (#F) #Fabc", "see @fig and @fig (@fig) @fig abc"),
        ("see Tables #T; #T and Tab. #T of config #F", "see @table and @table of config @fig"),
        ("x #M-score", "x @formula-score"),
        ("if(#M)or#Mis“#M” , #M #M.", "if(@formula)or @formula is“@formula” , @formula @formula."),
        ("a#M(b) \"#M\" 'c'#M", "a @formula (b) \"@formula\" 'c' @formula"),
        ("#C agreed", "@cite agreed"),
        ("#M", ""),
        ("(Fig. #F)", ""),
        (" 12 – 3.", ""),
        ("ж", "ж"),
    ],
)
def test_clean_text(raw: str, text: str) -> None:
    assert clean(written(raw)) == text


@pytest.mark.parametrize("before", ["x", "x ", "", "(", "( ", "“", "“ ", "' ", "x-"])
@pytest.mark.parametrize("after", ["", " x", "x", ".", " .", ", x", ") x", " ) x", "(x", " (x", "“x", "-x", " 1"])
def test_the_short_way_for_citations_is_the_long_one(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, short, long = f"bees {before}{CITE}{after} wax", Account(), Account()
    text = clean(raw, short)
    monkeypatch.setattr(inline, "_AWKWARD", re.compile(""))
    assert text == clean(raw, long)
    assert (short.added, short.left_out()) == (long.added, long.left_out())


def test_a_title_needs_no_letter() -> None:
    assert clean(" 2016 ", wordless=True) == "2016"
    assert clean(FORMULA_MARK, wordless=True) == "@formula"


@pytest.mark.parametrize(
    ("content", "before", "emptied", "text"),
    [
        ("3", "0", False, "^3"),
        ("−1", "s", False, "^−1"),
        ("+2.5", "]", False, "^+2.5"),
        ("n", "2", False, "^n"),
        ("n", ")", False, "^n"),
        ("n", "x", False, "n"),
        ("st", "1", False, "st"),
        ("13", " ", False, "13"),
        ("13", "", False, "13"),
        ("2+", "a", False, "2+"),
        ("+", "4", False, "+"),
        (f"{CITE},{CITE}", "n", False, SUP_CITE),
        (f"[{CITE}]", ".", False, SUP_CITE),
        (f"a{CITE}", ".", False, f"a{CITE}"),
        (",", "e", True, ""),
        (" ", "e", True, " "),
        ("a", "e", True, "a"),
    ],
)
def test_superscripts(content: str, before: str, emptied: bool, text: str) -> None:
    assert raised(content, before, Account(), emptied=emptied) == text.replace("^", POWER)


ALPHABET = st.sampled_from(
    [*"aB1 .,;:()[]\"'-–&\n\u00a0\u200be\u0301", CITE, SUP_CITE, FIG, TABLE, FORMULA_MARK, "Fig. ", "and"]
)


@given(st.lists(ALPHABET, max_size=40).map("".join))
def test_clean_text_is_settled(raw: str) -> None:
    text = clean(raw)
    assert text == " ".join(text.split())
    assert not any(character < " " for character in text)
    assert unicodedata.is_normalized("NFC", text)
    assert clean(text) == text


@pytest.mark.parametrize(
    "piece",
    ["(", "[", CITE, f"({CITE}", f"{CITE},", "Fig. ", f"{FIG}A,", "and ", ", ", ".", f"({CITE})", f"{SUP_CITE}."],
)
def test_long_runs_take_linear_time(piece: str) -> None:
    begin = time.perf_counter()
    clean("a" + piece * 100_000 + "b")
    assert time.perf_counter() - begin < 5
