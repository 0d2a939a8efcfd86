"""The gradient of big batches in chunks, and of several processes, against one pass over the whole batch."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from sectioncls.encoders import LinearHead, load_encoder
from sectioncls.losses import batch_all_triplet_loss, supcon_loss
from sectioncls.training import LabelBatches, Task
from sectioncls.training.backward import backward

WORDS = ["we", "the", "results", "show", "study", "aim", "data", "model", "patients", "background"]
TEXTS = [" ".join(WORDS[(i * k) % 10] for k in range(1, 3 + i % 7)) for i in range(24)]
LABELS = np.arange(24) % 3
LOSSES = {"triplet": partial(batch_all_triplet_loss, margin=0.5), "supcon": supcon_loss}


def task(encoder, objective):
    tokens = encoder.tokenise(TEXTS)
    targets = (torch.from_numpy(LABELS),)
    return Task("role", tokens, targets, LabelBatches(LABELS, tokens.lengths, 24, 0), objective, weight=0.5)


def gradients(module):
    return {name: weight.grad for name, weight in module.named_parameters() if weight.grad is not None}


def assert_same(ours, theirs, bound=1e-5):
    assert ours.keys() == theirs.keys()
    whole = float(torch.cat([grad.flatten() for grad in theirs.values()]).norm())
    for name, grad in theirs.items():
        # Some gradients are zero by nature (no distance feels a shift) and hold nothing but rounding.
        assert (ours[name] - grad).norm() <= bound * max(float(grad.norm()), whole / 100), name


@pytest.mark.parametrize("name", [*LOSSES, "ce"])
def test_chunks_give_the_gradient_of_one_pass(tiny_bert, name):
    whole, parts = load_encoder(tiny_bert, device="cpu").eval(), load_encoder(tiny_bert, device="cpu").eval()
    objective = LOSSES.get(name) or LinearHead(whole.dimension, ("a", "b", "c"), dropout=0.0)
    members = np.random.default_rng(0).permutation(24)
    expected = backward(whole, task(whole, objective), members, precision="float32")
    found = backward(parts, task(parts, objective), members, precision="float32", chunk=5)
    assert found == pytest.approx(expected, rel=1e-5)
    assert_same(gradients(parts), gradients(whole))


@pytest.mark.parametrize("name", LOSSES)
def test_chunks_are_exact_with_dropout(tiny_bert, name):
    whole, parts = load_encoder(tiny_bert, device="cpu").train(), load_encoder(tiny_bert, device="cpu").train()
    one = task(whole, LOSSES[name])
    members = np.argsort(one.tokens.lengths, kind="stable")
    torch.manual_seed(3)
    vectors = torch.cat([whole(one.tokens.batch(piece)) for piece in np.array_split(members, 4)])
    loss = 0.5 * LOSSES[name](vectors, torch.from_numpy(LABELS[members]))
    loss.backward()
    after = torch.rand(1)
    torch.manual_seed(3)
    found = backward(parts, task(parts, LOSSES[name]), members, precision="float32", chunk=6)
    assert 0.5 * found == pytest.approx(float(loss.detach()), rel=1e-6)
    assert_same(gradients(parts), gradients(whole), 1e-6)
    # What is drawn next is the same: a training in chunks of the whole batch is that of one pass.
    assert torch.equal(torch.rand(1), after)


def test_a_chunk_of_the_whole_batch_is_one_pass(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu").train()
    torch.manual_seed(1)
    backward(encoder, task(encoder, supcon_loss), np.arange(24), precision="float32", chunk=24)
    once = {name: grad.clone() for name, grad in gradients(encoder).items()}
    encoder.zero_grad()
    torch.manual_seed(1)
    backward(encoder, task(encoder, supcon_loss), np.arange(24), precision="float32")
    assert_same(gradients(encoder), once, 0.0)
