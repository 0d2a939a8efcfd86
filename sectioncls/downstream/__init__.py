"""What embeddings are good for, as numbers: classifiers, clusters, pictures, scores with intervals.

Meets encoders and corpora in arrays and strings only.
"""

from __future__ import annotations

from sectioncls.downstream.calibration import (
    Calibration,
    among_allowed,
    calibrate,
    calibration_bins,
    calibration_error,
    fit_temperature,
    with_temperature,
)
from sectioncls.downstream.classify import CLASSIFIERS, FIXED, Classifier, classify, fit_classifier
from sectioncls.downstream.cluster import CLUSTERERS, FIXED_CLUSTERERS, NOISE, cluster
from sectioncls.downstream.cluster_choice import ChoiceOfK, agreement, choose_k, stability
from sectioncls.downstream.compare import (
    Difference,
    compare_clusters,
    compare_predictions,
    compare_query_values,
    holm,
    mcnemar,
    power_note,
)
from sectioncls.downstream.confusion import table
from sectioncls.downstream.context_baselines import TITLE, classify_titles, neighbour_vectors, shuffled_articles
from sectioncls.downstream.curves import (
    REPEATS,
    LearningPoint,
    few_shot,
    learning_curve,
    precision_recall,
)
from sectioncls.downstream.describe import contingency, typical_terms
from sectioncls.downstream.estimator import SectionClassifier
from sectioncls.downstream.position import POSITION, classify_positions, position_features
from sectioncls.downstream.project import PROJECTIONS, Projection, project, sample_rows
from sectioncls.downstream.protocols import PROTOCOLS, Protocol
from sectioncls.downstream.scores import agreement_scores, classification_scores, clustering_scores
from sectioncls.downstream.seeds import SeedTest, Spread, seed_test, spread
from sectioncls.downstream.text_baselines import (
    TEXT_CLASSIFIERS,
    TEXT_CLUSTERING,
    classify_texts,
    cluster_texts,
)
from sectioncls.downstream.trustworthiness import trustworthiness

__all__ = [
    "CLASSIFIERS",
    "CLUSTERERS",
    "FIXED",
    "FIXED_CLUSTERERS",
    "NOISE",
    "POSITION",
    "PROJECTIONS",
    "PROTOCOLS",
    "REPEATS",
    "TEXT_CLASSIFIERS",
    "TEXT_CLUSTERING",
    "TITLE",
    "Calibration",
    "ChoiceOfK",
    "Classifier",
    "Difference",
    "LearningPoint",
    "Projection",
    "Protocol",
    "SectionClassifier",
    "SeedTest",
    "Spread",
    "agreement",
    "agreement_scores",
    "among_allowed",
    "calibrate",
    "calibration_bins",
    "calibration_error",
    "choose_k",
    "classification_scores",
    "classify",
    "classify_positions",
    "classify_texts",
    "classify_titles",
    "cluster",
    "cluster_texts",
    "clustering_scores",
    "compare_clusters",
    "compare_predictions",
    "compare_query_values",
    "contingency",
    "few_shot",
    "fit_classifier",
    "fit_temperature",
    "holm",
    "learning_curve",
    "mcnemar",
    "neighbour_vectors",
    "position_features",
    "power_note",
    "precision_recall",
    "project",
    "sample_rows",
    "seed_test",
    "shuffled_articles",
    "spread",
    "stability",
    "table",
    "trustworthiness",
    "typical_terms",
    "with_temperature",
]
