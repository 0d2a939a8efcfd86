"""The temperature of a joined corpus: every set counts alike."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sectioncls.downstream.calibration import fit_temperature
from sectioncls.recipes import devscore
from sectioncls.recipes.devscore import DevScorer, JoinedRows

LABELS = 3
RNG = np.random.default_rng(5)


def drawn(n: int, sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are too sure by ``sharpness``, and labels drawn from the honest ones."""
    logits = RNG.normal(size=(n, LABELS)) * 2
    honest = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = np.array([RNG.choice(LABELS, p=row) for row in honest])
    sure = np.exp(logits * sharpness)
    return sure / sure.sum(1, keepdims=True), labels


def scorer(labels: np.ndarray, joined: JoinedRows | None) -> DevScorer:
    nothing = SimpleNamespace(items=0)
    return DevScorer(
        dev=nothing,
        dev_labels=labels,
        dev_articles=[],
        voters=nothing,
        voter_labels=labels,
        triplets=np.zeros((0, 3), dtype=np.int64),
        margin=0.0,
        classes=LABELS,
        neighbours=False,
        joined=joined,
    )


def head_that_gives(chances: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(probabilities=lambda vectors, articles: chances)


def test_each_set_counts_alike_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devscore, "encode_tokens", lambda encoder, tokens: None)
    sets = [drawn(4000, 2.0), drawn(400, 1.0), drawn(400, 0.5)]
    chances, labels = (np.concatenate(parts) for parts in zip(*sets, strict=True))
    parts = np.repeat([0, 1, 2], [len(one) for _, one in sets])
    every = np.ones((len(labels), LABELS), dtype=bool)
    possible = np.eye(LABELS, dtype=bool)[labels]
    possible[parts == 1] |= np.arange(400)[:, None] % 4 == 0  # what may bear any label says nothing
    found = scorer(labels, JoinedRows(parts, every, possible)).temperature(None, head_that_gives(chances))
    known = np.arange(400) % 4 != 0
    own = [fit_temperature(*sets[0]), fit_temperature(sets[1][0][known], sets[1][1][known]), fit_temperature(*sets[2])]
    assert found == pytest.approx(np.prod(own) ** (1 / 3))
    assert found == pytest.approx(1.0, abs=0.15)  # the large set alone would say 2
    assert fit_temperature(chances, labels) > 1.4


def test_one_corpus_has_its_own_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devscore, "encode_tokens", lambda encoder, tokens: None)
    chances, labels = drawn(2000, 2.0)
    found = scorer(labels, None).temperature(None, head_that_gives(chances))
    assert found == pytest.approx(fit_temperature(chances, labels)) == pytest.approx(2.0, abs=0.3)
