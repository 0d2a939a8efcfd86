from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.errors import UsageError
from sectioncls.sentences import scisplit, scisplit_marked, split_sentences
from sectioncls.sentences.enclosed import LONG, enclosed

HARD = Path(__file__).resolve().parents[4] / "shared" / "data" / "jats" / "hard"

# A bar stands behind every sentence but the last.
PASSAGES = {
    "et al": "Ewes et al. @cite saw it.| So did Ram et al. (2001) and Lamb et al. [3], in part.",
    "et al that ends": "This repeats the trial of Ram et al.| The ewes were older.",
    "et al with a number behind": "It was shown by Ram et al.12| The ewes were older.",
    "Latin": "Sheep, i.e. ewes, e.g. Merinos, slept ca. 5 h vs. 7 h, cf. Lamb and viz. Shearer.| All woke.",
    "figures": "As Fig. 2 and Figs. 3A and 4 show (see Eq. 5, refs. 6 to 8), it rose.| FIG. 9 is new.",
    "titles": "Dr. Ram met Prof. Ewe at St. Abbs.| Mrs. Wool left.",
    "species": "We grew E. coli, S. aureus and C. elegans.| They died.",
    "ranks": "It was Bacillus sp. PCC 6803 or P. syringae pv. tabaci, no Ovis spp. at all.| It was Ovis sp.| We left.",
    "units": "Blood was drawn 5 min. after feeding and 2 h. before.| It weighed 10 kg.| p50 rose.",
    "initials": "J. R. Ramsey and M.-L. Shearer fed them.| The test of A. B. Wool failed.",
    "numbered": "See p. 3, pp. 4 to 9, vol. 2, No. 4 and Chap. VI of it.| The answer was no.| We left.",
    "etc": "Rams, ewes etc. were fed.| We sold wool, milk, etc.| The rest stayed.",
    "decimals": "It fell from .05 to 0.01 (P <.001).| We used v. 2.1 and R 4.0.3 here.| P was <.001.| Then it rose.",
    "citation numbers": "They slept.[1,2]| They woke.3–5| It rained.^6,7| We left.¹²| All slept. [8]| None woke.",
    "citation after a unit": "It was kept at 4 °C.12| After 5 min.3| The ewes of group XY.4| However, all woke.",
    "citation numbers with blanks": "They slept.1 2 13| It was long.| They woke. 4,5| None was ill. 6| In all, yes.",
    "placeholders": "They slept @cite.| @fig shows it.| It rained. @cite| The rest fled.| @cite did not.",
    "last citation": "The flock was healthy. 21",
    "brackets": "It rained (it did. Really) for long.| (So it goes. Or not.)| We left [see above. Twice].",
    "bracket never closed": "It rained (or did it.| We left.| They slept.",
    "quotes": 'She said "It rains. We go." and left.| “Why? Because.” was all.| He wrote: "We are done."| They slept.',
    "other quotes": "He said: 'It rains. We go.'| The 90s' ewes slept.| „Es regnet. Wir gehen.“ war alles.| We left.",
    "acids": "We used conc. HCl, aq. NaOH and dil. H2SO4.| The mixture was conc.| The rest was not.",
    "days": "We left on Mon. 5 May.| Cat. No. 12 and sec. 3 of it were lost.",
    "hyphens": "It failed.| k-means did not.| x-ray film helped.| d'Alembert stated it.",
    "groups of placeholders": "It ended. @cite, @cite| The rest slept. (@fig)| None woke. @cite.",
    "apostrophes": "The ewes’ wool grew.| The rams’ did not.| It’s so.",
    "inch": 'A 5" pipe broke.| A 6" pipe held.| We left.',
    "list": "We did this: (1) fed them.| (2) Sheared them; (3) sold them.",
    "numbered items": "1. Feed the ewes.| 2. Shear them.| 3. Sell the wool.",
    "lettered items": "Three aims follow.| a) To feed ewes.| b) To shear them.",
    "heading numbers": "2.1. Animals.| We bought ewes.",
    "caption": "Fig. 3. Weight of ewes.| Bars are means.",
    "small letters": "It fell.| mRNA rose.| mTOR held.| miR-21 fell.| α-Actin rose.| p53 fell.| pH was 7.| c-Fos rose.",
    "digits": "Serotonin was low.| 5-HT rose.| 10 ewes died.",
    "ellipsis": "It was ... not so.| They left...| Then they came… and stayed.| We wait…| Nobody came.",
    "addresses": "See www.ewe.org/a.b, doi:10.1000/xy.12 or mail a.b@ewe.org.| Run ewe.py then.| readme.txt says so.",
    "signs": "It was 3 +/- 0.2.| ~30 ewes died.| No more.",
    "countries": "We left the U.S. Department of the U.K. team.| All came from the U.S.| They stayed.",
    "names that end in a letter": "It bound kappa B.| Mice lacked vitamin C.| We saw kinase A.| Values fell.",
    "letter after a number": "It froze at 5 K.| Ewes were cold.",
    "two letters": "We call them X and Y.| Y is larger.",
    "degrees": "She has a Ph.D. in wool and an M.Sc. from York.| It came i.v. at 9 a.m. by Ewe Inc..| It held.",
    "questions": "Was it so?| No!| (Why?)| Because (really?) it was.| What?!| No more.",
    "scripts": "羊很好。|结果？|是的！|他说「走。」と言った。| भेड़ ठीक है।| वह गई॥| هل نامت؟| نعم.",
    "wide decimals": "約３．５倍。|次。",
    "names with von": "The rule is known.| von Ehren stated it.| We used it.",
    "p values": "Ewes were compared.| p values are two-sided.| t tests were used.",
    "no blank behind the stop": "The ewes slept.|The rams woke.| They left.",
    "months": "It began on Jan. 5 and ended in Sept. 2010.| It was sold in Dec.| The rest died.",
    "lines": "The ewes\nslept.| Rams\r\ndid not.|\n\nNo stop here|\n \nThe end",
    "headings": "Methods|\nThe ewes slept.|\n2.3 Wool|\nIt was sold.",
    "items on lines": "We need:|\n- two ewes|\n- one ram|\n\n1. Feed.|\n2. Shear.",
}


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in scisplit(text)]


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=PASSAGES)
def test_hard_passages(passage: str) -> None:
    expected = [part.strip() for part in passage.split("|")]
    assert parts(passage.replace("|", "")) == expected


@pytest.mark.shared
@pytest.mark.skipif(not HARD.is_dir(), reason="the shared hard cases are not here")
def test_hard_cases_of_the_shared_set() -> None:
    cases = [
        (paragraph["text"], paragraph["sentences"])
        for file in sorted(HARD.glob("*.expect.json"))
        for paragraph in json.loads(file.read_text(encoding="utf-8")).get("paragraphs", [])
        if "sentences" in paragraph
    ]
    assert cases
    for text, sentences in cases:
        assert parts(text) == sentences


def test_it_is_the_default_and_imports_no_spacy() -> None:
    assert split_sentences("Ram et al. @cite slept. So did we.") == scisplit("Ram et al. @cite slept. So did we.")
    code = "import sys; from sectioncls.sentences import split_sentences as s; s('a. B'); print('spacy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def check(text: str, spans: list[tuple[int, int]]) -> None:
    """Trimmed, in order, apart, and only white space between."""
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


# Any code point, surrogates too, and many of those that rules look at.
_ANY = st.text(st.characters(), max_size=200)
_MARKS = "aAxI1?!.,;:()[]{}\"'“”‘’«»「」…。؟।^-–/@\n\r\t \u00a0\u2028\u2029\x85\x1c\u200b\u0301\u05d0\U0001f411\ud800"
_WORDS = ["et al", "Fig", "e.g", "The ", "U.S", ". ", ".1", " 1,2", "[3]", "@cite", "1. ", "mRNA ", "\r\n", "METHODS\n"]
_TELLING = st.lists(st.sampled_from([*_MARKS, *_WORDS]), max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(_ANY, _TELLING), st.integers(1, 40))
def test_any_text_is_covered(text: str, cap: int) -> None:
    spans = scisplit(text)
    check(text, spans)
    assert scisplit(text) == spans
    marked = scisplit_marked(text, cap)
    check(text, [(start, end) for start, end, _ in marked])
    assert all(end - start <= cap for start, end, _ in marked)
    assert scisplit(text, cap) == [(start, end) for start, end, _ in marked]
    whole = {(start, end) for start, end in spans if end - start <= cap}
    assert {(start, end) for start, end, capped in marked if not capped} == whole


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["The ewes slept.", "Was it so?", "Ram et al. left.", "p53 fell.", "(It rained.)"])))
def test_sentences_joined_by_blanks_come_back(sentences: list[str]) -> None:
    assert parts(" ".join(sentences)) == sentences
    assert parts("\n\n".join(sentences)) == sentences


def test_long_sentences_are_cut_at_the_best_place_and_marked() -> None:
    semicolons = "ewe, ram " * 8 + "lamb; " + "ewe, ram " * 6 + "end."
    cut = scisplit_marked(semicolons, 100)
    assert [capped for *_, capped in cut] == [True, True]
    assert semicolons[: cut[0][1]].endswith("lamb;")
    commas = "ewe ram " * 9 + "lamb, " + "ewe ram " * 6
    assert commas[: scisplit_marked(commas, 100)[0][1]].endswith("lamb,")
    blanks = "ewe ram " * 30
    assert scisplit_marked(blanks, 100)[0] == (0, 99, True)
    assert scisplit_marked("x" * 250, 100) == [(0, 100, True), (100, 200, True), (200, 250, True)]
    assert scisplit_marked("So it is. " + "X" * 101, 100) == [(0, 9, False), (10, 110, True), (110, 111, True)]
    assert len(scisplit("word " * 1000)) == 3


@pytest.mark.parametrize("cap", [0, -1])
def test_a_cap_below_one_is_refused(cap: int) -> None:
    with pytest.raises(UsageError, match="characters"):
        scisplit("ewe", cap)


def test_sentences_in_a_long_bracket_or_quote_are_split() -> None:
    inside = "The ewes slept. " * (LONG // 16 + 1)
    assert len(scisplit(f"So ({inside}) it was.")) > 60
    assert len(scisplit(f"So “{inside}” it was.")) > 60
    assert len(scisplit(f"So ({inside[:500]}) it was.")) == 1


def naive_enclosed(text: str) -> set[int]:
    """Places inside brackets, each kind by itself, by looking for the partner of each closing mark backwards."""
    places: set[int] = set()
    for opening, closing in ("()", "[]", "“”"):
        opened: list[int] = []
        for at, mark in enumerate(text):
            if mark == opening:
                opened.append(at)
            elif mark == closing and opened:
                since = opened.pop()
                if at - since <= LONG:
                    places.update(range(since, at + 1))
    return places


@settings(max_examples=300, deadline=None)
@given(st.text("()[]“”a. ", max_size=40))
def test_enclosed_agrees_with_a_naive_count(text: str) -> None:
    pairs = enclosed(text, 0, len(text))
    assert pairs == sorted(pairs)
    assert all(left[1] < right[0] for left, right in pairwise(pairs))
    found = {place for start, end in pairs for place in range(start, end + 1)}
    missing = naive_enclosed(text) - found
    assert found <= naive_enclosed(text)
    assert not any(text[place] in ".?!" for place in missing)


PIECES = [
    *[".", "a.", "(", ")", "A. ", '"', " ", "x", "\n", "\n ", "\r\n", "\n- ", "().", "(a", "“a", "[1", ". ", "? ", "…"],
    *[
        "。",
        "。」",
        ". @cite ",
        ".1",
        ".1,",
        "1. ",
        "e.g. ",
        "et al. ",
        ". (",
        ". [1,2",
        ". 1,2 ",
        "\u2029",
        "’",
        "1 \n",
    ],
    *["AB \n", ".\nAB ", "@", "....a", "...)", '."', "ewes slept. ", "Fig. ", "http://a.b/", "\u0301", "\ud800"],
]


@pytest.mark.parametrize("piece", PIECES)
def test_time_is_linear(piece: str) -> None:
    short, long = ("So " + piece * (characters // len(piece)) + " it is. End" for characters in (10_000, 40_000))
    once = min(cpu_seconds(short) for _ in range(2))
    fourfold = min(cpu_seconds(long) for _ in range(2))
    assert fourfold < 10 * once + 0.05


def cpu_seconds(text: str) -> float:
    began = time.process_time()
    scisplit(text)
    return time.process_time() - began
