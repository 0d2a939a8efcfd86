"""The linear regression against scikit-learn, its score against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVR

from sectioncls.downstream.regress import regress, regression_scores
from sectioncls.errors import InputError
from sectioncls.records import Score

RNG = np.random.default_rng(9)
X = RNG.normal(size=(80, 5))
Y = X @ RNG.normal(size=5) + RNG.normal(size=80)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LIKE = Score("", 0.0, task="regress:year", encoder="none")


def test_values_are_those_of_grid_search_over_a_linear_svr():
    model = GridSearchCV(LinearSVR(random_state=42, max_iter=5000), {"C": np.logspace(-4, 2, 7)}, cv=3)
    expected = model.fit(X[:60], Y[:60]).predict(X[60:])
    assert regress(X[:60], Y[:60], X[60:]) == pytest.approx(expected)


def test_scaled_values_come_back_in_their_own_scale():
    years = 2000 + 5 * Y
    found = regress(X[:60], years[:60], X[60:], scaled=True)
    assert abs(found.mean() - years[60:].mean()) < 3
    standard = regress(X[:60], (years[:60] - years[:60].mean()) / years[:60].std(), X[60:])
    assert found == pytest.approx(standard * years[:60].std() + years[:60].mean())


def test_score_is_kendalls_tau_with_an_interval_over_papers():
    predicted = Y + RNG.normal(size=80)
    (row,) = regression_scores(Y, predicted, like=LIKE)
    assert row.value == pytest.approx(kendalltau(Y, predicted)[0])
    assert row.low < row.value < row.high
    assert (row.metric, row.n, row.unit, row.task) == ("tau", 80, "paper", "regress:year")


def test_no_order_no_row():
    assert regression_scores([1.0, 1.0], [1.0, 2.0], like=LIKE) == []
    assert regression_scores([1.0, 2.0], [5.0, 5.0], like=LIKE) == []
    assert regression_scores([1.0], [5.0], like=LIKE) == []


def test_refusals():
    with pytest.raises(InputError, match="2 papers with a value can't be cut into 3 folds"):
        regress(X[:2], Y[:2], X)
    with pytest.raises(InputError, match="every training paper has the value 2000"):
        regress(X[:9], [2000.0] * 9, X)
    with pytest.raises(InputError, match="1 of 9 values are not finite"):
        regress(X[:9], [float("nan"), *range(8)], X)
    with pytest.raises(InputError, match="expected 9 values"):
        regress(X[:9], Y[:8], X)
