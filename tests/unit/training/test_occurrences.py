"""Triples as rows: what stands where, batches of whole triples, and the gradient of InfoNCE in chunks."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.encoders import load_encoder
from sectioncls.errors import InputError
from sectioncls.losses import infonce_loss, triplet_margin_loss
from sectioncls.training import Task, TripleBatches, occurrences_of
from sectioncls.training.backward import backward

WORDS = ["we", "the", "results", "show", "study", "aim", "data", "model", "patients", "background"]
TEXTS = [" ".join(WORDS[(i * k) % 10] for k in range(1, 3 + i % 7)) for i in range(20)]


def triples(count=12, texts=20, seed=0):
    random = np.random.default_rng(seed)
    negatives = random.integers(-1, texts, size=(count, 2))
    return random.integers(texts, size=count), random.integers(texts, size=count), negatives


def test_rows_by_hand(tiny_bert):
    tokens = load_encoder(tiny_bert, device="cpu").tokenise(TEXTS[:6])
    found = occurrences_of(tokens, [4, 0], [1, 2], [[3, -1], [5, 4]], [0, 1, 2, 3, 7, 5])
    assert found.places.tolist() == [4, 1, 3, 0, 2, 5, 4]
    assert found.text.tolist() == [7, 1, 3, 0, 2, 5, 7]
    assert found.group.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert found.role.tolist() == [0, 1, 2, 0, 1, 2, 2]
    assert found.firsts.tolist() == [0, 3, 7]
    assert found.lengths.tolist() == tokens.lengths[found.places].tolist()
    rows = np.array([6, 1])
    assert torch.equal(found.batch(rows).ids, tokens.batch(np.array([4, 1])).ids)
    none = occurrences_of(tokens, [], [], np.zeros((0, 2)), np.arange(6))
    assert none.items == 0 and none.firsts.tolist() == [0]


@given(count=st.integers(1, 80), batch=st.integers(1, 20), seed=st.integers(0, 5), epoch=st.integers(0, 3))
@settings(deadline=None, max_examples=80)
def test_every_triple_once_and_whole(count, batch, seed, epoch):
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 6, count)
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    sampler = TripleBatches(firsts, random.integers(3, 40, firsts[-1]), batch, seed)
    batches = sampler.batches(epoch)
    assert len(batches) == len(sampler) == -(-count // batch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(firsts[-1]))
    group = np.repeat(np.arange(count), sizes)
    for rows in batches:
        held, counts = np.unique(group[rows], return_counts=True)
        assert len(held) <= batch and (counts == sizes[held]).all()
    again = TripleBatches(firsts, sampler.longest.repeat(sizes), batch, seed).batches(epoch)
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))


def test_triples_of_like_length_share_a_batch():
    random = np.random.default_rng(0)
    firsts = np.arange(0, 6001, 3)
    lengths = np.clip(random.lognormal(4.5, 0.6, 6000), 3, 300).astype(int)
    longest = lengths.reshape(-1, 3).max(1)
    batches = TripleBatches(firsts, lengths, 16, 0).batches(0)
    padded = sum(16 * longest[rows[::3] // 3].max() for rows in batches)
    assert longest.sum() / padded > 0.9
    other = TripleBatches(firsts, lengths, 16, 0).batches(1)
    assert any((a != b).any() for a, b in zip(batches, other, strict=True))


def test_no_triple_is_an_error():
    with pytest.raises(InputError, match="no triple"):
        TripleBatches([0], [], 4, 0)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("loss", [partial(infonce_loss, temperature=0.1), partial(triplet_margin_loss, margin=1.0)])
def test_chunks_give_the_gradient_of_one_pass(tiny_bert, loss, dropout):
    whole, parts = (load_encoder(tiny_bert, device="cpu").train(dropout) for _ in range(2))
    rows = occurrences_of(whole.tokenise(TEXTS), *triples(), np.arange(20))
    task = Task("links", rows, rows.targets, TripleBatches(rows.firsts, rows.lengths, 12, 0), loss, weight=0.5)
    members = np.argsort(rows.lengths, kind="stable")
    pieces = np.array_split(members, -(-len(members) // 5))
    torch.manual_seed(3)
    vectors = torch.cat([whole(rows.batch(piece)) for piece in pieces])
    value = loss(vectors, *(column[members] for column in rows.targets))
    (0.5 * value).backward()
    torch.manual_seed(3)
    found = backward(parts, task, members, precision="float32", chunk=5)
    assert found == pytest.approx(float(value.detach()), rel=1e-5)
    gradients = [{n: w.grad for n, w in m.named_parameters() if w.grad is not None} for m in (parts, whole)]
    norm = float(torch.cat([grad.flatten() for grad in gradients[1].values()]).norm())
    for name, grad in gradients[1].items():
        assert (gradients[0][name] - grad).norm() <= 1e-5 * max(float(grad.norm()), norm / 100), name
