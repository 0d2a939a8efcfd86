"""What an encoder reads of a paper and of a topic."""

from __future__ import annotations

from collections.abc import Sequence

from sectioncls.papersets.paperset import Papers, Topics

__all__ = ["SEPARATOR", "paper_text", "paper_texts", "topic_text", "topic_texts"]

SEPARATOR = ". "
"""Stands between title and abstract where the encoder has no token of its own for it (``[SEP]`` in blanks)."""


def paper_text(title: str, abstract: str, separator: str = SEPARATOR) -> str:
    """Give title and abstract in one text; the other alone where one of them is empty."""
    return f"{title}{separator}{abstract}" if title and abstract else title or abstract


def topic_text(name: str, definition: str = "", separator: str = SEPARATOR) -> str:
    """Give a topic's name with its definition, the name alone where there is none."""
    return paper_text(name, definition, separator)


def paper_texts(papers: Papers, rows: Sequence[int] | None = None, separator: str = SEPARATOR) -> list[str]:
    """Give the texts of all papers, or of those in the ``rows``, in their order."""
    chosen = range(len(papers)) if rows is None else rows
    return [paper_text(papers.titles[row], papers.abstracts[row], separator) for row in chosen]


def topic_texts(topics: Topics, separator: str = SEPARATOR, *, definitions: bool = True) -> list[str]:
    """Give the texts of all topics of a collection, without their definitions if these are not wanted."""
    pairs = zip(topics.names, topics.definitions, strict=True)
    return [topic_text(name, definition if definitions else "", separator) for name, definition in pairs]
