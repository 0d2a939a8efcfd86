"""Texts that bear two labels inside one split, and the rule by which the paper removed them.

Paper: arXiv 2404.00224, section 3. Its files show the rule: inside each split every copy of a sentence text
(the exact string) that occurs with more than one label is removed. Texts that disagree across splits stay,
and so do copies that agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Literal

from sectioncls.records import Sentence

__all__ = ["ConflictRule", "conflicting_texts", "without_texts"]

ConflictRule = Literal["keep", "paper"]


def conflicting_texts(sentences: Iterable[Sentence]) -> tuple[frozenset[str], int]:
    """Give the texts that occur with more than one label, and how many rows bear them."""
    label_of: dict[str, str] = {}
    copies: dict[str, int] = {}
    conflicting: set[str] = set()
    for sentence in sentences:
        copies[sentence.text] = copies.get(sentence.text, 0) + 1
        if label_of.setdefault(sentence.text, sentence.label) != sentence.label:
            conflicting.add(sentence.text)
    return frozenset(conflicting), sum(copies[text] for text in conflicting)


def without_texts(sentences: Iterable[Sentence], texts: Set[str]) -> Iterator[Sentence]:
    """Give the sentences whose text is not among ``texts``, in order."""
    return (sentence for sentence in sentences if sentence.text not in texts)
