from __future__ import annotations

import numpy as np
import pytest
import torch

from sectioncls.encoders import balanced_weights
from sectioncls.errors import UsageError
from sectioncls.losses import batch_all_triplet_loss, npair_loss, supcon_loss
from sectioncls.recipes.objectives import LOSSES, build_objective, parse_objective

SETTINGS = {"margin": 0.3, "distance": "cosine", "temperature": 0.2}
X = torch.randn(12, 6, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(12) % 3
GROUPS = torch.arange(12)
WEIGHTS = torch.linspace(0.5, 1.5, 12)


def build(text):
    return build_objective(text, 6, ("a", "b", "c"), SETTINGS, 0.0, seed=1)


def test_sums_are_read():
    assert parse_objective("triplet") == [(1.0, "triplet")]
    assert parse_objective("ce + 0.5*supcon") == [(1.0, "ce"), (0.5, "supcon")]


@pytest.mark.parametrize("text", ["", "tripplet", "ce+", "2ce", "-1*ce", "ce+ce", "centre", "ce*supcon"])
def test_what_is_no_objective_is_refused(text):
    with pytest.raises(UsageError):
        parse_objective(text)


def test_a_sum_is_the_sum_with_the_settings_of_each():
    expected = 2 * batch_all_triplet_loss(X, LABELS, 0.3, "cosine") + 0.5 * supcon_loss(X, LABELS, 0.2, weights=WEIGHTS)
    torch.testing.assert_close(build("2*triplet+0.5*supcon")(X, LABELS, GROUPS, WEIGHTS), expected)


def test_repeated_texts_are_no_pairs():
    groups = torch.tensor([0, 1, 2, 0, 1, 2, 6, 7, 8, 9, 10, 11])
    expected = npair_loss(X, LABELS, 0.2, groups=groups)
    torch.testing.assert_close(build("npair")(X, LABELS, groups, None), expected)


@pytest.mark.parametrize("name", [*LOSSES, "ce", "arcface", "ce+0.1*centre"])
def test_every_objective_gives_a_gradient(name):
    x = X.clone().requires_grad_()
    value = build(name)(x, LABELS, GROUPS, WEIGHTS)
    value.backward()
    assert torch.isfinite(value) and x.grad.abs().sum() > 0


def test_weights_of_a_head_are_drawn_by_the_seed():
    one, same = build("ce").head, build("ce").head
    other = build_objective("ce", 6, ("a", "b", "c"), SETTINGS, 0.0, seed=2).head
    assert torch.equal(one.linear.weight, same.linear.weight)
    assert not torch.equal(one.linear.weight, other.linear.weight)


def test_label_smoothing_and_row_weights_of_the_classifier():
    head = build_objective("ce", 6, ("a", "b", "c"), SETTINGS, 0.1, seed=1).head.eval()
    logits = head.linear(X)
    each = torch.nn.functional.cross_entropy(logits, LABELS, reduction="none", label_smoothing=0.1)
    torch.testing.assert_close(head(X, LABELS, WEIGHTS), (each * WEIGHTS).sum() / WEIGHTS.sum())


def test_what_uses_the_margin():
    assert build("triplet").uses("margin") and build("ce+semi-hard").uses("margin")
    assert not build("supcon").uses("margin")


def test_class_weights_are_scikit_learns_and_weigh_the_loss():
    from sklearn.utils.class_weight import compute_class_weight

    labels = np.array([0, 0, 0, 0, 2, 2])
    weights = balanced_weights(labels, 3)
    assert weights[1] == 0
    np.testing.assert_allclose(weights[[0, 2]], compute_class_weight("balanced", classes=np.array([0, 2]), y=labels))
    given = (1.0, 2.0, 4.0)
    head = build_objective("ce", 6, ("a", "b", "c"), SETTINGS, 0.0, seed=1, dropout=0.5, class_weights=given).head
    assert head.dropout.p == 0.5
    head = head.eval()
    logits = head.linear(X)
    expected = torch.nn.functional.cross_entropy(logits, LABELS, weight=torch.tensor(given))
    torch.testing.assert_close(head(X, LABELS), expected)
    own = torch.tensor(given)[LABELS] * WEIGHTS
    each = torch.nn.functional.cross_entropy(logits, LABELS, reduction="none")
    torch.testing.assert_close(head(X, LABELS, WEIGHTS), (each * own).sum() / own.sum())
    assert "class_weights" not in head.state_dict()


def test_class_weights_without_a_classifier_are_refused():
    with pytest.raises(UsageError, match="class weights do nothing with the objective supcon"):
        build_objective("supcon", 6, ("a", "b", "c"), SETTINGS, 0.0, seed=1, class_weights=(1, 1, 1))
