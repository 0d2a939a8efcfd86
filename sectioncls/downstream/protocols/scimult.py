"""The settings of arXiv 2305.14232 as its evaluation code runs them.

- Everything is ranked by dot product: labels for papers, papers for papers, papers for search queries.
- Link prediction by retrieval: Recall@20/50/100 over the whole set. **The query paper is not taken out of its own
  list**, where it nearly always comes first and holds one of the places.
- Link prediction by reranking: MAP and nDCG of the given lists; recommendation, graded 1 to 5: nDCG, nDCG@5 and
  nDCG@10. A graded judgement answers from 1 on, as trec_eval has it.
- Fine classification: Recall@20/50/100 over all labels, with and without putting labels first whose name occurs in
  the paper. Coarse classification: macro-F1 of the nearest label, and SciDocs's SVM.
- Search: nDCG@10. Its SciFact (1,109) and NFCorpus (3,237) queries are train, dev and test together: its numbers
  there compare with no other benchmark of that name.
"""

from __future__ import annotations

from sectioncls.downstream.protocols.papers import PaperProtocol
from sectioncls.downstream.protocols.scidocs import SVM_GRID

__all__ = ["SCIMULT"]

SCIMULT = PaperProtocol(
    name="scimult",
    similarity="dot",
    own_paper="kept",
    ties="id",
    ranked=("map", "ndcg", "ndcg@5", "ndcg@10"),
    retrieved=("recall@20", "recall@50", "recall@100"),
    searched=("ndcg@10",),
    relevant_from=1,
    svm_grid=SVM_GRID,
)
