"""Every label loss against its definition, written out term by term in float64."""

from __future__ import annotations

import math

import pytest
import torch

from sectioncls.losses import (
    ArcFaceLoss,
    CentreLoss,
    LabelLoss,
    batch_hard_triplet_loss,
    batch_semi_hard_triplet_loss,
    contrastive_loss,
    multi_similarity_loss,
    npair_loss,
    pairs_of,
    soft_triplet_loss,
    supcon_loss,
)

LABELS = torch.tensor([0, 1, 2, 0, 1, 2, 0, 0, 1, 3, 2, 0])  # label 3 has no positive
GROUPS = torch.tensor([0, 1, 2, 3, 4, 5, 3, 7, 1, 9, 2, 0])  # rows 3 and 6, 1 and 8, … are one text
WEIGHTS = torch.linspace(0.2, 1.7, 12, dtype=torch.float64)


def rows(n: int = 12, dim: int = 5) -> torch.Tensor:
    return torch.randn(n, dim, dtype=torch.float64, generator=torch.Generator().manual_seed(7))


def partners(labels, groups, a):
    """Positives and negatives of row a, by the definition."""
    apart = [k for k in range(len(labels)) if k != a and (groups is None or groups[k] != groups[a])]
    same = [k for k in apart if labels[k] == labels[a]]
    return same, [k for k in apart if labels[k] != labels[a]]


def cosine(x, i, j):
    return float(x[i] @ x[j] / (x[i].norm() * x[j].norm()))


def metric(x, i, j, distance):
    return 1 - cosine(x, i, j) if distance == "cosine" else float((x[i] - x[j]).norm())


def mean(terms):
    """Weighted mean of (value, weight) pairs."""
    total = sum(w for _, w in terms)
    return sum(v * w for v, w in terms) / total if terms else 0.0


def naive_supcon(x, labels, groups, weights, t=0.1):
    terms = []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        if same:
            below = sum(math.exp(cosine(x, a, k) / t) for k in same + other)
            value = -sum(math.log(math.exp(cosine(x, a, p) / t) / below) for p in same) / len(same)
            terms.append((value, float(weights[a])))
    return mean(terms)


def naive_npair(x, labels, groups, weights, t=0.1):
    terms = []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        if same and other:
            each = [math.log(1 + sum(math.exp((cosine(x, a, n) - cosine(x, a, p)) / t) for n in other)) for p in same]
            terms.append((sum(each) / len(each), float(weights[a])))
    return mean(terms)


def naive_hard(x, labels, groups, weights, margin=0.25, distance="euclidean"):
    terms = []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        if same and other:
            gap = max(metric(x, a, p, distance) for p in same) - min(metric(x, a, n, distance) for n in other)
            value = math.log(1 + math.exp(gap)) if margin is None else max(0.0, gap + margin)
            terms.append((value, float(weights[a])))
    return mean(terms)


def naive_semi_hard(x, labels, groups, weights, margin=0.25, distance="euclidean"):
    terms = []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        for p in same if other else []:
            near = metric(x, a, p, distance)
            far = sorted(metric(x, a, n, distance) for n in other)
            chosen = next((d for d in far if d > near), far[-1])
            terms.append((max(0.0, near - chosen + margin), float(weights[a])))
    return mean(terms)


def naive_soft(x, labels, groups, distance="euclidean"):
    terms = []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        gaps = [metric(x, a, p, distance) - metric(x, a, n, distance) for p in same for n in other]
        terms += [(math.log(1 + math.exp(gap)), 1.0) for gap in gaps]
    return mean(terms)


def naive_contrastive(x, labels, groups, weights, margin=0.5, distance="euclidean"):
    near, far = [], []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        near += [(metric(x, a, p, distance) ** 2, float(weights[a])) for p in same]
        far += [(max(0.0, margin - metric(x, a, n, distance)) ** 2, float(weights[a])) for n in other]
    return (mean(near) + mean(far)) / 2


def naive_multi_similarity(x, labels, groups, weights, alpha=2.0, beta=50.0, base=0.5, epsilon=0.1):
    terms = []
    for a in range(len(x)):
        same, other = partners(labels, groups, a)
        like, unlike = {p: cosine(x, a, p) for p in same}, {n: cosine(x, a, n) for n in other}
        hard_p = [s for s in like.values() if unlike and s - epsilon < max(unlike.values())]
        hard_n = [s for s in unlike.values() if not like or s + epsilon > min(like.values())]
        if not like:
            hard_n = []
        if hard_p or hard_n:
            pull = math.log(1 + sum(math.exp(-alpha * (s - base)) for s in hard_p)) / alpha
            push = math.log(1 + sum(math.exp(beta * (s - base)) for s in hard_n)) / beta
            terms.append((pull + push, float(weights[a])))
    return mean(terms)


PAIRED = [
    (supcon_loss, naive_supcon),
    (npair_loss, naive_npair),
    (batch_hard_triplet_loss, naive_hard),
    (batch_semi_hard_triplet_loss, naive_semi_hard),
    (contrastive_loss, naive_contrastive),
    (multi_similarity_loss, naive_multi_similarity),
]


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(("loss", "naive"), PAIRED)
def test_equals_its_definition(loss, naive, groups, weights):
    plain = torch.ones(12) if weights is None else weights
    value = loss(rows(), LABELS, groups=groups, weights=weights)
    assert float(value) == pytest.approx(naive(rows(), LABELS, groups, plain), rel=1e-9)


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_triplets_in_both_distances(distance):
    x, ones = rows(), torch.ones(12)
    assert float(batch_hard_triplet_loss(x, LABELS, None, distance)) == pytest.approx(
        naive_hard(x, LABELS, None, ones, None, distance), rel=1e-9
    )
    assert float(soft_triplet_loss(x, LABELS, distance, groups=GROUPS)) == pytest.approx(
        naive_soft(x, LABELS, GROUPS, distance), rel=1e-9
    )
    assert float(contrastive_loss(x, LABELS, 1.2, distance)) == pytest.approx(
        naive_contrastive(x, LABELS, None, ones, 1.2, distance), rel=1e-9
    )


ALL = [loss for loss, _ in PAIRED] + [soft_triplet_loss]


@pytest.mark.parametrize("loss", ALL)
def test_gradients_are_those_of_the_value(loss):
    x = rows().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: loss(v, LABELS), (x,), eps=1e-7, atol=1e-5)


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("labels", [[0] * 6, [0, 1, 2, 3, 4, 5]])
def test_batches_without_positives_or_negatives_are_finite(loss, labels):
    x = rows(6).float().requires_grad_()
    value = loss(x, torch.tensor(labels))
    value.backward()
    assert torch.isfinite(value) and torch.isfinite(x.grad).all()


@pytest.mark.parametrize("loss", ALL)
def test_duplicates_and_bfloat16_are_finite(loss):
    x = rows(6).bfloat16()
    x[3:] = x[:3]
    x = x.requires_grad_()
    value = loss(x, torch.tensor([0, 0, 1, 0, 1, 1]))
    value.backward()
    assert torch.isfinite(value) and torch.isfinite(x.grad).all()
    assert value.dtype == torch.float32


@pytest.mark.parametrize("loss", ALL)
def test_one_text_for_all_rows_costs_nothing_with_groups(loss):
    x = rows(4).requires_grad_()
    value = loss(x, torch.tensor([0, 0, 1, 1]), groups=torch.zeros(4))
    value.backward()
    assert value == 0 and (x.grad == 0).all()


def test_masks_leave_out_the_row_and_its_text():
    pairs = pairs_of(torch.tensor([0, 0, 1, 1]), torch.tensor([5, 6, 5, 7]))
    assert pairs.positive.int().tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert pairs.negative.int().tolist() == [[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 0], [1, 1, 0, 0]]


def test_arcface_by_hand():
    loss = ArcFaceLoss(2, 2, margin=0.5, scale=4.0).double()
    with torch.no_grad():
        loss.directions.copy_(torch.tensor([[1.0, 0.0], [0.0, 3.0]]))
    angle = 0.3
    x = 2 * torch.tensor([[math.cos(angle), math.sin(angle)]], dtype=torch.float64)
    own, other = 4 * math.cos(angle + 0.5), 4 * math.sin(angle)
    expected = math.log(math.exp(own) + math.exp(other)) - own
    assert loss(x, torch.tensor([0])).item() == pytest.approx(expected, rel=1e-9)


def test_arcface_on_its_direction_is_finite():
    loss = ArcFaceLoss(3, 2)
    x = loss.directions.detach().clone().requires_grad_()
    value = loss(x, torch.tensor([0, 1]))
    value.backward()
    assert torch.isfinite(x.grad).all()


def test_centre_loss_is_half_the_squared_distance():
    loss = CentreLoss(2, 2)
    with torch.no_grad():
        loss.centres.copy_(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    assert loss(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0, 1])).item() == pytest.approx((4 + 25) / 4)


def test_label_loss_in_sentence_transformers_form():
    class Model(torch.nn.Module):
        def forward(self, features):
            return {"sentence_embedding": features["x"]}

    loss = LabelLoss(Model(), supcon_loss, temperature=0.2)
    assert loss([{"x": rows()}], LABELS) == supcon_loss(rows(), LABELS, 0.2)
    assert loss.get_config_dict() == {"loss": "supcon_loss", "temperature": 0.2}
