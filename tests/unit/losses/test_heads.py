"""Heads of tasks: their losses by hand, their start, and what is predicted without dropout."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sectioncls.losses import TaskHead


@pytest.fixture
def vectors():
    return torch.randn(40, 8, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("loss", "outputs"), [("ce", 3), ("bce", 3), ("mse", 1)])
def test_losses_by_hand(vectors, loss, outputs):
    head = TaskHead(8, outputs, loss).eval()
    out = head.outputs(vectors.numpy()).astype(np.float64)
    random = np.random.default_rng(1)
    if loss == "ce":
        targets = random.integers(3, size=40)
        chances = np.exp(out) / np.exp(out).sum(1, keepdims=True)
        expected = -np.log(chances[np.arange(40), targets]).mean()
    elif loss == "bce":
        targets = random.integers(2, size=(40, 3))
        chances = 1 / (1 + np.exp(-out))
        expected = -np.where(targets == 1, np.log(chances), np.log(1 - chances)).mean()
    else:
        targets = random.normal(size=40)
        expected = ((out[:, 0] - targets) ** 2).mean()
    assert head(vectors, torch.from_numpy(targets)).item() == pytest.approx(expected, rel=1e-5)


def test_start_and_dropout(vectors):
    torch.manual_seed(0)
    head = TaskHead(400, 500, "ce")
    assert head.linear.weight.std().item() == pytest.approx(0.02, rel=0.02) and not head.linear.bias.any()
    assert head.dropout.p == 0.2
    small = TaskHead(8, 3, "ce").train()
    torch.testing.assert_close(torch.from_numpy(small.outputs(vectors.numpy())), small.linear(vectors).detach())


def test_a_number_has_one_output():
    with pytest.raises(ValueError, match="one output"):
        TaskHead(8, 2, "mse")
