"""Paper sets: folders of papers with their graph, topics, rankings and numbers; reading them and building them.

What builds from documents loads XML libraries, so it is loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sectioncls.papersets.links import cocited, coupled
from sectioncls.papersets.paperset import (
    Links,
    Outside,
    Papers,
    PaperSet,
    PaperSetInfo,
    Qrels,
    Queries,
    Topics,
    open_paperset,
)
from sectioncls.papersets.splits import normalised, split_of_paper
from sectioncls.papersets.texts import paper_text, paper_texts, topic_text, topic_texts
from sectioncls.papersets.writer import PaperSetWriter, create_paperset

if TYPE_CHECKING:
    from sectioncls.papersets.build import build_papers

__all__ = [
    "Links",
    "Outside",
    "PaperSet",
    "PaperSetInfo",
    "PaperSetWriter",
    "Papers",
    "Qrels",
    "Queries",
    "Topics",
    "build_papers",
    "cocited",
    "coupled",
    "create_paperset",
    "normalised",
    "open_paperset",
    "paper_text",
    "paper_texts",
    "split_of_paper",
    "topic_text",
    "topic_texts",
]


def __getattr__(name: str) -> Any:
    if name == "build_papers":
        from sectioncls.papersets.build import build_papers

        return build_papers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
