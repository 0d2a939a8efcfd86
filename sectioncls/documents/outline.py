"""An article as a run of labelled paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sectioncls.documents.heads import RUN_IN
from sectioncls.records import Article, Paragraph, Section
from sectioncls.schemes import label_of

__all__ = ["labelled_paragraphs"]

Row = tuple[Paragraph, str, str]


def labelled_paragraphs(article: Article) -> Iterator[Row]:
    """Give (paragraph, label, label_source) in document order, the abstract first.

    ``label_source`` names the rule that fired: ``title:Methods``, ``sec-type:methods``, ``run-in:Objective``,
    ``boxed`` or ``none``.
    """
    rows: list[Row] = []
    for part in (article.abstract, article.body):
        for section in part:
            _collect(section, [], rows)
    rows.sort(key=_node)
    yield from rows


def _node(row: Row) -> int:
    return row[0].node


def _collect(section: Section, above: Sequence[tuple[str | None, str | None]], rows: list[Row]) -> None:
    levels = [*above, (section.title, section.sec_type)]
    if section.paragraphs:
        label, source = label_of(levels)
        if section.sec_type == RUN_IN and source == f"title:{section.title}":
            source = f"run-in:{section.title}"
        for paragraph in section.paragraphs:
            if paragraph.kind == "box":
                rows.append((paragraph, *label_of(levels, boxed=True)))
            else:
                rows.append((paragraph, label, source))
    for inner in section.sections:
        _collect(inner, levels, rows)
