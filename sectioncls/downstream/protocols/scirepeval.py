"""The settings of arXiv 2211.13308 as its evaluation code runs them.

- Papers are ranked by Euclidean distance, whatever the model was trained with.
- nDCG is over the whole judged list, not at 10; trec_eval's order of equal scores.
- One class a paper: linear SVM, squared hinge, C of 10^-2…10^2 (5 values), 3 folds, seed 42. Several: one SVM for
  each label against the rest, each with its own C. Macro-F1 is scikit-learn's: a label that is neither true nor
  predicted counts as 0.
- Regression: linear SVR on the values as they are, C of 10^-4…10^2 (7 values), 1,000 rounds at most.
- Few-shot: the training rows are cut into stratified folds of the wanted size and each *test* fold is trained on,
  with C = 1 (see probe.few_shot_samples). Several labels: so many positives of each, drawn with seed 42 + run, and
  a grid search on them.
- Reviewers: cosine, the mean of a reviewer's three nearest papers.
- Papers without a vector are left out without a word; here they are left out and counted.
- The published code learns with sklearn-contrib-lightning where that is installed and with scikit-learn (liblinear)
  otherwise, and the two give different scores; here it is always scikit-learn.
"""

from __future__ import annotations

from sectioncls.downstream.protocols.papers import PaperProtocol

__all__ = ["SCIREPEVAL"]

SCIREPEVAL = PaperProtocol(
    name="scirepeval",
    similarity="euclidean",
    ties="id",
    ranked=("map", "ndcg"),
    searched=("ndcg",),
    relevant_from=1,
    svr_rounds=1000,
    absent=0.0,
)
