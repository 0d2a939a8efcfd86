"""InfoNCE and the triplet margin over triples against loops in float64, and against torch's own losses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sectioncls.losses import infonce_loss, known_pairs, triplet_margin_loss


def batch(seed: int, groups: int = 9, texts: int = 14, negatives: int = 2, dim: int = 6):
    """A batch with repeated texts, absent negatives and shuffled rows: vectors, text, group, role."""
    random = np.random.default_rng(seed)
    rows = []
    for group in range(groups):
        rows += [(int(random.integers(texts)), 10 * group, 0), (int(random.integers(texts)), 10 * group, 1)]
        rows += [(int(random.integers(texts)), 10 * group, 2) for _ in range(random.integers(negatives + 1))]
    order = random.permutation(len(rows))
    text, group, role = (torch.tensor([rows[i][column] for i in order]) for column in range(3))
    vectors = torch.from_numpy(random.normal(size=(len(rows), dim)))
    return vectors, text, group, role


def naive(vectors, text, group, role, temperature, known=frozenset(), log_q=None):
    """The definition: for every query all candidates of the batch but its own text and its other positives."""
    rows = range(len(text))
    pairs = set(known)
    for q in rows:
        for p in rows:
            if role[q] == 0 and role[p] == 1 and group[q] == group[p]:
                pairs.add((int(text[q]), int(text[p])))
    losses = []

    def score(q, c):
        return float(vectors[q] @ vectors[c]) / temperature - (0 if log_q is None else float(log_q[text[c]]))

    for q in rows:
        if role[q] != 0:
            continue
        own = next(p for p in rows if role[p] == 1 and group[p] == group[q])
        total = 0.0
        for c in rows:
            if role[c] == 0:
                continue
            pair = (int(text[q]), int(text[c]))
            if c == own or (pair not in pairs and text[c] != text[q]):
                total += math.exp(score(q, c))
        losses.append(math.log(total) - score(q, own))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_infonce_is_the_naive_loop_with_masks(seed, temperature):
    vectors, text, group, role = batch(seed)
    found = infonce_loss(vectors, text, group, role, temperature)
    assert float(found) == pytest.approx(naive(vectors, text, group, role, temperature), abs=1e-12)
    pairs = [(1, 2), (1, 3), (5, 0), (13, 13), (4, 9)]
    known = known_pairs(*zip(*pairs, strict=True), texts=14)
    found = infonce_loss(vectors, text, group, role, temperature, known=known)
    assert float(found) == pytest.approx(naive(vectors, text, group, role, temperature, pairs), abs=1e-12)


def test_frequent_texts_may_be_corrected_for():
    vectors, text, group, role = batch(8)
    log_q = torch.linspace(-5, -1, 14, dtype=torch.float64)
    found = infonce_loss(vectors, text, group, role, 0.5, log_q=log_q)
    assert float(found) == pytest.approx(naive(vectors, text, group, role, 0.5, log_q=log_q), abs=1e-12)
    even = infonce_loss(vectors, text, group, role, 0.5, log_q=torch.full((14,), -2.0))
    assert float(even) == pytest.approx(float(infonce_loss(vectors, text, group, role, 0.5)))


def test_without_repeats_it_is_cross_entropy():
    random = torch.Generator().manual_seed(1)
    queries, candidates = (torch.randn(n, 5, dtype=torch.float64, generator=random) for n in (6, 12))
    text, group = torch.arange(18), torch.cat([torch.arange(6)] * 3)
    role = torch.tensor([0] * 6 + [1] * 6 + [2] * 6)
    found = infonce_loss(torch.cat([queries, candidates]), text, group, role, 0.5)
    expected = torch.nn.functional.cross_entropy(queries @ candidates.T / 0.5, torch.arange(6))
    torch.testing.assert_close(found, expected)


def test_a_masked_row_gets_no_gradient():
    # Query 0 has the positives 1 and 2 (two groups); 3 is a known positive of it that is group 1's hard negative.
    text = torch.tensor([0, 1, 0, 2, 3])
    group, role = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([0, 1, 0, 1, 2])
    vectors = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = infonce_loss(vectors, text, group, role, known=known_pairs([0], [3], 4))
    assert float(loss) == 0  # nothing is left but each query's own positive
    pushed = infonce_loss(vectors, text, group, role)
    pushed.backward()
    assert float(pushed) > 0 and vectors.grad[4].norm() > 0


@pytest.mark.parametrize("loss", [infonce_loss, triplet_margin_loss])
def test_gradients_are_those_of_the_formula(loss):
    vectors, text, group, role = batch(3, groups=4)
    vectors = (vectors * 0.3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: loss(x, text, group, role), (vectors,))


@pytest.mark.parametrize("loss", [infonce_loss, triplet_margin_loss])
def test_nothing_to_learn_is_zero_with_a_graph(loss):
    vectors = torch.ones(3, 4, requires_grad=True)
    value = loss(vectors, torch.arange(3), torch.zeros(3, dtype=torch.long), torch.tensor([1, 1, 1]))
    value.backward()
    assert float(value) == 0 and not vectors.grad.any()


@pytest.mark.parametrize("loss", [infonce_loss, triplet_margin_loss])
def test_sixteen_bits_are_widened(loss):
    vectors, text, group, role = batch(2)
    low = vectors.bfloat16()
    assert float(loss(low, text, group, role)) == float(loss(low.float(), text, group, role))


def test_margin_is_torchs_triplet_loss():
    random = torch.Generator().manual_seed(4)
    q, p, n, m = (torch.randn(7, 5, dtype=torch.float64, generator=random) for _ in range(4))
    text, role = torch.arange(28), torch.repeat_interleave(torch.tensor([0, 1, 2, 2]), 7)
    group = torch.cat([torch.arange(7)] * 4)
    found = triplet_margin_loss(torch.cat([q, p, n, m]), text, group, role, margin=1.0)
    theirs = torch.nn.TripletMarginLoss(margin=1.0, eps=0.0)
    torch.testing.assert_close(found, (theirs(q, p, n) + theirs(q, p, m)) / 2)


def test_margin_on_the_naive_loop_and_on_touching_rows():
    vectors, text, group, role = batch(6, groups=12)
    terms = []
    for n in (i for i in range(len(text)) if role[i] == 2):
        q, p = (next(i for i in range(len(text)) if group[i] == group[n] and role[i] == kind) for kind in (0, 1))
        if text[n] not in (text[q], text[p]):
            terms.append(max(0.0, float((vectors[q] - vectors[p]).norm() - (vectors[q] - vectors[n]).norm()) + 0.7))
    found = triplet_margin_loss(vectors, text, group, role, margin=0.7)
    assert float(found) == pytest.approx(sum(terms) / len(terms), abs=1e-12)
    same = torch.ones(3, 4, requires_grad=True)
    triplet_margin_loss(same, torch.arange(3), torch.zeros(3, dtype=torch.long), torch.arange(3)).backward()
    assert torch.isfinite(same.grad).all()
