"""An article as a run of labelled paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sectioncls.documents.heads import RUN_IN
from sectioncls.records import Article, Paragraph, Section
from sectioncls.schemes import DEFAULT_SCHEME, LabelScheme, Level, label_of, load_scheme

__all__ = ["labelled_paragraphs"]

Row = tuple[Paragraph, str, str]


def labelled_paragraphs(article: Article, scheme: LabelScheme | None = None) -> Iterator[Row]:
    """Give (paragraph, label, label_source) in document order, the abstract first.

    The scheme is pmc-sents unless given; one for abstracts gives only these. ``label_source`` names the rule that
    fired: ``title:Methods``, ``sec-type:methods``, ``run-in:Objective``, ``boxed`` or ``none``. The label is empty
    where the scheme has none.
    """
    scheme = scheme or load_scheme(DEFAULT_SCHEME)
    rows: list[Row] = []
    for part in scheme.heading_rules().parts:
        for section in article.abstract if part == "abstract" else article.body:
            _collect(section, [], rows, scheme)
    rows.sort(key=_node)
    yield from rows


def _node(row: Row) -> int:
    return row[0].node


def _collect(section: Section, above: Sequence[Level], rows: list[Row], scheme: LabelScheme) -> None:
    levels = [*above, (section.title, section.sec_type)]
    if section.paragraphs:
        label, source = label_of(levels, scheme)
        if section.sec_type == RUN_IN and source == f"title:{section.title}":
            source = f"run-in:{section.title}"
        for paragraph in section.paragraphs:
            if paragraph.kind == "box":
                rows.append((paragraph, *label_of(levels, scheme, boxed=True)))
            else:
                rows.append((paragraph, label, source))
    for inner in section.sections:
        _collect(inner, levels, rows, scheme)
