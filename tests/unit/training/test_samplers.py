"""LabelBatches: everything once, two labels twice wherever possible, little padding, a pure function of the seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.errors import InputError
from sectioncls.training import LabelBatches, LengthBatches


def poor(batches, labels):
    return sum((np.bincount(labels[rows]) >= 2).sum() < 2 for rows in batches)


@given(
    counts=st.lists(st.integers(0, 60), min_size=2, max_size=5).filter(lambda c: sum(n > 0 for n in c) >= 2),
    batch=st.integers(4, 40),
    seed=st.integers(0, 9),
)
@settings(deadline=None, max_examples=150)
def test_every_row_once_and_sizes_even(counts, batch, seed):
    labels = np.repeat(np.arange(len(counts)), counts)
    sampler = LabelBatches(labels, np.arange(len(labels)) % 17, batch, seed)
    batches = sampler.batches(0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(labels)))
    assert len(batches) == len(sampler)
    sizes = [len(rows) for rows in batches]
    assert max(sizes) <= batch and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("counts", "batch"),
    [
        ([964, 36], 32),  # 32 batches, 18 pairs of the rare label, see below
        ([400, 400, 200], 8),
        ([5367, 349, 2366, 1178, 740], 32),  # the shape of PMC-Sents-FULL
        ([900, 10, 10, 10, 10], 64),
        ([50, 50], 4),
    ],
)
def test_as_many_good_batches_as_pairs_permit(counts, batch):
    labels = np.repeat(np.arange(len(counts)), counts)
    lengths = np.random.default_rng(1).integers(3, 60, len(labels))
    for epoch in range(3):
        batches = LabelBatches(labels, lengths, batch, 5).batches(epoch)
        pairs = sum(count // 2 for count in sorted(counts)[:-1])
        assert poor(batches, labels) == max(0, len(batches) - pairs)


def test_padding_is_small():
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 8000)
    lengths = np.clip(random.lognormal(3.1, 0.5, 8000), 3, 128).astype(int)
    batches = LabelBatches(labels, lengths, 32, 0).batches(0)
    padded = sum(len(rows) * lengths[rows].max() for rows in batches)
    assert lengths.sum() / padded > 0.9


def test_function_of_seed_and_epoch():
    labels, lengths = np.arange(100) % 3, np.arange(100)
    same = [LabelBatches(labels, lengths, 10, 3).batches(2) for _ in range(2)]
    assert all((a == b).all() for a, b in zip(*same, strict=True))
    other = LabelBatches(labels, lengths, 10, 3).batches(3)
    assert any((a != b).any() for a, b in zip(same[0], other, strict=True))


def test_iteration_goes_through_the_epochs():
    sampler = LabelBatches(np.arange(40) % 2, np.ones(40), 8, 0)
    first, second = list(sampler), list(sampler)
    assert first == [rows.tolist() for rows in sampler.batches(0)]
    assert second == [rows.tolist() for rows in sampler.batches(1)]
    sampler.set_epoch(0)
    assert list(sampler) == first


def test_wrong_calls():
    with pytest.raises(InputError, match="fewer than two labels"):
        LabelBatches([1, 1, 1, 1], [1, 1, 1, 1], 4, 0)
    with pytest.raises(InputError, match="at least 4"):
        LabelBatches([0, 1], [1, 1], 2, 0)


def test_drives_a_torch_loader():
    import torch

    data = torch.utils.data.TensorDataset(torch.arange(40))
    loader = torch.utils.data.DataLoader(data, batch_sampler=LabelBatches(np.arange(40) % 2, np.ones(40), 8, 0))
    seen = torch.cat([rows for (rows,) in loader])
    assert sorted(seen.tolist()) == list(range(40))


def test_batches_by_length_hold_every_row_once_and_little_padding():
    lengths = np.random.default_rng(0).integers(5, 500, size=1001)
    sampler = LengthBatches(lengths, 8, seed=3)
    for epoch in (0, 1):
        batches = sampler.batches(epoch)
        assert len(batches) == len(sampler) == 126
        assert sorted(np.concatenate(batches)) == list(range(1001))
        assert {len(rows) for rows in batches} <= {7, 8}
        padded = sum(len(rows) * lengths[rows].max() for rows in batches)
        assert lengths.sum() / padded > 0.9
    first, again, second = (sampler.batches(epoch) for epoch in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_batches_by_length_of_nothing_are_refused():
    with pytest.raises(InputError, match="nothing to train"):
        LengthBatches([], 8, seed=0)
    assert [rows.tolist() for rows in LengthBatches([7], 8, seed=0).batches(0)] == [[0]]
