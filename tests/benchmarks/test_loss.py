"""Batch-all triplet loss, forward + backward, beside sentence-transformers' own in the same run."""

from __future__ import annotations

import time
from functools import partial

import torch

DIMENSION, LABELS, MARGIN = 384, 5, 0.25


def batch(size: int):
    generator = torch.Generator().manual_seed(size)
    vectors = torch.nn.functional.normalize(torch.randn(size, DIMENSION, generator=generator), dim=1)
    return vectors, torch.randint(0, LABELS, (size,), generator=generator)


def ours(size: int):
    from sectioncls.losses import batch_all_triplet_loss

    vectors, labels = batch(size)

    def work():
        leaf = vectors.clone().requires_grad_()
        batch_all_triplet_loss(leaf, labels, MARGIN).backward()

    batch_all_triplet_loss(vectors[:64].clone().requires_grad_(), labels[:64], MARGIN).backward()
    return work


def theirs(size: int):
    from sentence_transformers.sentence_transformer.losses import BatchAllTripletLoss

    vectors, labels = batch(size)
    loss = BatchAllTripletLoss(None, margin=MARGIN)

    def work():
        leaf = vectors.clone().requires_grad_()
        loss.batch_all_triplet_loss(labels, leaf).backward()

    loss.batch_all_triplet_loss(labels[:64], vectors[:64].clone().requires_grad_()).backward()
    return work


def test_time_and_memory_at_1024(interleaved, peak_memory):
    times = interleaved({"ours": ours(1024), "sentence-transformers": theirs(1024)}, repeats=5)
    memory = {name: peak_memory(partial(make, 1024)) for name, make in (("ours", ours), ("theirs", theirs))}
    speed = times["sentence-transformers"] / times["ours"]
    saving = memory["theirs"] / memory["ours"]
    print(
        f"\nbatch-all triplet loss, B = 1024, 5 labels, dim 384: {1000 * times['ours']:.0f} ms, "
        f"sentence-transformers {1000 * times['sentence-transformers']:.0f} ms: {speed:.0f} x faster; "
        f"extra memory {memory['ours']:.0f} MB, theirs {memory['theirs']:.0f} MB: 1/{saving:.0f}"
    )
    assert speed >= 30
    assert saving >= 25


def test_large_batches(peak_memory):
    middle = peak_memory(partial(ours, 4096))
    work = ours(8192)
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    large = peak_memory(partial(ours, 8192))
    print(f"\nB = 4096: {middle:.0f} MB extra; B = 8192: {seconds:.1f} s, {large:.0f} MB extra")
    assert middle < 600
