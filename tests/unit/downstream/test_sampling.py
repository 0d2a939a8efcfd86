"""Rows drawn by label."""

from __future__ import annotations

import numpy as np

from sectioncls.downstream.sampling import rows_per_label, stratified_rows

Y = np.repeat([0, 3, 7], [800, 195, 5])


def test_labels_keep_their_shares():
    rows = stratified_rows(Y, 100, seed=1)
    assert [int((Y[rows] == label).sum()) for label in (0, 3, 7)] == [80, 20, 1]
    assert (np.diff(rows) > 0).all()
    assert (rows == stratified_rows(Y, 100, seed=1)).all() and (rows != stratified_rows(Y, 100, seed=2)).any()


def test_few_rows_are_all_taken():
    assert (stratified_rows(Y, 1000, seed=0) == np.arange(1000)).all()
    assert len(stratified_rows([], 5, seed=0)) == 0


def test_a_label_with_fewer_rows_gives_all():
    rows = rows_per_label(Y, 8, seed=0)
    assert [int((Y[rows] == label).sum()) for label in (0, 3, 7)] == [8, 8, 5]
    assert len(set(rows.tolist())) == 21
