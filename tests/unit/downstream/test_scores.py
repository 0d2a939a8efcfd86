"""Score rows: what they hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, f1_score, silhouette_score

from sectioncls.downstream import classification_scores, clustering_scores
from sectioncls.errors import InputError
from sectioncls.records import Score

RNG = np.random.default_rng(8)
LIKE = Score("", 0.0, corpus="demo", fingerprint="f", encoder="base", method="svm", protocol="paper", seed=31415)
LABELS = ("background", "method", "result", "other")
TRUE = RNG.integers(0, 3, 120)
PREDICTED = np.where(RNG.random(120) < 0.7, TRUE, RNG.integers(0, 3, 120))
GROUPS = [str(i // 6) for i in range(120)]


def test_classification_rows():
    rows = classification_scores(TRUE, PREDICTED, LABELS, like=LIKE, groups=GROUPS)
    assert [(r.metric, r.label) for r in rows] == [
        ("f1-micro", None),
        ("f1-macro", None),
        ("f1", "background"),
        ("f1", "method"),
        ("f1", "result"),
    ]
    assert rows[0].value == pytest.approx((TRUE == PREDICTED).mean())
    assert rows[1].value == pytest.approx(f1_score(TRUE, PREDICTED, average="macro"))
    assert [r.n for r in rows] == [120, 120, *np.bincount(TRUE)]
    for row in rows:
        assert row.low <= row.value <= row.high
        assert (row.unit, row.corpus, row.encoder, row.seed) == ("article", "demo", "base", 31415)
    assert rows == classification_scores(TRUE, PREDICTED, LABELS, like=LIKE, groups=GROUPS)


def test_without_articles_the_unit_is_the_sentence():
    rows = classification_scores(TRUE, PREDICTED, LABELS, like=LIKE)
    assert {r.unit for r in rows} == {"sentence"}


def test_one_article_gives_no_interval():
    rows = classification_scores(TRUE, PREDICTED, LABELS, like=LIKE, groups=["a"] * 120)
    assert {(r.low, r.high, r.unit) for r in rows} == {(None, None, "article")}


def test_clustering_rows():
    x = RNG.normal(size=(120, 6)) + 3 * TRUE[:, None]
    rows = clustering_scores(x, TRUE, PREDICTED - 1, like=LIKE, groups=GROUPS, silhouette_of=("clusters", "labels"))
    values = {r.metric: r.value for r in rows}
    assert values["ari"] == pytest.approx(adjusted_rand_score(TRUE, PREDICTED))
    assert values["silhouette"] == pytest.approx(silhouette_score(x, PREDICTED))
    assert values["silhouette-labels"] == pytest.approx(silhouette_score(x, TRUE))
    assert rows[0].low < rows[0].value < rows[0].high and rows[2].low is None


def test_a_silhouette_of_one_cluster_has_no_row():
    rows = clustering_scores(np.ones((120, 2)), TRUE, np.zeros(120, int), like=LIKE)
    assert [r.metric for r in rows] == ["ari", "ami"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: classification_scores([], [], LABELS, like=LIKE),
        lambda: classification_scores([0, 4], [0, 1], LABELS, like=LIKE),
        lambda: classification_scores([0, 1], [0, -1], LABELS, like=LIKE),
        lambda: classification_scores([0, 1], [0], LABELS, like=LIKE),
        lambda: classification_scores([0.5, 1.0], [0, 1], LABELS, like=LIKE),
        lambda: classification_scores([0, 1], [0, 1], LABELS, like=LIKE, groups=["a", "b", "c"]),
        lambda: clustering_scores(np.ones((3, 2)), [0, 1], [0, 1], like=LIKE),
        lambda: clustering_scores(np.ones((0, 2)), [], [], like=LIKE),
    ],
)
def test_bad_input_is_one_line(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
