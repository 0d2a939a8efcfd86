"""Reviewers: affinities by a loop, precision and order worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from sectioncls.downstream.retrieve import dense_scorer
from sectioncls.downstream.reviewers import affinities, expertise_order, reviewer_precision, reviewers
from sectioncls.errors import InputError

RNG = np.random.default_rng(2)


def test_a_reviewer_is_the_mean_of_his_three_nearest_papers():
    papers, own = RNG.normal(size=(70, 6)), RNG.normal(size=(12, 6))
    profiles = {"a": [0, 1, 2, 3, 4], "b": [11, 5], "c": [6, 7, 8, 9, 10]}
    group, left_out = reviewers(profiles)
    assert left_out == ()
    found = affinities(dense_scorer(papers, own, "cosine"), np.arange(70), group)
    for paper, row in enumerate(papers):
        for place, mine in enumerate(profiles.values()):
            cosines = [row @ own[one] / np.linalg.norm(row) / np.linalg.norm(own[one]) for one in mine]
            assert found[paper, place] == pytest.approx(np.mean(sorted(cosines)[-3:]))


def test_short_profiles_are_left_out_and_named():
    group, left_out = reviewers({"a": [0, 1, 2], "b": [1], "c": []}, least=3)
    assert (group.ids, left_out) == (("a",), ("b", "c"))
    assert reviewers({"a": [0], "c": []})[1] == ("c",)
    with pytest.raises(InputError, match="no reviewer has 3 papers"):
        reviewers({"a": [0]}, least=3)


def test_precision_soft_and_hard_worked_by_hand():
    # Paper p: nearest r0 (3), then r1 (2), then r2 (0). Paper s has nobody suited by the hard rule.
    pairs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]
    near = np.array([[3.0, 2.0, 1.0], [1.0, 0.0, 2.0]])
    found = reviewer_precision(["p", "s"], ["r0", "r1", "r2"], pairs, [3, 2, 0, 2, 1], near, cuts=(1, 2))
    assert found["soft"].values["p@1"].tolist() == [1, 0]
    assert found["soft"].values["p@2"].tolist() == [1, 0.5]
    assert found["hard"].values["p@2"][0] == 0.5
    assert np.isnan(found["hard"].values["p@2"][1])


def test_order_within_each_reviewer():
    names = ["a", "b", "a", "a", "b", "c"]
    stated, predicted = [5.0, 1.0, 3.0, 4.5, 2.0, 1.0], [0.9, 0.3, 0.5, 0.4, 0.1, 0.2]
    found = expertise_order(names, stated, predicted)
    assert found.query_ids == ("a", "b", "c")
    assert found.values["tau"][0] == pytest.approx(kendalltau([5, 3, 4.5], [0.9, 0.5, 0.4])[0])
    assert found.values["tau"][1] == -1
    assert np.isnan(found.values["tau"][2])
    with pytest.raises(InputError, match="1 reviewers, 2 ratings, 2 predictions"):
        expertise_order(["a"], [1, 2], [1, 2])
