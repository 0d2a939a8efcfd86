"""Corpora: folders of labelled sentences with splits, reading them and building them.

What builds from articles loads XML and sentence-splitting libraries, so it is loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sectioncls.corpora.corpus import (
    SPLITS,
    Corpus,
    CorpusInfo,
    Split,
    only_corpus,
    open_corpus,
    require_trainable,
)
from sectioncls.corpora.csabstruct import build_csabstruct
from sectioncls.corpora.forms import Form, LabelMap
from sectioncls.corpora.joined import Part, join_corpora
from sectioncls.corpora.jsonl import build_jsonl
from sectioncls.corpora.pmc_sents import build_pmc_sents
from sectioncls.corpora.rct import build_rct
from sectioncls.corpora.writer import CorpusWriter, create_corpus

if TYPE_CHECKING:
    from sectioncls.corpora.build import BuildCounts
    from sectioncls.corpora.pmc import build_pmc

__all__ = [
    "SPLITS",
    "BuildCounts",
    "Corpus",
    "CorpusInfo",
    "CorpusWriter",
    "Form",
    "LabelMap",
    "Part",
    "Split",
    "build_csabstruct",
    "build_jsonl",
    "build_pmc",
    "build_pmc_sents",
    "build_rct",
    "create_corpus",
    "join_corpora",
    "only_corpus",
    "open_corpus",
    "require_trainable",
]


def __getattr__(name: str) -> Any:
    if name == "build_pmc":
        from sectioncls.corpora.pmc import build_pmc

        return build_pmc
    if name == "BuildCounts":
        from sectioncls.corpora.build import BuildCounts

        return BuildCounts
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
