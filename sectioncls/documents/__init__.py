"""Documents → articles: find files in folders and archives, read them in any format, give labelled paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sectioncls.documents.files import ALL_SUFFIXES, XML_SUFFIXES, Document, find_documents, open_documents, walk_files
from sectioncls.documents.formats import read_each
from sectioncls.documents.jats import read_jats, read_jats_each
from sectioncls.documents.outline import labelled_paragraphs
from sectioncls.documents.xpath import xpath_of
from sectioncls.records import Article, Rejected

__all__ = [
    "ALL_SUFFIXES",
    "XML_SUFFIXES",
    "Document",
    "find_documents",
    "labelled_paragraphs",
    "open_documents",
    "read_documents",
    "read_each",
    "read_jats",
    "read_jats_each",
    "walk_files",
    "xpath_of",
]


def read_documents(
    paths: Iterable[Path], *, sub_articles: bool = False, grobid_url: str | None = None
) -> Iterator[Article | Rejected]:
    """Give every article of files, folders and archives in any format, or why a document was left out.

    See ``read_each`` for the options. Raises InputError for a path that is missing or unreadable.
    """
    for document in find_documents(paths, suffixes=ALL_SUFFIXES):
        if isinstance(document, Rejected):
            yield document
        else:
            yield from read_each(document, sub_articles=sub_articles, grobid_url=grobid_url)
