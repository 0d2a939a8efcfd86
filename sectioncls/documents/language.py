"""The language of an article: what its text is written in, and what it declares.

Recognised by py3langid (BSD), whose model is a file of plain arrays inside its package (5 MB, no pickle, no network)
and whose answer is a function of the text alone. Measured on 1,244 real articles: docs/guides/labels.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sectioncls.records import Article, Section

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

__all__ = ["Language", "article_language", "language_code", "recognise"]

SAMPLES = (300, 2000)
"""Characters that are looked at: the first number decides nearly all texts, the second those that it leaves unsure."""
PIECES = 4
SHORTEST = 40
"""Letters below which a text says too little."""
SURE = 0.9
"""The probability from which on the text is believed rather than a declaration."""
LIKELY = 0.5
"""The probability from which on the text is believed where nothing is declared."""

_PLACEHOLDER = re.compile(r"@[a-z-]+|https?://\S+")
_LETTERS = re.compile(r"[^\W\d_]")
_CODE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9_-]*)?")
# The languages that journals are printed in, and the three letters that MEDLINE and ISO 639-2 have for them.
_LANGUAGES = """
af=afr am=amh ar=ara az=aze be=bel bg=bul bn=ben bs=bos ca=cat cs=cze,ces cy=wel,cym da=dan de=ger,deu el=gre,ell en=eng
es=spa et=est eu=baq,eus fa=per,fas fi=fin fr=fre,fra ga=gle gl=glg he=heb hi=hin hr=hrv hu=hun hy=arm,hye id=ind
is=ice,isl it=ita ja=jpn ka=geo,kat kk=kaz ko=kor la=lat lt=lit lv=lav mk=mac,mkd mn=mon ms=may,msa nl=dut,nld no=nor
pl=pol pt=por ro=rum,ron ru=rus sk=slo,slk sl=slv sq=alb,sqi sr=srp sv=swe sw=swa ta=tam th=tha tr=tur uk=ukr ur=urd
uz=uzb vi=vie zh=chi,zho
"""
_TWO_LETTERS = {three: pair[:2] for pair in _LANGUAGES.split() for three in pair[3:].split(",")}
_SAME = {"nb": "no", "nn": "no"}


@dataclass(frozen=True, slots=True)
class Language:
    """The language of an article.

    ``code`` is what counts (ISO 639, two letters as a rule), None where nothing is known; ``declared`` is what the
    document says and ``found`` what its text was recognised as, with a ``probability`` from 0 to 1.
    """

    code: str | None
    declared: str | None
    found: str | None
    probability: float

    @property
    def contradicts(self) -> bool:
        """Whether the text is surely in another language than the document declares."""
        return self.declared is not None and self.code != self.declared


def recognise(text: str) -> tuple[str | None, float]:
    """Give the language that a text is written in and its probability; (None, 0) for one that is too short.

    At most 2,000 characters are looked at, in pieces from the whole length, so the time does not grow with it.
    """
    code, probability = "", 0.0
    for size in SAMPLES:
        sample = _PLACEHOLDER.sub(" ", _sample(text, size))
        if len(_LETTERS.findall(sample)) < SHORTEST:
            return None, 0.0
        code, probability = _identifier().classify(sample)
        if probability >= SURE or len(text) <= size:
            break
    return _SAME.get(code, code), float(probability)


def article_language(article: Article) -> Language:
    """Give the language of an article, by its body, or by its abstract where the body says too little.

    A declaration stands unless the text is surely in another language.
    """
    declared = language_code(article.language or "")
    found, probability = None, 0.0
    for part in (article.body, article.abstract):
        if found is None:
            found, probability = recognise(" ".join(_texts(part)))
    believed = found if probability >= (LIKELY if declared is None else SURE) else None
    return Language(believed or declared, declared, found, probability)


def language_code(declared: str) -> str | None:
    """Give ``pt`` for ``pt-BR``, ``PT`` or ``por``; None for what is no language code."""
    match = _CODE.fullmatch(declared.strip().lower())
    if match is None or match[1] in ("und", "mul", "zxx", "mis"):
        return None
    code = _TWO_LETTERS.get(match[1], match[1])
    return _SAME.get(code, code)


def _texts(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        for paragraph in section.paragraphs:
            yield paragraph.text
        yield from _texts(section.sections)


def _sample(text: str, size: int) -> str:
    """Give pieces of a text, evenly spread from its start to its end, ``size`` characters in all."""
    if len(text) <= size:
        return text
    piece = size // PIECES
    step = (len(text) - piece) // (PIECES - 1)
    return " ".join(text[start : start + piece] for start in range(0, PIECES * step, step))


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = {*_TWO_LETTERS.values(), *_SAME}
    identifier.set_languages([code for code in identifier.labels if code in known])
    return identifier
