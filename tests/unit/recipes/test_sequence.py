"""Sequence heads on made-up vectors: what only context can tell is learnt, the order of articles changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from sectioncls.corpora import Split
from sectioncls.errors import InputError
from sectioncls.recipes.sequence import Lesson, SequenceOptions, Sequences, sequences_of, train_sequence_heads

QUICK = SequenceOptions(hidden=8, dropout=0.0, epochs=8, learning_rate=2e-2, articles=8)


def made_up(articles, seed, flip=False):
    """Sentences bear noise, the first of an article one of two signs; all labels are that sign's."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(articles * 5, 6)).astype(np.float32) / 4
    signs = random.integers(0, 2, size=articles)
    vectors[::5, 0] += 4 * signs - 2
    labels = np.repeat(1 - signs if flip else signs, 5)
    return Sequences(vectors, labels, tuple(np.arange(articles * 5).reshape(-1, 5)))


def lesson(name="one", flip=False, seed=0):
    return Lesson(name, ("up", "down"), made_up(60, seed, flip), made_up(20, seed + 1, flip))


def test_what_another_sentence_says_is_learnt():
    done = train_sequence_heads([lesson()], QUICK)
    test = made_up(30, 9)
    head = done.heads["one"]
    assert (head.predict(test.vectors, test.articles) == test.labels).mean() > 0.95
    alone = head.predict(test.vectors, [])
    others = np.arange(150) % 5 > 0
    assert (alone == test.labels)[others].mean() < 0.7
    assert done.dev["one"] == max(row["dev one"] for row in done.history)


def test_corpora_share_the_reader_and_keep_their_labels():
    other = replace(lesson("two", flip=True, seed=5), labels=("down", "up"))
    done = train_sequence_heads([lesson(), other], QUICK)
    assert done.heads["one"].reader is done.heads["two"].reader
    assert done.heads["one"].linear is not done.heads["two"].linear
    assert min(done.dev.values()) > 0.95
    assert done.heads["two"].labels == ("down", "up")


def same(left, right):
    weights = right.state_dict()
    return all(torch.equal(weight, weights[name]) for name, weight in left.state_dict().items())


def split_of(order):
    random = np.random.default_rng(0)
    ids = [f"a{i // 4}" for i in range(80)]
    vectors = random.normal(size=(80, 6)).astype(np.float32)
    labels = np.arange(80) // 2 % 2
    split = Split(
        name="train",
        texts=tuple(f"Sheep {i}." for i in order),
        labels=labels[order],
        label_names=("up", "down"),
        article_ids=tuple(ids[i] for i in order),
        index=(np.arange(80) % 4).astype(np.int32)[order],
    )
    return sequences_of(split, vectors[order])


def test_a_permuted_file_gives_the_same_head():
    plain, moved = split_of(np.arange(80)), split_of(np.random.default_rng(3).permutation(80))
    options = replace(QUICK, epochs=2, dropout=0.5)
    first, second, third = (
        train_sequence_heads([Lesson("one", ("up", "down"), part, part)], options, seed=seed).heads["one"]
        for part, seed in ((plain, 4), (moved, 4), (plain, 5))
    )
    assert same(first, second) and not same(first, third)


def test_the_callers_random_state_is_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train_sequence_heads([lesson()], replace(QUICK, epochs=1))
    assert torch.equal(torch.rand(3), expected)


def test_patience_stops_and_the_best_state_is_kept():
    noise = lesson()
    random = np.random.default_rng(0)
    noise = replace(noise, dev=replace(noise.dev, labels=random.integers(0, 2, size=100)))
    done = train_sequence_heads([noise], replace(QUICK, epochs=50, patience=2))
    scores = [row["dev one"] for row in done.history]
    assert len(scores) < 50
    assert int(np.argmax(scores)) == len(scores) - 3  # two worse ones came after the best
    assert done.dev["one"] == max(scores)


def test_bad_lessons_are_input_errors():
    with pytest.raises(InputError, match="no lesson"):
        train_sequence_heads([])
    with pytest.raises(InputError, match="one name"):
        train_sequence_heads([lesson(), lesson()])
    with pytest.raises(InputError, match="no article in dev"):
        train_sequence_heads([replace(lesson(), dev=replace(lesson().dev, articles=()))])
    wide = replace(lesson("two").dev, vectors=np.zeros((100, 7), dtype=np.float32))
    with pytest.raises(InputError, match="7 dimensions"):
        train_sequence_heads([lesson(), replace(lesson("two"), dev=wide)])
