"""From raw inline text to clean prose: white space, citations, figures, formulas, spacing.

The walk over inline elements (``raw.py``) marks places by control characters, which XML text can't hold.
"""

from __future__ import annotations

import re
import unicodedata

from sectioncls.documents.account import Account, characters

__all__ = ["CITE", "FIG", "FORMULA_MARK", "HEAD_END", "HEAD_START", "POWER", "SUP_CITE", "TABLE", "clean", "raised"]

CITE = "\x01"
SUP_CITE = "\x05"  # a citation set in superscript: it moves before a stop
FIG = "\x02"
TABLE = "\x03"
FORMULA_MARK = "\x04"
HEAD_START = "\x06"
HEAD_END = "\x07"
POWER = "\x08"  # becomes ^

_NAMES = {CITE: "@cite", SUP_CITE: "@cite", FIG: "@fig", TABLE: "@table", FORMULA_MARK: "@formula"}
_LONGEST = 1_000_000
_LENGTHS = {mark: len(name) for mark, name in _NAMES.items()}
_DASH = "\\-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
_BLANKS = "\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LETTER = re.compile(r"[^\W\d_]")
_MARKS = re.compile("([\x01-\x05])")

_GROUPED = f"[ ,;&{_DASH}\x01\x05]|and(?![a-z])"
_CITES = re.compile(f"\x01(?:[ ,;{_DASH}]*[\x01\x05])+")
_RAISED_CITES = re.compile(f"\x05(?:[ ,;{_DASH}]*[\x01\x05])+")
_IN_PARENTHESES = re.compile(rf"\( ?([\x01\x05])(?:{_GROUPED})*\)")
_IN_BRACKETS = re.compile(rf"\[ ?([\x01\x05])(?:{_GROUPED})*\]")
_OPENED = re.compile("\x01(?:(?<=[(\\[]\x01)|(?<=[(\\[] \x01))")
# A citation whose neighbours ask for a space more or less.
_AWKWARD = re.compile("\x01(?:(?<=[^ ]\x01)|(?<=[(\\[{“‘«„‚‹⟨\"'] \x01)|(?=[^ .,;:!?)\\]])| [.,;:!?)\\]])")
_MAX_NESTED = 4  # brackets around brackets around a citation
_RAISED_AFTER_STOP = re.compile("(?<!\\bal)([.,;:!?])\x05")
_BETWEEN = re.compile(f"[ ,;{_DASH}]*")
_WORDS_BEFORE = {
    FIG: re.compile(r"(?<!\w)(?:figures?|figs?)\.? ?$", re.IGNORECASE),
    TABLE: re.compile(r"(?<!\w)(?:tables?|tabs?)\.? ?$", re.IGNORECASE),
}
_LONGEST_WORD = 10
_PANELS = re.compile(f"[A-Za-z](?![^\\W_])(?:[,/&{_DASH}][A-Za-z](?![^\\W_]))*")
_OPENING = frozenset("([{“‘«„‚‹⟨")
_NO_SPACE_BEFORE = frozenset(".,;:!?)]")

_AROUND_CITES = f"[ \\t\\r\\n\u00a0,;&{_DASH}()\\[\\]\x01\x05]*"
_CITES_ONLY = re.compile(_AROUND_CITES)
_NUMBER = re.compile("[+\\-\u2010\u2011\u2012\u2013\u2212]?[0-9]+(?:[.·][0-9]+)?")


def clean(raw: str, account: Account | None = None, *, wordless: bool = False) -> str:
    """Give the prose of a run of raw text with marks; the empty string when it holds no word.

    ``wordless`` gives a text without a letter too (titles such as ``2016``). ``account`` is told what was left
    out and added. A text of more than a million characters is left out: nobody wrote it.
    """
    account = account if account is not None else Account()
    if len(raw) > _LONGEST:
        account.count("oversized", characters(raw))
        return ""
    text = raw if raw.isascii() else _plain(raw, account)
    spaced = "\n" in text or "  " in text or "\t" in text or "\r" in text
    text = " ".join(text.split()) if spaced else text.strip(" ")
    if not wordless and _LETTER.search(text) is None:
        account.wordless.append(text)
        return ""
    if CITE in text or SUP_CITE in text:
        text = _grouped_citations(text, account)
        if FIG in text or FORMULA_MARK in text or TABLE in text or SUP_CITE in text or _AWKWARD.search(text):
            text = _placed(text, account, wordless=wordless)
        else:
            account.added += _LENGTHS[CITE] * text.count(CITE)
            text = text.replace(CITE, _NAMES[CITE])
    elif FIG in text or FORMULA_MARK in text or TABLE in text:
        text = _placed(text, account, wordless=wordless)
    if POWER in text:
        account.added += text.count(POWER)
        text = text.replace(POWER, "^")
    return text


def _plain(raw: str, account: Account) -> str:
    """Give a text without invisible characters, with plain spaces, its letters composed with their accents."""
    text = raw
    lost = 0
    for character in _INVISIBLE:
        if character in text:
            lost += text.count(character)
            text = text.replace(character, "")
    for character in _BLANKS:
        if character in text:
            lost += text.count(character)
            text = text.replace(character, " ")
    if lost:
        account.count("spacing", lost)
    if not unicodedata.is_normalized("NFC", text):
        composed = unicodedata.normalize("NFC", text)
        account.change("spacing", text, composed)
        return composed
    return text


def raised(content: str, before: str, account: Account, *, emptied: bool) -> str:
    """Give what a superscript adds to the text: ``content`` as it stands there, a citation, or ``^`` and a number.

    ``before`` is the character before it, ``emptied`` tells that a foot-note mark vanished from it.
    """
    core = content.strip()
    if not core:
        return content
    if (CITE in core or SUP_CITE in core) and _CITES_ONLY.fullmatch(core):
        account.citations.append(content)
        return SUP_CITE
    if emptied and not any(character.isalnum() for character in core):
        account.footnotes.append(content)
        return ""
    if _NUMBER.fullmatch(core):
        power = before.isalnum() or before in (")", "]")
    else:
        power = len(core) == 1 and core.isalpha() and (before.isdigit() or before == ")")
    if not power:
        return content
    joined = content.lstrip()
    if joined is not content:
        account.change("spacing", content, joined)
    return f"{POWER}{joined}"


def _grouped_citations(text: str, account: Account) -> str:
    """Make one mark of citations side by side, take away brackets that hold nothing else, move raised ones."""
    taken = account.citations

    def one(found: re.Match[str]) -> str:
        taken.append(found[0])
        return CITE

    def raised_one(found: re.Match[str]) -> str:
        taken.append(found[0])
        return SUP_CITE

    def same(found: re.Match[str]) -> str:
        taken.append(found[0])
        return found[1]

    lifted = SUP_CITE in text
    if lifted:
        text = _RAISED_CITES.sub(raised_one, text)
    text = _CITES.sub(one, text)
    for _ in range(_MAX_NESTED):
        bare = _IN_BRACKETS.sub(same, _IN_PARENTHESES.sub(same, text))
        if bare == text:
            break
        text = _CITES.sub(one, bare)
        if not lifted and _OPENED.search(text) is None:
            break
    return _RAISED_AFTER_STOP.sub(f"{CITE}\\1", text) if lifted else text


def _placed(text: str, account: Account, *, wordless: bool) -> str:
    """Give a text with its figures and tables grouped, and all marks named and spaced.

    The words of a figure go with it, so whether a word is left is asked again unless ``wordless``.
    """
    pieces = _MARKS.split(text)  # text, mark, text, mark, ... text
    texts = [pieces[0]]
    marks: list[str] = []
    for mark, after in zip(pieces[1::2], pieces[2::2], strict=True):
        word = _WORDS_BEFORE.get(mark)
        if word is not None:
            before = texts[-1]
            found = word.search(before, max(0, len(before) - _LONGEST_WORD))
            if found:
                account.mentions.append(before[found.start() :])
                before = texts[-1] = before[: found.start()]
            panels = _PANELS.match(after) if mark == FIG else None
            if panels:
                account.mentions.append(after[: panels.end()])
                after = after[panels.end() :]
            if marks and marks[-1] == mark and _BETWEEN.fullmatch(before):
                account.mentions.append(before)
                texts[-1] = after
                continue
        texts.append(after)
        marks.append(mark)
    if not wordless and not any(map(_LETTER.search, texts)):
        account.wordless += texts
        return ""
    account.added += sum(map(_LENGTHS.__getitem__, marks))
    out = [_spaced_before(texts[0])]
    for mark, after in zip(marks, texts[1:], strict=True):
        out.append(_NAMES[mark])
        out.append(_spaced_before(_spaced_after(after), inner=True))
    out[-1] = _spaced_after(texts[-1])
    return "".join(out)


def _spaced_after(text: str) -> str:
    """Give the text behind a placeholder with the space that belongs between them."""
    body = text.lstrip(" ")
    if not body or body[0] in _NO_SPACE_BEFORE:
        return body
    first = body[0]
    apart = len(body) < len(text) or first.isalnum() or first in _OPENING or unicodedata.combining(first)
    return f" {body}" if apart else body


def _spaced_before(text: str, *, inner: bool = False) -> str:
    """Give the text before a placeholder with the space that belongs between them."""
    body = text.rstrip(" ")
    if not body:
        return " " if inner else ""
    last = body[-1]
    if last in _OPENING or (last in "\"'" and (len(body) == 1 or body[-2] == " " or body[-2] in _OPENING)):
        return body
    return f"{body} "
