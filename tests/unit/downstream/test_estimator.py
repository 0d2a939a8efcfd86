"""The scikit-learn classifier: its contract, pipelines, and files without pickle."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sectioncls.downstream import CLASSIFIERS, PROTOCOLS, SectionClassifier, classify
from sectioncls.downstream.saved import SAVED
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(2)
IDS = RNG.integers(0, 3, 90)
X = RNG.normal(size=(3, 5))[IDS] * 2 + RNG.normal(size=(90, 5))
WORDS = np.array(["method", "background", "result"])[IDS]


@parametrize_with_checks([SectionClassifier("logistic-regression"), SectionClassifier("nearest-centroid")])
def test_it_keeps_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_it_predicts_what_classify_does(method):
    model = make_pipeline(SectionClassifier(method)).fit(X[:60], WORDS[:60])
    names, ids = np.unique(WORDS[:60], return_inverse=True)
    plain = classify(X[:60], ids, X[60:], method=method, protocol=PROTOCOLS["default"])
    assert (model.predict(X[60:]) == names[plain]).all()
    assert clone(model).get_params()["sectionclassifier__method"] == method
    assert hasattr(SectionClassifier(method), "predict_proba") == (
        method not in ("svm", "linear-svm", "nearest-centroid")
    )


def test_it_works_behind_other_steps():
    model = make_pipeline(StandardScaler(), SectionClassifier("linear-svm", seed=3)).fit(X, WORDS)
    assert model.score(X, WORDS) > 0.8


@pytest.mark.parametrize("method", SAVED)
@pytest.mark.parametrize("labels", [WORDS, IDS, IDS == 1])
def test_a_saved_classifier_predicts_the_same(method, labels, tmp_path):
    model = SectionClassifier(method).fit(X.astype(np.float32), labels)
    model.save(tmp_path / "model")
    again = SectionClassifier.load(tmp_path / "model")
    assert (again.predict(X) == model.predict(X)).all()
    assert again.classes_.tolist() == model.classes_.tolist()
    if hasattr(model, "predict_proba"):
        assert again.predict_proba(X) == pytest.approx(model.predict_proba(X))
    with pytest.raises(ValueError, match="features"):
        again.predict(X[:, :2])


def test_an_svm_of_intelex_is_saved_as_scikit_learns(tmp_path):
    pytest.importorskip("sklearnex.svm", exc_type=ImportError)
    x, y = np.tile(X, (60, 1)) + RNG.normal(size=(5400, 5)), np.tile(WORDS, 60)
    model = SectionClassifier("svm").fit(x, y)
    assert model.classifier_.engine == "intelex"
    model.save(tmp_path / "model")
    again = SectionClassifier.load(tmp_path / "model")
    assert type(again.classifier_.model).__module__.startswith("sklearn.")
    assert (again.predict(X) == model.predict(X)).all()


def test_files_that_skops_should_not_believe(tmp_path):
    from skops.io import dump

    model = SectionClassifier("svm").fit(X, WORDS).classifier_.model
    dump({"method": "svm", "labels": ["a", "b"], "model": model}, tmp_path / "labels")
    dump({"method": "mlp", "labels": ["a", "b", "c"], "model": model}, tmp_path / "method")
    dump(SectionClassifier("decision-tree").fit(X, WORDS).classifier_.model, tmp_path / "tree")
    dump({"method": "svm", "labels": ["a", "b"], "model": StandardScaler}, tmp_path / "class")
    for name in ("labels", "method", "tree", "class"):
        with pytest.raises(InputError, match="is no saved SectionClassifier") as caught:
            SectionClassifier.load(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_what_is_refused(tmp_path):
    with pytest.raises(UsageError, match="without pickle"):
        SectionClassifier("knn").fit(X, WORDS).save(tmp_path / "x")
    for protocol in ("tuned", "none"):
        with pytest.raises(UsageError, match="paper, default"):
            SectionClassifier(protocol=protocol).fit(X, WORDS)
    (tmp_path / "text").write_text("no tensors")
    save_file({"weight": np.zeros((3, 2))}, tmp_path / "other")
    facts = {"kind": "sectioncls-linear", "method": "linear-svm", "labels": "[0, 1, 2, 3]"}
    save_file({"weight": np.zeros((3, 2)), "bias": np.zeros(3)}, tmp_path / "unfit", metadata=facts)
    for name in ("text", "other", "unfit", "absent"):
        with pytest.raises(InputError) as caught:
            SectionClassifier.load(tmp_path / name)
        assert "\n" not in str(caught.value)
