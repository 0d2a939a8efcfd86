"""Resampling against loops that draw whole articles, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, f1_score

from sectioncls.downstream import significance
from sectioncls.downstream.confusion import adjusted_rand, f1_macro, f1_micro, table
from sectioncls.downstream.significance import interval, resampled_tables
from sectioncls.errors import InputError

RNG = np.random.default_rng(2)
GROUPS = [f"article-{g}" for g in RNG.integers(0, 15, 150)]
TRUE = RNG.integers(0, 3, 150)
PREDICTED = np.where(RNG.random(150) < 0.6, TRUE, RNG.integers(0, 3, 150))


def drawn_rows(seed: int, resamples: int) -> list[np.ndarray]:
    """Row numbers of each resample, by the same draws, gathered the slow way."""
    names = sorted(set(GROUPS))
    members = [np.flatnonzero(np.array(GROUPS) == name) for name in names]
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=resamples)
    return [
        np.concatenate([np.tile(rows, times) for rows, times in zip(members, line, strict=True)]) for line in weights
    ]


def test_article_intervals_equal_a_naive_loop():
    tables = resampled_tables(TRUE, PREDICTED, (3, 3), groups=GROUPS, resamples=60, seed=4)
    loops = drawn_rows(4, 60)
    for statistic, oracle in (
        (f1_micro, lambda a, b: f1_score(a, b, average="micro")),
        (f1_macro, lambda a, b: f1_score(a, b, average="macro")),
        (adjusted_rand, adjusted_rand_score),
    ):
        naive = [oracle(TRUE[rows], PREDICTED[rows]) for rows in loops]
        assert interval(tables, statistic) == pytest.approx(np.percentile(naive, [2.5, 97.5]))


def test_sentence_intervals_agree_with_drawing_rows():
    tables = resampled_tables(TRUE, PREDICTED, (3, 3), resamples=4000, seed=1)
    assert (tables.sum((1, 2)) == 150).all()
    rows = RNG.integers(0, 150, (4000, 150))
    naive = (TRUE[rows] == PREDICTED[rows]).mean(1)
    assert interval(tables, f1_micro) == pytest.approx(np.percentile(naive, [2.5, 97.5]), abs=0.012)


def test_dependent_sentences_widen_the_interval():
    truth = np.zeros(400, int)
    predicted = np.repeat(RNG.integers(0, 2, 20), 20)
    articles = np.repeat(np.arange(20), 20).astype(str).tolist()
    low, high = interval(resampled_tables(truth, predicted, (2, 2), groups=articles), f1_micro)
    narrow_low, narrow_high = interval(resampled_tables(truth, predicted, (2, 2)), f1_micro)
    assert high - low > 3 * (narrow_high - narrow_low)


def test_neither_block_size_nor_row_order_shows(monkeypatch):
    whole = resampled_tables(TRUE, PREDICTED, (3, 3), groups=GROUPS, resamples=50, seed=9)
    monkeypatch.setattr(significance, "BLOCK", 100)
    mixed = RNG.permutation(150)
    again = resampled_tables(
        TRUE[mixed], PREDICTED[mixed], (3, 3), groups=[GROUPS[i] for i in mixed], resamples=50, seed=9
    )
    assert whole.tobytes() == again.tobytes()


def test_undefined_resamples_are_left_aside():
    stack = np.stack([table([0], [0], (2, 2)), table([0, 1], [0, 1], (2, 2))])
    assert interval(stack, lambda t: np.where(t.sum((1, 2)) == 1, np.nan, 0.5)).tolist() == [0.5, 0.5]


def test_unequal_lengths_are_refused():
    with pytest.raises(InputError):
        resampled_tables([0, 1], [0, 1], (2, 2), groups=["a"])
