"""Baselines from words alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sectioncls.downstream import TEXT_CLASSIFIERS, classify_texts, cluster_texts
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(4)
WORDS = (
    ["aim", "study", "purpose", "goal", "question"],
    ["method", "sample", "trained", "measured", "data"],
)
Y = RNG.integers(0, 2, 80)
TEXTS = [" ".join(RNG.choice(WORDS[y], 6)) for y in Y]


def test_majority_says_the_commonest_training_label():
    assert classify_texts(["a", "b", "c"], [3, 1, 3], ["x", "y"], method="majority").tolist() == [3, 3]
    assert classify_texts(["a", "b"], [3, 1], ["x"], method="majority").tolist() == [1]


def test_words_tell_labels_apart():
    method = "tfidf-logistic-regression"
    found = classify_texts(TEXTS[:40], Y[:40], TEXTS[40:], method=method)
    assert (found == Y[40:]).all()
    assert found.tobytes() == classify_texts(TEXTS[:40], Y[:40], TEXTS[40:], method=method).tobytes()


def test_clusters_of_words():
    space, found = cluster_texts(TEXTS, 2)
    assert adjusted_rand_score(Y, found) == 1.0
    assert len(space) == 80
    again, same = cluster_texts(TEXTS, 2)
    assert found.tobytes() == same.tobytes() and space.tobytes() == again.tobytes()


def test_many_words_are_reduced():
    texts = [" ".join(RNG.choice([f"w{i}" for i in range(60)], 20)) for _ in range(150)]
    space, _ = cluster_texts(texts, 3)
    assert space.shape == (150, 100)
    assert np.linalg.norm(space, axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: classify_texts(["a a", "b b"], [0], ["c"], method=m),
        lambda m: classify_texts([], [], ["c"], method=m),
        lambda m: classify_texts(["a"], [0], [], method=m),
    ],
)
@pytest.mark.parametrize("method", TEXT_CLASSIFIERS)
def test_bad_input_is_one_line(call, method):
    with pytest.raises(InputError) as caught:
        call(method)
    assert "\n" not in str(caught.value)


def test_what_words_can_not_do():
    for call in (
        lambda: classify_texts(["one word", "two words"], [0, 1], ["x"], method="tfidf-logistic-regression"),
        lambda: classify_texts(TEXTS, Y * 0, ["x"], method="tfidf-logistic-regression"),
        lambda: cluster_texts(["one word", "two words"], 2),
        lambda: cluster_texts(TEXTS[:2], 3),
    ):
        with pytest.raises(InputError):
            call()
    with pytest.raises(UsageError, match="majority"):
        classify_texts(TEXTS, Y, TEXTS, method="guess")


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 2), (64, 2)])
def test_no_more_threads_than_cores(monkeypatch, cores, expected):
    from sectioncls.downstream import text_baselines

    asked = []
    real = text_baselines.threads
    monkeypatch.setattr(text_baselines, "worker_count", lambda jobs: cores)
    monkeypatch.setattr(text_baselines, "threads", lambda number: asked.append(number) or real(number))
    texts = ["one two", "one two three", "four five", "four five six"]
    found = text_baselines.classify_texts(texts, [0, 0, 1, 1], texts, method="tfidf-logistic-regression")
    assert found.tolist() == [0, 0, 1, 1] and asked == [expected]
