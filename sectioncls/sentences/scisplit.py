"""``scisplit``: sentences of scientific text by rules on characters."""

from __future__ import annotations

import re

from sectioncls.errors import UsageError
from sectioncls.sentences.abbreviations import (
    BEFORE_NAME,
    BEFORE_NUMBER,
    BEFORE_SMALL,
    ENDS_BEFORE_OPENER,
    LETTERED,
    NEVER,
    OPENERS,
)
from sectioncls.sentences.blocks import blocks
from sectioncls.sentences.enclosed import enclosed

__all__ = ["CAP", "scisplit", "scisplit_marked"]

Spans = list[tuple[int, int]]

CAP = 2000
"""Characters of the longest sentence."""

_STOPS = ".!?…‽⁇⁈⁉‼"
_FULL = "。｡！？．؟۔।॥։።፧៕᠃᠉꓿"  # stops of scripts that need neither white space nor a capital letter after them
_CLOSERS = r"""[)\]}"'”’»›）」』】》]"""
_OPENER = "|".join(sorted(word for word in OPENERS if len(word) > 1))
_NUMBER = r"\^?\d{1,3}[a-z]?"
_JOINT = rf"\s?[,;–—−‐-]\s?{_NUMBER}"
_CITATION = rf"""
    (?<=[^\s\d][.!?]|[.!?]["”’)\]]){_NUMBER}(?:{_JOINT}|\s{_NUMBER}(?=[\s,;–-])){{0,30}}   # slept.1,2 They
  | (?<=\d[.]){_NUMBER}(?:{_JOINT}){{0,30}}(?=\s(?:{_OPENER})\b)                           # of CH2.1 They
  | \s{_NUMBER}(?:{_JOINT}){{1,30}}(?=\s[A-Z])                                           # slept. 1,2 They
  | \s{_NUMBER}(?=\s(?:{_OPENER}|A)\b)
  | \s?\[\s?\d[\d\s,;–—−‐-]{{0,60}}\]                                                 # slept. [1,2] They
  | \(\d[\d\s,;–—−‐-]{{0,30}}\)
  | [⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻⁾˒’,–-]{{0,30}}
  | @cite(?:\s?[,;–-]\s?@cite){{0,20}}
  | \s(?:@cite(?:\s?[,;–-]\s?@cite){{0,20}}|\(@(?:cite|fig|table)\))(?=\s++[A-Z(@]|\s*+\Z)
  | [†‡*§¶]{{1,3}}
"""
_LAST = r"(?:\[?\d[\d\s,;–—−‐-]{0,60}\]?\.?\Z|\(?@(?:cite|fig|table)\)?\.(?!\w))"  # has a stop or the end behind it
_CANDIDATE = re.compile(
    rf"""
    [{_STOPS}{_FULL}](?:
        (?<=[a-z]{{5}}\.)(?=(?P<plain>\s)[A-Z][a-z])    # nearly always an end, so decided without much ado
      | (?<=[{_FULL}])(?<![{_FULL}][{_FULL}])(?:(?<!．)|(?!\d))[{_FULL}]*+(?:{_CLOSERS}++(?!と))?(?=(?P<full>\s*+)\S)
      | (?<![{_STOPS}][{_STOPS}])[{_STOPS}]*+(?P<closers>{_CLOSERS}*+)(?P<citation>{_CITATION})?
        (?:(?=(?P<gap>\s++)(?!{_LAST}))|(?=(?P<glued>(?:{_OPENER})\s)))
    )""",
    re.VERBOSE,
)
_OPENING = "([{\"'“‘«„-–—/"
_BEGIN = re.compile(r"""[("'“‘«\[{„¿¡]*+(\w{0,24})""")
# What begins a sentence with a small letter: mRNA, p53, bcl-2, c-Fos, p values, α-actin, von Ehren, readme.txt, b) …
_NAME = re.compile(
    r"""[^\W\d_]{1,6}[A-Z0-9] | [^\W\d_]{1,4}[-‐‑–][A-Z0-9] | [^\W\d_][-‐‑–][^\W\d_] | [α-ωµ]
      | [npt]\ (?:[Vv]alues?|[Tt]ests?)\b | d['’][A-Z] | (?:v[ao]n|d[aeiu]|de[nrls]|l[ae])\s(?:de[nr]?\s)?[A-Z]
      | \w{1,24}[._@/][^\W\d] | (?:[ivx]{1,4}|[a-z])(?:\)|\.\s[A-Z])""",
    re.VERBOSE,
)
_ABBREVIATED_NAMES = re.compile(r"(?:[^\W\d_a-z][a-z]{0,2}\.[-‐]?)+[^\W\d_a-z][a-z]{0,2}")  # U.S, Ph.D, J.-P
_ABBREVIATED_WORDS = re.compile(r"[A-Z]?[a-z]{0,2}\.(?:[a-z]{1,2}\.)*[a-z]{1,2}")  # i.v, a.m, M.p
# What opens an item of a list, a heading or a caption.
_MARKER = re.compile(
    r"""[(\[]?(?:\d{1,2}|\d{1,2}(?:\.\d{1,2})+|[ivx]{1,4}|[IVX]{1,4}|[A-Za-z])[)\]]?
      | (?:(?:Extended\ Data|Suppl(?:ementary|\.)|Online|Additional)\s)?
        (?:Fig(?:ure)?|Tab(?:le)?|Box|Scheme|Chart|Plate|Video|Movie|Appendix|Algorithm|Theorem|Lemma|Definition)\b\.?\s
        [A-Z]?\d{0,3}[A-Za-z]?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED = re.compile(r"[A-Z]{0,4}[-‐]?\d|[IVXLC]+\b|[Nn]os?\.")
_STRAIN = re.compile(r"[A-Z]{0,4}[-‐]?\d|[A-Z]{2}")
_KNOWN = NEVER | BEFORE_NUMBER | BEFORE_SMALL | BEFORE_NAME | ENDS_BEFORE_OPENER
_KNOWN_TAILS = frozenset(word[-5:] for word in _KNOWN if len(word) > 4)
_LETTER = re.compile(r"[^\W\d_]")
_SOLID = re.compile(r"\S")
_CUTS = (re.compile(r"\s;"), re.compile(r"\s,"), re.compile(r"\s"))  # in a text read backwards


def scisplit(text: str, cap: int = CAP) -> Spans:
    """Give the (start, end) of each sentence; ``text[start:end]`` is trimmed, all but white space is covered.

    A sentence over ``cap`` characters is cut into parts, which ``scisplit_marked`` marks: after a semicolon in the
    second half of the cap, else after a comma, else at white space, else anywhere. Linear in time.
    Raises UsageError for a cap below 1.
    """
    spans = _sentences(text)
    return spans if len(text) <= cap else [(start, end) for start, end, _ in _capped(text, spans, cap)]


def scisplit_marked(text: str, cap: int = CAP) -> list[tuple[int, int, bool]]:
    """Give (start, end, capped) of each sentence; ``capped`` is true for the parts of one that was too long."""
    return _capped(text, _sentences(text), cap)


def _sentences(text: str) -> Spans:
    spans: Spans = []
    for start, end in blocks(text):
        _split(text, start, end, spans)
    return spans


def _split(text: str, start: int, end: int, spans: Spans) -> None:
    """Append the sentences of a block of text."""
    pairs = enclosed(text, start, end)
    pairs.append((end, end))
    pair = 0
    for found in _CANDIDATE.finditer(text, start, end):
        stop = found.end()
        while pairs[pair][1] < stop:
            pair += 1
        if pairs[pair][0] < stop:
            continue
        kind = found.lastgroup
        if kind == "plain":
            following = stop + 1
            tail = text[stop - 6 : stop - 1]
            ends = tail not in _KNOWN_TAILS or _ends(text, start, stop - 1, stop, stop, None, following)
        elif kind == "full":
            following = found.end("full")
            ends = True
        elif kind == "glued":
            following = stop
            ends = _plain_word(_word(text, start, found.start()))
        else:
            following = found.end("gap")
            run, closers = found.span("closers")
            ends = _ends(text, start, found.start(), run, closers, found["citation"], following)
        if ends:
            spans.append((start, stop))
            start = following
    spans.append((start, end))


def _ends(text: str, start: int, at: int, run: int, closers: int, citation: str | None, following: int) -> bool:
    """Tell whether the sentence from ``start`` ends at the stop ``at``, before what begins at ``following``.

    The run of stops ends at ``run``, the brackets and quotes that it closes at ``closers``.
    """
    begins, after = _next_word(text, following)
    small = after[:1].islower() and not _NAME.match(text, begins)
    if run - at > 1 or text[at] != ".":
        return not small and (run - at == 1 or text[at] != "." or not after[:1].isdigit())
    word = _word(text, start, at)
    opener = after in OPENERS and text[begins + 1 : begins + 2] != "."
    if word in NEVER or (at - start < 40 and _MARKER.fullmatch(text, start, at)):
        return False
    if citation:
        clear = citation.strip()[0] not in "123456789" and word not in _KNOWN
        return not small and (clear or _plain_word(word) or (opener and _cited(word)))
    if word in BEFORE_NUMBER and _NUMBERED.match(text, begins):
        return False
    if word in ENDS_BEFORE_OPENER or _ABBREVIATED_NAMES.fullmatch(word):
        return opener
    if word in BEFORE_NAME and (small or _STRAIN.match(text, begins)):
        return False
    if len(word) == 1 and word.isupper():
        return not small and (opener or _letter_ends(text, start, at, begins))
    if not after:
        return _sign_begins(text, begins, word)
    if small:
        return run == closers and len(word) > 4 and word.isalpha() and word.islower() and word not in BEFORE_SMALL
    if word.isdigit() and len(word) < 3 and text[at - len(word) - 2 : at - len(word)] == ": ":
        return False  # the first item of a list
    if _ABBREVIATED_WORDS.fullmatch(word):
        return after[0].isupper() and (len(after) == 1 or after[1:].islower())
    return True


def _next_word(text: str, at: int) -> tuple[int, str]:
    """Give the place of the first word from ``at``, behind opening marks, and up to 24 characters of it."""
    found = _BEGIN.match(text, at)
    return (found.start(1), found[1]) if found else (at, "")


def _word(text: str, start: int, at: int) -> str:
    """Give the last word before ``at``, without opening marks."""
    words = text[max(start, at - 24) : at].split()
    return words[-1].lstrip(_OPENING) if words else ""


def _plain_word(word: str) -> bool:
    """Tell whether it is a word or a closed bracket rather than an abbreviation, a number or an address."""
    return word not in _KNOWN and len(word) > 2 and (word.isalpha() or not word[-1].isalnum())


def _cited(word: str) -> bool:
    """Tell whether a number behind the stop can be a citation: after units, formulas and ``et al.``"""
    if word[-1:].isdigit():
        return _LETTER.search(word) is not None
    return word in ("al", "°C") or word in BEFORE_SMALL or (len(word) > 1 and word.isupper())


def _letter_ends(text: str, start: int, at: int, begins: int) -> bool:
    """Tell whether a sentence ends after one capital letter: the last part of a name rather than an initial."""
    words = text[max(start, at - 32) : at].split()
    before = words[-2].lstrip(_OPENING) if len(words) > 1 else ""
    letter_follows = text[begins : begins + 1].isupper() and text[begins + 1 : begins + 2].isspace()
    return letter_follows or before[-1:].isdigit() or before.lower() in LETTERED


def _sign_begins(text: str, at: int, word: str) -> bool:
    """Tell whether the sign at ``at`` begins a sentence after ``word``."""
    sign = text[at : at + 1]
    if sign == ".":
        return text[at + 1 : at + 2].isalnum()
    if sign and sign in "<>±&+":
        return len(word) > 3 and word.isalpha() and word not in _KNOWN
    return sign not in "%=/|,;:)"


def _capped(text: str, spans: Spans, cap: int) -> list[tuple[int, int, bool]]:
    """Give (start, end, capped) with the long sentences cut."""
    if cap < 1:
        raise UsageError(f"a sentence can't have at most {cap} characters", todo="a cap of 1 or more")
    marked: list[tuple[int, int, bool]] = []
    for start, end in spans:
        if end - start <= cap:
            marked.append((start, end, False))
            continue
        while end - start > cap:
            cut = _cut(text, start, start + cap)
            marked.append((start, start + len(text[start:cut].rstrip()), True))
            solid = _SOLID.search(text, cut, end)
            start = solid.start() if solid else end
        marked.append((start, end, True))
    return marked


def _cut(text: str, start: int, limit: int) -> int:
    """Give the best place before ``limit`` to cut a long sentence."""
    backwards = text[(start + limit) // 2 : limit][::-1]
    for mark in _CUTS:
        found = mark.search(backwards)
        if found:
            return limit - found.start()
    return limit
