"""The records that flow through sectioncls: immutable, cheap, JSON- and Parquet-shaped, without logic."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["UNSEEN", "Article", "Paper", "Paragraph", "Rejected", "Score", "Section", "Sentence", "Triple"]

UNSEEN = "test-unseen"
"""The split of scores that are counted on those test sentences alone that no other split holds."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One run of prose.

    ``kind`` is ``p``, ``list``, ``quote`` or ``box``; ``path`` holds the titles above it, outermost first;
    ``node`` is the paragraph's ordinal in its document, which gives the document order across sections; from it
    ``documents/xpath.py`` makes the XPath of the element it came from.
    """

    text: str
    kind: str = "p"
    path: tuple[str, ...] = ()
    node: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the paragraphs directly under it and the sections inside it.

    ``title`` is None for an untitled section, ``sec_type`` is the attribute as written.
    """

    title: str | None = None
    sec_type: str | None = None
    paragraphs: tuple[Paragraph, ...] = ()
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """One document: title, abstract and body as sections, and what is known about it.

    ``id`` is the PMCID, else the DOI, else the PMID or the file's name; ``doi`` is known beside it where it is given.
    Paragraphs outside any section stand in an untitled Section. ``left_out`` counts the characters of the document
    (white space aside) that stand neither in the title nor in a paragraph, by reason, as (reason, characters) pairs;
    ``added`` counts those that the reader wrote into them itself (placeholders, ``^``): see ``documents/account.py``.
    ``references`` has the best key of each reference (``doi:…``, ``pmid:…``, ``pmcid:…``, ``title:…``),
    ``reference_keys`` all of them.
    """

    id: str
    source: str
    title: str
    abstract: tuple[Section, ...] = ()
    body: tuple[Section, ...] = ()
    year: int | None = None
    journal: str | None = None
    authors: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    language: str | None = None
    licence: str | None = None
    left_out: tuple[tuple[str, int], ...] = ()
    added: int = 0
    doi: str | None = None
    pmid: str | None = None
    reference_keys: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One labelled sentence; ``paragraph.text[start:end] == text``.

    ``index`` counts the sentences of its article from 0, ``paragraph`` is the Paragraph's ``node``.
    """

    article_id: str
    index: int
    paragraph: int
    text: str
    start: int
    end: int
    path: tuple[str, ...] = ()
    label: str = "other"
    labels: tuple[str, ...] = ()
    confidence: float | None = None
    label_source: str = ""
    prob: float | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A document that was left out, and why (see DocumentRejected for the reasons)."""

    source: str
    reason: str
    detail: str = ""
    article_id: str | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper as the paper encoders see it."""

    id: str
    title: str
    abstract: str = ""
    year: int | None = None
    venue: str | None = None
    authors: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Triple:
    """Row numbers or ids of a query, something like it and things unlike it."""

    query: int
    positive: int
    negatives: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """One number with what it takes to judge it.

    ``value`` is in the metric's own scale (F1, ARI, AMI as fractions, silhouette from -1 to 1); ``low`` and
    ``high`` are its 95 % interval, ``unit`` is what was resampled for it (``article`` or ``sentence``).
    ``fingerprint`` is the corpus's. ``label`` is set on scores of one label only.
    """

    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0
    unit: str = "sentence"
    corpus: str = ""
    fingerprint: str = ""
    split: str = "test"
    protocol: str = "default"
    task: str = "sentence"
    encoder: str = ""
    context: str = "none"
    method: str = ""
    label: str | None = None
    seed: int | None = None
