"""scikit-learn-intelex gives the predictions of scikit-learn, or is not used; skips where it is not installed."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from sectioncls.downstream import PROTOCOLS, fit_classifier

pytestmark = pytest.mark.skipif(find_spec("sklearnex") is None, reason="scikit-learn-intelex is not installed")

DEFAULT = PROTOCOLS["default"]


def made_up(rows: int, overlap: float, kind: type) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors with the structure of five labels of unequal size."""
    rng = np.random.default_rng(int(10 * overlap))
    y = rng.choice(5, rows, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    x = rng.normal(size=(5, 64))[y] + overlap * rng.normal(size=(rows, 64))
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(kind), y


@pytest.fixture(autouse=True)
def loadable() -> None:
    """Skip in a process where OpenVINO came first, whose TBB is another."""
    pytest.importorskip("sklearnex.svm", exc_type=ImportError, reason="another library's TBB is loaded")


@pytest.mark.parametrize("method", ["svm", "knn"])
@pytest.mark.parametrize("overlap", [1.0, 4.0])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_predictions_are_equal(method, overlap, kind):
    x, y = made_up(3000, overlap, kind)
    models = [
        fit_classifier(x[:2000], y[:2000], method=method, protocol=replace(DEFAULT, engine=engine))
        for engine in ("scikit-learn", "intelex")
    ]
    assert [model.engine for model in models] == ["scikit-learn", "intelex"]
    plain, fast = (model.predict(x[2000:]) for model in models)
    assert type(models[1].model).__module__.startswith("sklearnex")
    # A row that lies between two labels to the last digit may fall either way: one in a thousand at most.
    assert (plain == fast).mean() >= 0.999


@pytest.mark.parametrize("method", ["svm", "knn"])
def test_equal_rows_and_few_rows(method):
    rules = replace(DEFAULT, engine="intelex")
    same = fit_classifier(np.ones((20, 3)), np.arange(20) % 2, method=method, protocol=rules).predict(np.ones((2, 3)))
    assert set(same.tolist()) <= {0, 1}
    few = fit_classifier(np.eye(3), [0, 1, 2], method=method, protocol=rules)
    assert few.predict(np.eye(3)).tolist() == [0, 1, 2]
