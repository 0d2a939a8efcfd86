"""Our own settings: the paper's five classifiers and k-means, and four classifiers more for those who ask.

What differs from the paper, chosen on CSAbstruct's dev split with all-MiniLM-L6-v2 as it is:

- The perceptron stops when a held-out tenth of the training rows no longer gets better: 49.3 against 44.2
  F1-micro on dev, in an eighth of the time. Scaled columns helped neither it nor k nearest neighbours, so
  nothing is scaled.
- Rows are not sorted by length, and the seed is 0.
- The silhouette of the true labels stands beside that of the clusters, which a collapsed space makes high.
"""

from __future__ import annotations

from types import MappingProxyType

from sectioncls.downstream.protocols.protocol import Protocol

__all__ = ["DEFAULT"]

DEFAULT = Protocol(
    name="default",
    seed=0,
    order="file",
    classifiers=MappingProxyType(
        {
            "decision-tree": {},
            "knn": {},
            "random-forest": {},
            "mlp": {"early_stopping": True},
            "svm": {},
            "logistic-regression": {},
            "linear-svm": {},
            "nearest-centroid": {},
            "gradient-boosting": {},
        }
    ),
    methods=("decision-tree", "knn", "random-forest", "mlp", "svm"),
    n_init=10,
    silhouette_of=("clusters", "labels"),
)
