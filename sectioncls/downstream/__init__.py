"""What embeddings are good for, as numbers: classifiers, clusters, pictures, scores with intervals.

Meets encoders and corpora in arrays and strings only.
"""

from __future__ import annotations

from sectioncls.downstream.calibration import (
    calibration_bins,
    calibration_error,
    fit_temperature,
    with_temperature,
)
from sectioncls.downstream.classify import CLASSIFIERS, classify
from sectioncls.downstream.cluster import CLUSTERERS, cluster
from sectioncls.downstream.confusion import table
from sectioncls.downstream.position import POSITION, classify_positions, position_features
from sectioncls.downstream.project import PROJECTIONS, project, sample_rows
from sectioncls.downstream.protocols import PROTOCOLS, Protocol
from sectioncls.downstream.scores import classification_scores, clustering_scores
from sectioncls.downstream.text_baselines import (
    TEXT_CLASSIFIERS,
    TEXT_CLUSTERING,
    classify_texts,
    cluster_texts,
)

__all__ = [
    "CLASSIFIERS",
    "CLUSTERERS",
    "POSITION",
    "PROJECTIONS",
    "PROTOCOLS",
    "TEXT_CLASSIFIERS",
    "TEXT_CLUSTERING",
    "Protocol",
    "calibration_bins",
    "calibration_error",
    "classification_scores",
    "classify",
    "classify_positions",
    "classify_texts",
    "cluster",
    "cluster_texts",
    "clustering_scores",
    "fit_temperature",
    "position_features",
    "project",
    "sample_rows",
    "table",
    "with_temperature",
]
