"""MDCR's form of a citation task, as SPECTER2's table has it: MAP and Recall@5 of judged lists, field by field.

Paper: Medić and Šnajder, 2022 (MDCR: queries of 19 fields, each with papers that it cites among papers that it does
not); arXiv 2211.13308 prints MAP and Recall@5 of it with BM25 beside and says that 23 % of its papers are in SPECTER2's
training data. Name the collection of fields in a recipe (``fields``): each field then has rows of its own, their mean
gives every field the same weight, and how much of what is judged was learnt from is said. Similarity is Euclidean, as
SciRepEval ranks.
"""

from __future__ import annotations

from sectioncls.downstream.protocols.papers import PaperProtocol

__all__ = ["MDCR"]

MDCR = PaperProtocol(
    name="mdcr",
    similarity="euclidean",
    ranked=("map", "recall@5"),
    relevant_from=1,
)
