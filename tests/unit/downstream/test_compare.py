"""Two systems against each other: an analytic case, naive loops, scipy, and what permutation changes (nothing)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import adjusted_mutual_info_score, f1_score

from sectioncls.downstream.compare import (
    Difference,
    compare_clusters,
    compare_predictions,
    compare_query_values,
    holm,
    mcnemar,
    power_note,
)
from sectioncls.errors import InputError

RNG = np.random.default_rng(6)
TRUE = RNG.integers(0, 3, 240)
FIRST = np.where(RNG.random(240) < 0.5, TRUE, RNG.integers(0, 3, 240))
SECOND = np.where(RNG.random(240) < 0.8, TRUE, FIRST)
GROUPS = [f"a{i // 8}" for i in range(240)]


def test_the_bootstrap_of_single_rows_is_the_analytic_one():
    """Accuracy of independent rows: the difference has the deviation of a mean of -1, 0, 1."""
    n = 4000
    truth = np.zeros(n, int)
    first, second = (RNG.random(n) > share for share in (0.7, 0.72))
    found = compare_predictions(truth, first.astype(int), second.astype(int), metrics=["f1-micro"], seed=2)[0]
    gap = (~second).astype(float) - (~first).astype(float)
    deviation = gap.std() / np.sqrt(n)
    assert found.difference == pytest.approx(gap.mean())
    assert found.deviation == pytest.approx(deviation, rel=0.05)
    assert (found.low, found.high) == (
        pytest.approx(gap.mean() - 1.96 * deviation, abs=0.1 * deviation),
        pytest.approx(gap.mean() + 1.96 * deviation, abs=0.1 * deviation),
    )
    assert found.detectable == pytest.approx(2.8 * deviation, rel=0.05)
    assert (found.unit, found.units, found.n) == ("sentence", n, n)


def test_the_bootstrap_by_article_is_the_analytic_one():
    """Articles whose sentences are alike: the deviation is that of a mean over articles."""
    articles, size = 200, 10
    gap = RNG.choice([0.0, 1.0], articles, p=[0.7, 0.3])
    truth, first = np.zeros(articles * size, int), np.ones(articles * size, int)
    second = 1 - np.repeat(gap, size).astype(int)
    groups = np.repeat(np.arange(articles), size).astype(str).tolist()
    found = compare_predictions(truth, first, second, groups=groups, metrics=["f1-micro"])[0]
    assert found.deviation == pytest.approx(gap.std() / np.sqrt(articles), rel=0.05)
    assert (found.unit, found.units) == ("article", articles)


def test_differences_equal_a_loop_over_drawn_articles():
    found = compare_predictions(TRUE, FIRST, SECOND, groups=GROUPS, resamples=60, seed=4)
    names = sorted(set(GROUPS))
    members = [np.flatnonzero(np.array(GROUPS) == name) for name in names]
    weights = np.random.default_rng(4).multinomial(len(names), np.full(len(names), 1 / len(names)), size=60)
    for one, average in zip(found, ("micro", "macro"), strict=True):
        gaps = []
        for line in weights:
            rows = np.concatenate([np.tile(part, times) for part, times in zip(members, line, strict=True)])
            scores = [f1_score(TRUE[rows], said[rows], average=average) for said in (FIRST, SECOND)]
            gaps.append(scores[1] - scores[0])
        assert (one.low, one.high) == tuple(pytest.approx(end) for end in np.percentile(gaps, [2.5, 97.5]))
        assert one.p == pytest.approx(2 * (min(np.sum(np.array(gaps) <= 0), np.sum(np.array(gaps) >= 0)) + 1) / 61)


def test_a_system_against_itself_is_no_difference():
    for found in compare_predictions(TRUE, FIRST, FIRST, groups=GROUPS):
        assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_chance_is_called_a_difference_as_often_as_the_level_says():
    false = 0
    for trial in range(120):
        rng = np.random.default_rng(trial)
        truth = rng.integers(0, 3, 120)
        first, second = (np.where(rng.random(120) < 0.6, truth, rng.integers(0, 3, 120)) for _ in range(2))
        false += compare_predictions(truth, first, second, metrics=["f1-micro"], resamples=400)[0].p < 0.05
    assert false <= binom.ppf(0.999, 120, 0.07)


def test_permuted_rows_change_nothing():
    mixed = RNG.permutation(240)
    groups = [GROUPS[row] for row in mixed]
    assert compare_predictions(TRUE, FIRST, SECOND, groups=GROUPS) == compare_predictions(
        TRUE[mixed], FIRST[mixed], SECOND[mixed], groups=groups
    )
    assert compare_predictions(TRUE, FIRST, SECOND) == compare_predictions(TRUE[mixed], FIRST[mixed], SECOND[mixed])
    assert compare_clusters(TRUE, FIRST, SECOND, groups=GROUPS, resamples=50) == compare_clusters(
        TRUE[mixed], FIRST[mixed], SECOND[mixed], groups=groups, resamples=50
    )


def test_swapped_systems_swap_the_sign():
    one, other = compare_predictions(TRUE, FIRST, SECOND)[0], compare_predictions(TRUE, SECOND, FIRST)[0]
    assert one.difference == -other.difference
    assert (one.low, one.high) == (pytest.approx(-other.high, abs=0.01), pytest.approx(-other.low, abs=0.01))


def test_several_seeds_are_their_mean():
    seeds = np.stack([FIRST, SECOND])
    found = compare_predictions(TRUE, seeds, SECOND, groups=GROUPS, metrics=["f1-macro"])[0]
    expected = np.mean([f1_score(TRUE, one, average="macro") for one in seeds])
    assert found.first == pytest.approx(expected) and found.mcnemar is None
    alone = compare_predictions(TRUE, FIRST, SECOND, groups=GROUPS, metrics=["f1-macro"])[0]
    assert found.difference == pytest.approx(alone.difference / 2)
    assert found.low == pytest.approx(alone.low / 2) and found.high == pytest.approx(alone.high / 2)


def test_clusters_are_compared_by_their_agreement_with_labels():
    found = compare_clusters(TRUE, FIRST * 7 - 1, SECOND, groups=GROUPS, resamples=200)
    assert [one.metric for one in found] == ["ari", "ami"]
    assert found[1].first == pytest.approx(adjusted_mutual_info_score(TRUE, FIRST))
    assert found[0].low > 0 and found[0].mcnemar is None


def test_mcnemar_by_hand():
    # 1 row only the first is right in, 6 only the second: 2 * (C(7,0) + C(7,1)) / 2^7.
    first, second = np.array([1, 0, 0, 0, 0, 0, 0, 1, 0]), np.array([0, 1, 1, 1, 1, 1, 1, 1, 0])
    assert mcnemar(first, second) == pytest.approx(2 * 8 / 128)
    assert mcnemar(first, first) == 1


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0] and holm([]) == []


def test_queries_are_paired():
    values = RNG.random(50)
    better = values + 0.05 + 0.02 * RNG.normal(size=50)
    found = compare_query_values("ndcg@10", values, better)
    deviation = (better - values).std() / np.sqrt(50)
    assert found.deviation == pytest.approx(deviation, rel=0.06) and found.p < 0.001 and found.unit == "query"
    values[3] = np.nan
    assert compare_query_values("ndcg@10", values, better).n == 49
    mixed = RNG.permutation(50)
    assert compare_query_values("m", values[mixed], better[mixed]).low == compare_query_values("m", values, better).low


def test_one_article_falls_back_to_sentences_and_one_row_to_nothing():
    found = compare_predictions(TRUE, FIRST, SECOND, groups=["only"] * 240)[0]
    assert (found.unit, found.units) == ("sentence", 240)
    alone = compare_predictions([1], [1], [0])[0]
    assert (alone.low, alone.p, alone.detectable) == (None, None, None)
    assert "nothing to resample" in power_note(alone)
    assert compare_query_values("map", [0.5], [0.7]).low is None


def test_power_is_told_where_it_is_small():
    few = Difference("f1-micro", 0.5, 0.6, 0.02, 0.2, 0.03, 0.05, 90, "article", 12)
    assert power_note(few).startswith("only 12 articles") and "14.0 points" in power_note(few)
    undecided = Difference("f1-micro", 0.5, 0.51, -0.02, 0.04, 0.5, 0.01, 9000, "article", 1200)
    assert power_note(undecided).startswith("with 1,200 articles a true difference below 2.8 points")
    assert power_note(Difference("f1-micro", 0.5, 0.6, 0.08, 0.12, 0.0, 0.01, 9000, "article", 1200)) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: compare_predictions([0, 1], [0], [0, 1]),
        lambda: compare_predictions([], [], []),
        lambda: compare_predictions([0, 1], [0, 1], [0.5, 1]),
        lambda: compare_query_values("map", [0.1, 0.2], [0.1]),
        lambda: compare_query_values("map", [np.nan], [0.1]),
    ],
)
def test_bad_input_is_one_line(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
