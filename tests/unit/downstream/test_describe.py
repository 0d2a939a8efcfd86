"""Typical terms by hand, and the contingency of labels and clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sectioncls.downstream import contingency, typical_terms
from sectioncls.errors import InputError

TEXTS = ["Sheep graze.", "Sheep sleep.", "Goats climb.", "Goats climb and graze."]


def test_weights_by_hand():
    found = typical_terms(TEXTS, [0, 0, 1, 1], fewest=1)
    assert [(one.cluster, one.size) for one in found] == [(0, 2), (1, 2)]
    # Cluster 0: sheep 2, graze 1, sleep 1, and pairs; 6 terms. Cluster 1: goats 2, climb 2, goats climb 2, ...
    terms = dict(found[0].terms)
    assert next(iter(terms)) == "sheep"
    assert terms["sheep"] == pytest.approx(2 / 6 * math.log(1 + 7 / 2))
    assert terms["graze"] == pytest.approx(1 / 6 * math.log(1 + 7 / 2))
    assert [term for term, _ in found[1].terms[:3]] == ["climb", "goats", "goats climb"]  # equal: by the alphabet


def test_rare_terms_are_kept_out():
    found = typical_terms(TEXTS * 3, [0, 0, 1, -1] * 3, fewest=6)
    assert [one.cluster for one in found] == [-1, 0, 1]
    assert {term for one in found for term, _ in one.terms} == {"sheep", "graze", "goats", "climb", "goats climb"}


def test_stop_words_alone_give_no_terms():
    found = typical_terms(["of the", "and the"], [0, 1])
    assert [one.terms for one in found] == [(), ()]


def test_permuted_rows_change_nothing():
    mixed = np.random.default_rng(0).permutation(12)
    clusters = np.array([0, 0, 1, 1] * 3)
    texts = TEXTS * 3
    assert typical_terms(texts, clusters) == typical_terms([texts[row] for row in mixed], clusters[mixed])


def test_contingency_by_hand():
    rows = contingency([0, 0, 2], [1, -1, 1], ["a", "b", "c"])
    assert [(row.label, row.cluster, row.n) for row in rows] == [("a", -1, 1), ("a", 1, 1), ("c", -1, 0), ("c", 1, 1)]
    assert (rows[1].of_label, rows[1].of_cluster) == (0.5, 0.5)


def test_bad_input_is_one_line():
    for texts, clusters in (([], []), (["a"], [0, 1])):
        with pytest.raises(InputError):
            typical_terms(texts, clusters)
