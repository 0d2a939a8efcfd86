"""The batch-all triplet loss against three plain loops and against sentence-transformers."""

from __future__ import annotations

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import BatchAllTripletLoss as Reference
from sentence_transformers.sentence_transformer.losses import BatchHardTripletLossDistanceFunction as Distances

from sectioncls.losses import BatchAllTripletLoss, batch_all_triplet_loss

METRICS = {"euclidean": Distances.euclidean_distance, "cosine": Distances.cosine_distance}


def naive(x: torch.Tensor, labels: torch.Tensor, margin: float, distance: str) -> torch.Tensor:
    """The definition, term by term; distance zero is a constant, as in the reference."""
    total, active = x.new_zeros(()), 0
    rows = torch.nn.functional.normalize(x, dim=1) if distance == "cosine" else x

    def d(i: int, j: int) -> torch.Tensor:
        if distance == "cosine":
            return 1 - rows[i] @ rows[j]
        square = ((rows[i] - rows[j]) ** 2).sum()
        return square.sqrt() if square > 0 else square * 0

    n = len(x)
    for a in range(n):
        for p in range(n):
            for q in range(n):
                if a != p and labels[a] == labels[p] and labels[a] != labels[q]:
                    term = d(a, p) - d(a, q) + margin
                    if term > 0:
                        total, active = total + term, active + 1
    return total / active if active else (x * 0).sum()


def value_and_gradient(loss, x, labels):
    leaf = x.clone().requires_grad_()
    value = loss(leaf, labels)
    value.backward()
    return value.detach(), leaf.grad


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("margin", [0.0, 0.2, 5.0])
def test_equals_three_loops(distance, margin):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(14, 6, dtype=torch.float64, generator=generator)
    labels = torch.tensor([0, 1, 2, 0, 1, 2, 0, 0, 0, 1, 3, 2, 2, 0])  # label 3 has no positive
    ours = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, margin, distance), x, labels)
    plain = value_and_gradient(lambda v, y: naive(v, y, margin, distance), x, labels)
    torch.testing.assert_close(ours[0], plain[0], rtol=1e-10, atol=0)
    assert (ours[1] - plain[1]).abs().max() <= 1e-10 * plain[1].abs().max()


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("margin", [0.1, 0.25, 1.0, 5.0])
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize("size", [8, 64, 300])
def test_equals_sentence_transformers(distance, margin, dtype, bound, size):
    generator = torch.Generator().manual_seed(size)
    x = torch.randn(size, 48, dtype=dtype, generator=generator) / 7
    labels = torch.randint(0, 5, (size,), generator=generator)
    reference = Reference(None, distance_metric=METRICS[distance], margin=margin)
    theirs = value_and_gradient(lambda v, y: reference.batch_all_triplet_loss(y, v), x, labels)
    ours = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, margin, distance), x, labels)
    assert abs(ours[0] - theirs[0]) <= bound * abs(theirs[0])
    assert (ours[1] - theirs[1]).abs().max() <= bound * theirs[1].abs().max()


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_gradcheck(distance):
    x = torch.randn(9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert torch.autograd.gradcheck(lambda v: batch_all_triplet_loss(v, labels, 0.7, distance), (x,))


def test_duplicate_rows_are_finite():
    x = torch.ones(6, 4)
    x[3:] *= 2
    x[5] = x[0]  # one text under two labels
    labels = torch.tensor([0, 0, 0, 1, 1, 1])
    value, gradient = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, 0.5), x, labels)
    assert torch.isfinite(value) and torch.isfinite(gradient).all() and value > 0


def test_margin_at_the_hinge_counts_as_the_definition():
    x = torch.tensor([[0.0], [0.0], [1.0], [1.0]], dtype=torch.float64)
    labels = torch.tensor([0, 0, 1, 1])
    assert batch_all_triplet_loss(x, labels, 1.0) == 0  # d(a,p)=0, d(a,n)=1: exactly at the hinge, not active
    assert batch_all_triplet_loss(x, labels, 1.5) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 0, 0, 0],  # no negative
        [0, 1, 2, 3],  # no positive
    ],
)
def test_no_valid_triplet_is_zero_with_a_graph(labels):
    x = torch.randn(4, 3)
    value, gradient = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y), x, torch.tensor(labels))
    assert value == 0
    assert (gradient == 0).all()


def test_bfloat16_is_computed_in_float32():
    x = torch.randn(32, 16, generator=torch.Generator().manual_seed(3)).bfloat16()
    labels = torch.randint(0, 3, (32,), generator=torch.Generator().manual_seed(4))
    value, gradient = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, 1.0), x, labels)
    exact, slope = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, 1.0), x.double(), labels)
    assert value == pytest.approx(exact.item(), rel=1e-5)
    assert gradient.dtype == torch.bfloat16
    assert (gradient.double() - slope).abs().max() <= 2**-7 * slope.abs().max()


def test_permutation_of_the_batch_changes_nothing():
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(20, 5, dtype=torch.float64, generator=generator)
    labels = torch.randint(0, 3, (20,), generator=generator)
    order = torch.randperm(20, generator=generator)
    value, gradient = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, 0.4), x, labels)
    shuffled, moved = value_and_gradient(lambda v, y: batch_all_triplet_loss(v, y, 0.4), x[order], labels[order])
    torch.testing.assert_close(value, shuffled)
    torch.testing.assert_close(gradient[order], moved)


def test_wrong_calls_say_so():
    with pytest.raises(ValueError, match="one label per row"):
        batch_all_triplet_loss(torch.randn(3, 2), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="euclidean"):
        batch_all_triplet_loss(torch.randn(3, 2), torch.tensor([0, 1, 1]), distance="manhattan")


def test_module_is_a_drop_in():
    class Model(torch.nn.Module):
        def forward(self, features):
            return {"sentence_embedding": features["x"]}

    x, labels = torch.randn(10, 4, dtype=torch.float64), torch.tensor([0, 1] * 5)
    ours = BatchAllTripletLoss(Model(), margin=0.3)
    theirs = Reference(Model(), margin=0.3)
    torch.testing.assert_close(ours([{"x": x}], labels), theirs([{"x": x}], labels), rtol=1e-10, atol=0)
    assert ours.get_config_dict() == {"distance": "euclidean", "margin": 0.3}
    assert "1703.07737" in ours.citation
