"""Documents → articles: find files in folders and archives, read JATS, give labelled paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sectioncls.documents.files import Document, find_documents
from sectioncls.documents.jats import read_jats, read_jats_each
from sectioncls.documents.outline import labelled_paragraphs
from sectioncls.records import Article, Rejected

__all__ = [
    "Document",
    "find_documents",
    "labelled_paragraphs",
    "read_documents",
    "read_jats",
    "read_jats_each",
]


def read_documents(paths: Iterable[Path]) -> Iterator[Article | Rejected]:
    """Give every article of files, folders and archives, or why a document was left out.

    Raises InputError for a path that is missing or unreadable.
    """
    for document in find_documents(paths):
        if isinstance(document, Rejected):
            yield document
        else:
            yield from read_jats_each(document.data, document.name)
