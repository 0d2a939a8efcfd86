"""Dev scores of paper encoders against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import label_ranking_average_precision_score

from sectioncls.recipes.papers.devscore import average_precision


def test_average_precision_is_scikit_learns():
    random = np.random.default_rng(0)
    scores, relevant = random.normal(size=(30, 40)), random.random((30, 40)) < 0.1
    relevant[:, 0] = True
    expected = label_ranking_average_precision_score(relevant, scores)
    assert average_precision(scores, relevant) == pytest.approx(expected)


def test_what_is_not_allowed_is_not_there():
    scores = np.array([[4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0]])
    relevant = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    allowed = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)
    # first row: 3, 2, 1 are left: (1/1 + 2/3) / 2; second: 3 then 1: 1/2; third has nothing relevant
    assert average_precision(scores, relevant, allowed) == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert np.isnan(average_precision(scores[2:], relevant[2:]))
