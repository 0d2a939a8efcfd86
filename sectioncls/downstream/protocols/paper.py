"""The settings of arXiv 2404.00224, sections 4 and 5, as its published notebooks run them, oddities included.

- Rows are sorted by length in characters before they are encoded, with pandas' default sort, which leaves
  ties in no defined order. On CSAbstruct the order of length_order is the authors': with all-MiniLM-L6-v2 as
  it is, k-means gives their ARI 1.11, AMI 2.01 and silhouette 2.81 to the digit, and a stable sort (0.82,
  2.50, 2.91), file order or the order that numpy's vector instructions leave do not. Decision tree 41.59, k
  nearest neighbours 57.89 and SVM 61.23 are met in any order; random forest gives 55.30 (published 55.37:
  one sentence), the perceptron 58.49 (57.89): it follows the last digits of the embeddings and of each sum.
- One seed, 31415, is every method's ``random_state``. The notebooks also seed numpy's global generator,
  which nothing reads.
- No scaling, no tuning, one run each: scikit-learn's defaults, but for k nearest neighbours, which weighs
  ceil(sqrt(training rows)) neighbours by distance.
- k-means sees the test embeddings only, k is the number of test labels, and ``n_init`` was the 10 of
  scikit-learn before 1.4. The silhouette is that of the clusters, not of the labels.
- Dev is not read, scores are those of the paper (and the effective rank, without which its silhouettes can't be
  read), and scikit-learn itself computes them all.
"""

from __future__ import annotations

from types import MappingProxyType

from sectioncls.downstream.protocols.protocol import Protocol

__all__ = ["PAPER"]

PAPER = Protocol(
    name="paper",
    seed=31415,
    order="length",
    classifiers=MappingProxyType({"decision-tree": {}, "knn": {}, "random-forest": {}, "mlp": {}, "svm": {}}),
    methods=("decision-tree", "knn", "random-forest", "mlp", "svm"),
    n_init=10,
    silhouette_of=("clusters",),
    silhouette_rows=None,
    uses_dev=False,
    more=False,
    engine="scikit-learn",
)
