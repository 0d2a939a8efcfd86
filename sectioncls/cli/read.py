"""``sectioncls read``: what a document holds, as labelled paragraphs and sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sectioncls.cli.options import Json, Quiet
from sectioncls.cli.progress import note

if TYPE_CHECKING:
    from sectioncls.documents import Document
    from sectioncls.records import Article, Rejected
    from sectioncls.schemes import LabelScheme

__all__ = ["read"]


def read(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files, folders or archives of JATS, TEI, PubMed XML, Markdown, text, PDF; - for standard input.",
            show_default=False,
        ),
    ],
    json_lines: Json = False,
    scheme: Annotated[str, typer.Option(help="Label scheme: a name or a .toml file.")] = "pmc-sents",
    splitter: Annotated[str, typer.Option(help="Sentence splitter, as build-pmc takes it.")] = "scisplit",
    sub_articles: Annotated[
        bool, typer.Option("--sub-articles", help="Read JATS sub-articles and responses as articles of their own.")
    ] = False,
    grobid_url: Annotated[
        str | None,
        typer.Option(help="Address of a GROBID server that reads PDF, as http://localhost:8070.", show_default=False),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Show documents as labelled paragraphs: the title, and each paragraph with its headings and label."""
    from sectioncls.documents import read_each
    from sectioncls.documents.pdf import grobid_address
    from sectioncls.records import Rejected
    from sectioncls.schemes import load_scheme

    labels = load_scheme(scheme)
    if grobid_url is not None:
        grobid_address(grobid_url)  # a wrong address is told before anything is read
    kept = rejected = 0
    for document in _documents(files):
        if isinstance(document, Rejected):
            items: Iterator[Article | Rejected] = iter([document])
        else:
            items = read_each(document, sub_articles=sub_articles, grobid_url=grobid_url)
        for item in items:
            if isinstance(item, Rejected):
                rejected += 1
                row = {"source": item.source, "status": "reject", "reason": item.reason, "detail": item.detail}
                print(json.dumps(row, ensure_ascii=False) if json_lines else _refusal(row))
            else:
                kept += 1
                row = _row(item, labels, splitter if json_lines else None)
                print(json.dumps(row, ensure_ascii=False) if json_lines else _outline(row))
    note(f"articles read: {kept}, documents rejected: {rejected}", quiet=quiet)


def _documents(files: list[Path]) -> Iterator[Document | Rejected]:
    """Give the documents of each path, ``-`` being standard input."""
    from sectioncls.documents import ALL_SUFFIXES, find_documents, open_documents

    for path in files:
        if str(path) == "-":
            yield from open_documents("-", sys.stdin.buffer)
        else:
            yield from find_documents([path], suffixes=ALL_SUFFIXES)


def _row(article: Article, scheme: LabelScheme, splitter: str | None) -> dict[str, Any]:
    """Give what ``--json`` prints of an article; with its sentences when a splitter is given."""
    from sectioncls.documents import labelled_paragraphs
    from sectioncls.documents.language import article_language

    language = article_language(article)
    return {
        "id": article.id,
        "doi": article.doi,
        "source": article.source,
        "status": "ok",
        "title": article.title,
        "year": article.year,
        "journal": article.journal,
        "authors": list(article.authors),
        "language": language.code,
        "language_declared": language.declared,
        "licence": article.licence,
        "paragraphs": [
            {
                "node": paragraph.node,
                "kind": paragraph.kind,
                "path": list(paragraph.path),
                "text": paragraph.text,
                "label": label,
                "label_source": source,
            }
            | ({} if splitter is None else {"sentences": _sentences(paragraph.text, splitter)})
            for paragraph, label, source in labelled_paragraphs(article, scheme)
        ],
        "references": list(article.references),
        "left_out": dict(article.left_out),
        "added": article.added,
    }


def _sentences(text: str, splitter: str) -> list[str]:
    from sectioncls.sentences import split_sentences

    return [text[start:end] for start, end in split_sentences(text, splitter)]


def _refusal(row: dict[str, Any]) -> str:
    return f"{row['source']}: rejected, {row['reason']}: {row['detail']}\n"


def _outline(row: dict[str, Any]) -> str:
    """Give an article as text: a line for each new heading, then label and paragraph."""
    about = [row["source"], *(f"{name} {row[name]}" for name in ("year", "language", "licence") if row[name])]
    lines = [f"{row['id']}  {row['title']}", f"  {', '.join(about)}"]
    path: list[str] | None = None
    for paragraph in row["paragraphs"]:
        if paragraph["path"] != path:
            path = paragraph["path"]
            lines += ["", f"  {' › '.join(path) or '(no heading)'}   {paragraph['label_source']}"]
        lines.append(f"    [{paragraph['label'] or 'no label'}] {paragraph['text']}")
    if row["left_out"]:
        account = ", ".join(f"{reason} {number}" for reason, number in row["left_out"].items())
        lines += ["", f"  left out (characters): {account}"]
    return "\n".join(lines) + "\n"
