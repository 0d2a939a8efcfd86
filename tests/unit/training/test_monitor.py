"""Collapse and impossible margins are named; healthy spaces are not."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.training import collapse_note, margin_note


@pytest.mark.parametrize(
    ("margin", "bounded", "warned"),
    [(5.0, True, True), (2.0, True, True), (0.5, True, False), (5.0, False, False)],
)
def test_margin(margin, bounded, warned):
    assert (margin_note(margin, bounded=bounded) is not None) is warned


def test_collapse():
    random = np.random.default_rng(0)
    noise = random.normal(size=(300, 32)).astype(np.float32)
    assert collapse_note(noise, 5, seed=0) is None
    points = 4 * random.normal(size=(5, 32)).astype(np.float32)[np.arange(300) % 5]
    assert collapse_note(points + 2 * noise, 5, seed=0) is None  # labels apart, but each with a life of its own
    assert "collapse: " in collapse_note(points + 0.1 * noise, 5, seed=0)
    assert "collapse: " in collapse_note(points + 0.1 * noise, 5, seed=0, agreement=0.29)  # the paper's
    assert collapse_note(points + 0.1 * noise, 5, seed=0, agreement=0.82) is None  # the points are the labels
    line = np.outer(random.normal(size=300), np.ones(32)).astype(np.float32)
    assert "collapse" in collapse_note(line, 5, seed=0)
    point = np.ones((300, 32), dtype=np.float32) + 1e-4 * noise
    assert "collapse" in collapse_note(point, 5, seed=0)
