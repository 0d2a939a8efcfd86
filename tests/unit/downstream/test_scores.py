"""Score rows: what they hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    davies_bouldin_score,
    f1_score,
    matthews_corrcoef,
    normalized_mutual_info_score,
    silhouette_score,
)

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
        ("f1-weighted", None),
        ("mcc", None),
        ("f1", "background"),
        ("f1", "method"),
        ("f1", "result"),
    ]
    assert rows[0].value == pytest.approx((TRUE == PREDICTED).mean())
    assert rows[1].value == pytest.approx(f1_score(TRUE, PREDICTED, average="macro"))
    assert rows[2].value == pytest.approx(f1_score(TRUE, PREDICTED, average="weighted"))
    assert rows[3].value == pytest.approx(matthews_corrcoef(TRUE, PREDICTED))
    assert [r.n for r in rows] == [120] * 4 + np.bincount(TRUE).tolist()
    for row in rows:
        assert row.low <= row.value <= row.high
        assert (row.unit, row.corpus, row.encoder, row.seed) == ("article", "demo", "base", 31415)
    assert rows == classification_scores(TRUE, PREDICTED, LABELS, like=LIKE, groups=GROUPS)
    paper = classification_scores(TRUE, PREDICTED, LABELS, like=LIKE, groups=GROUPS, more=False)
    assert paper == [rows[0], rows[1], *rows[4:]]


def test_permuted_rows_give_the_same_scores():
    x = RNG.normal(size=(120, 6)) + 3 * TRUE[:, None]
    mixed = RNG.permutation(120)
    groups = [GROUPS[row] for row in mixed]
    assert classification_scores(TRUE, PREDICTED, LABELS, like=LIKE, groups=GROUPS) == classification_scores(
        TRUE[mixed], PREDICTED[mixed], LABELS, like=LIKE, groups=groups
    )
    both = {"like": LIKE, "silhouette_of": ("clusters", "labels"), "silhouette_rows": 1000}
    rows = clustering_scores(x, TRUE, PREDICTED, groups=GROUPS, **both)
    again = clustering_scores(x[mixed], TRUE[mixed], PREDICTED[mixed], groups=groups, **both)
    assert [(r.metric, r.low, r.high) for r in rows] == [(r.metric, r.low, r.high) for r in again]
    assert [r.value for r in rows] == pytest.approx([r.value for r in again])


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
    assert values["nmi"] == values["v-measure"] == pytest.approx(normalized_mutual_info_score(TRUE, PREDICTED))
    assert values["davies-bouldin"] == pytest.approx(davies_bouldin_score(x, PREDICTED))
    assert (values["clusters"], values["noise"]) == (2, pytest.approx((PREDICTED == 0).mean()))
    intervals = {r.metric for r in rows if r.low is not None}
    assert intervals == {"ari", "ami", "nmi", "v-measure", "homogeneity", "completeness", "purity"} | {
        "ari-clustered",
        "ami-clustered",
    }
    assert rows[0].low < rows[0].value < rows[0].high


def test_the_paper_has_fewer_rows():
    x = RNG.normal(size=(120, 6)) + 3 * TRUE[:, None]
    rows = clustering_scores(x, TRUE, PREDICTED, like=LIKE, groups=GROUPS, more=False)
    assert [r.metric for r in rows] == ["ari", "ami", "silhouette", "effective-rank"]
    more = {r.metric: r for r in clustering_scores(x, TRUE, PREDICTED, like=LIKE, groups=GROUPS)}
    assert [more[r.metric] for r in rows] == rows


def test_noise_counts_as_a_cluster_and_is_left_out_beside_it():
    clusters = np.where(RNG.random(120) < 0.3, -1, TRUE)
    rows = {r.metric: r for r in clustering_scores(RNG.normal(size=(120, 3)), TRUE, clusters, like=LIKE)}
    kept = clusters >= 0
    assert rows["ari"].value == pytest.approx(adjusted_rand_score(TRUE, clusters))
    assert rows["ari-clustered"].value == rows["ami-clustered"].value == 1
    assert rows["ari-clustered"].n == kept.sum() and rows["noise"].value == pytest.approx(1 - kept.mean())
    assert rows["ami"].value == pytest.approx(adjusted_mutual_info_score(TRUE, clusters))


def test_all_noise_is_one_cluster_and_has_nothing_clustered():
    rows = {r.metric: r.value for r in clustering_scores(np.eye(120), TRUE, np.full(120, -1), like=LIKE)}
    assert (rows["ari"], rows["noise"], rows["clusters"]) == (0, 1, 0)
    assert not {"silhouette", "davies-bouldin", "ari-clustered"} & set(rows)


def test_a_silhouette_of_one_cluster_has_no_row():
    rows = clustering_scores(np.ones((120, 2)), TRUE, np.zeros(120, int), like=LIKE, more=False)
    assert [(r.metric, r.value) for r in rows] == [("ari", 0), ("ami", 0), ("effective-rank", 0)]


def test_a_silhouette_over_many_rows_says_on_how_many():
    x = RNG.normal(size=(120, 6)) + 3 * TRUE[:, None]
    rows = clustering_scores(x, TRUE, TRUE, like=LIKE, silhouette_rows=50)
    assert {r.n for r in rows if r.metric == "silhouette"} == {120}  # fewer rows than a sample has


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
        lambda: clustering_scores(np.full((2, 2), np.nan), [0, 1], [0, 1], like=LIKE),
    ],
)
def test_bad_input_is_one_line(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
