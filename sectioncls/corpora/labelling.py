"""An article on its way into a corpus: is it wanted, which label has each paragraph, where do sentences end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from sectioncls.corpora.near import signature
from sectioncls.corpora.normalise import NORMALISERS
from sectioncls.corpora.spill import Packed, pack, text_digest
from sectioncls.documents import labelled_paragraphs
from sectioncls.documents.language import Language, article_language
from sectioncls.records import Article, Rejected
from sectioncls.schemes import LabelScheme
from sectioncls.sentences import split_sentences
from sectioncls.sentences.scisplit import CAP, scisplit_marked

__all__ = ["FILTERED", "ArticleRules", "Reader", "label_articles", "licence_is"]

FILTERED = frozenset(("language", "licence"))
"""Reasons to leave an article out that was read well."""
CONTRADICTS = "articles that are in another language than they declare (the text's is kept)"
UNLABELLED = "paragraphs that no heading of the scheme names (left out)"
CAPPED = f"parts of sentences that were longer than {CAP:,} characters"
_VERSION = re.compile(r"-\d\.\d$")
Reader = Callable[[Any], list[Article | Rejected]]
"""Gives the articles of one document; runs in the workers, so it must be picklable."""


@dataclass(frozen=True, slots=True)
class ArticleRules:
    """What is done with each article.

    ``scheme`` gives the labels; an article is kept when every ``required`` one is the label of a sentence of it,
    its language is one of ``languages`` (codes) and its licence one of ``licences`` (see licence_is), all where
    these are empty. ``splitter`` cuts the sentences, ``normalise`` names the form they are brought into (see
    normalise.py), none where it is empty. ``near_duplicates`` signs each article for near.near_pairs.
    """

    scheme: LabelScheme
    required: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    licences: frozenset[str] = frozenset()
    splitter: str = "scisplit"
    normalise: str = ""
    near_duplicates: bool = False


def label_articles(document: Any, *, read: Reader, rules: ArticleRules) -> list[Packed | Rejected]:
    """Give the articles of a document with their paragraphs labelled and split into sentences."""
    results: list[Packed | Rejected] = []
    for place, article in enumerate(read(document)):
        results.append(article if isinstance(article, Rejected) else _labelled(article, place, rules))
    return results


def _labelled(article: Article, place: int, rules: ArticleRules) -> Packed | Rejected:
    """Give an article ready for the spill, or why its language or licence is not wanted."""
    if rules.licences and not licence_is(article.licence, rules.licences):
        return Rejected(article.source, "licence", article.licence or "states none that is known", article.id)
    language = article_language(article)
    if rules.languages and language.code not in rules.languages:
        return Rejected(article.source, "language", _about(language), article.id)
    counts: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    paragraphs: list[list[Any]] = []
    for part, label, label_source in labelled_paragraphs(article, rules.scheme):
        if not label:
            remarks[UNLABELLED] += 1
            continue
        text, cuts = part.text, split_sentences(part.text, splitter=rules.splitter)
        if rules.splitter == "scisplit" and len(text) > CAP:
            remarks[CAPPED] += sum(capped for _, _, capped in scisplit_marked(text))
        if rules.normalise:
            text, cuts = _normalised(text, cuts, NORMALISERS[rules.normalise])
        counts[label] += len(cuts)
        paragraphs.append([part.node, part.kind, part.path, text, label, label_source, cuts])
    if language.contradicts:
        remarks[CONTRADICTS] += 1
    remarks = +remarks  # without those of nothing
    missing = sorted(rules.required - set(counts))
    lacks = f"no {' and no '.join(missing)} heading" if missing else ""
    return Packed(
        article_id=article.id,
        source=article.source,
        place=place,
        counts=counts,
        lacks=lacks if counts else "nothing in it has a label",
        data=pack([language.code, article.licence, paragraphs, remarks]),
        doi=article.doi or "",
        text=text_digest(paragraph[3] for paragraph in paragraphs),
        near=signature(paragraph[3] for paragraph in paragraphs) if rules.near_duplicates else b"",
    )


def _normalised(
    text: str, cuts: list[tuple[int, int]], normalise: Callable[[str], str]
) -> tuple[str, list[tuple[int, int]]]:
    """Give the paragraph made of its sentences in another form, and where they stand in it."""
    sentences = [changed for start, end in cuts if (changed := normalise(text[start:end]))]
    ends = list(accumulate(len(sentence) + 1 for sentence in sentences))
    places = [(end - 1 - len(sentence), end - 1) for sentence, end in zip(sentences, ends, strict=True)]
    return " ".join(sentences), places


def licence_is(licence: str | None, wanted: frozenset[str]) -> bool:
    """Tell whether a licence (``CC BY 4.0``) is one of ``cc-by``, ``cc-by-4.0`` …; without a number any version is."""
    key = (licence or "").lower().replace(" ", "-")
    return key in wanted or _VERSION.sub("", key) in wanted


def _about(language: Language) -> str:
    found = f"found {language.found} ({language.probability:.2f})" if language.found else "none recognised"
    return f"{found}, declared {language.declared}" if language.declared else found
