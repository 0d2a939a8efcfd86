"""``sectioncls read``: what a document holds, as labelled paragraphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sectioncls.cli.options import Json, Quiet
from sectioncls.cli.progress import note

if TYPE_CHECKING:
    from sectioncls.records import Article

__all__ = ["read"]


def read(
    files: Annotated[list[Path], typer.Argument(help="Files, folders or archives of JATS XML.", show_default=False)],
    json_lines: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show documents as labelled paragraphs: the title, and each paragraph with its headings and label."""
    from sectioncls.documents import read_documents
    from sectioncls.records import Rejected

    kept = rejected = 0
    for item in read_documents(files):
        if isinstance(item, Rejected):
            rejected += 1
            row: dict[str, Any] = {
                "source": item.source,
                "status": "reject",
                "reason": item.reason,
                "detail": item.detail,
            }
            print(json.dumps(row, ensure_ascii=False) if json_lines else _refusal(row))
        else:
            kept += 1
            print(json.dumps(_row(item), ensure_ascii=False) if json_lines else _outline(item))
    note(f"articles read: {kept}, documents rejected: {rejected}", quiet=quiet)


def _row(article: Article) -> dict[str, Any]:
    from sectioncls.documents import labelled_paragraphs

    return {
        "id": article.id,
        "source": article.source,
        "status": "ok",
        "title": article.title,
        "paragraphs": [
            {"path": list(paragraph.path), "text": paragraph.text, "label": label, "label_source": source}
            for paragraph, label, source in labelled_paragraphs(article)
        ],
    }


def _refusal(row: dict[str, Any]) -> str:
    return f"{row['source']}: rejected, {row['reason']}: {row['detail']}\n"


def _outline(article: Article) -> str:
    """Give an article as text: a line for each new heading, then label and paragraph."""
    row = _row(article)
    lines = [f"{row['id']}  {row['title']}", f"  {row['source']}"]
    path: list[str] | None = None
    for paragraph in row["paragraphs"]:
        if paragraph["path"] != path:
            path = paragraph["path"]
            lines += ["", f"  {' › '.join(path) or '(no heading)'}   {paragraph['label_source']}"]
        lines.append(f"    [{paragraph['label']}] {paragraph['text']}")
    return "\n".join(lines) + "\n"
