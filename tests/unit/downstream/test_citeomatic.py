from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import citeomatic
from sectioncls.downstream.citeomatic import train_citeomatic
from sectioncls.downstream.latent import fit_latent
from sectioncls.errors import InputError


def papers(count=60, seed=0):
    """Four groups: two share each vocabulary, and citations go between groups whose words differ."""
    random = np.random.default_rng(seed)
    pools = [[f"{letter}{number}" for number in range(12)] for letter in ("sheep", "deck", "tide", "moth")]
    texts = [" ".join(random.choice(pools[row % 4], 8)) for row in range(count)]
    pairs = [(a, b) for a in range(count) for b in range(count) if a % 4 == 0 and b % 4 == 1 and random.random() < 0.4]
    return texts, np.array(pairs)


def margin_of(embed, texts):
    rows = embed(texts)
    return float((rows[0::4] @ rows[1::4].T).mean() - (rows[0::4] @ rows[2::4].T).mean())


def test_what_cites_each_other_comes_near_though_no_word_is_shared():
    texts, pairs = papers()
    learnt = train_citeomatic(texts, pairs, 1, dimensions=16, epochs=30, rate=0.02, batch=32)
    assert abs(margin_of(fit_latent(texts, 1, dimensions=16), texts)) < 0.2
    assert margin_of(learnt, texts) > 0.3
    np.testing.assert_allclose(np.linalg.norm(learnt(texts), axis=1), 1, rtol=1e-5)
    assert not learnt(["", "elsewhere"]).any()


def test_a_seed_gives_the_same_bytes():
    texts, pairs = papers(24)
    first, second, other = (train_citeomatic(texts, pairs, seed, dimensions=8, epochs=2)(texts) for seed in (1, 1, 2))
    assert first.tobytes() == second.tobytes() != other.tobytes()


def test_negatives_are_neighbours_without_a_link_and_anew_each_epoch(monkeypatch):
    texts, pairs = papers(24)
    spaces, drawn = [], []
    whole = citeomatic._near

    def spied(space, queries, linked, count, random):
        spaces.append(space)
        drawn.append(whole(space, queries, linked, count, random))
        return drawn[-1]

    monkeypatch.setattr(citeomatic, "_near", spied)
    train_citeomatic(texts, pairs, 1, dimensions=8, epochs=3, rate=0.05, neighbours=5)
    known = {frozenset(map(int, pair)) for pair in pairs}
    assert len(spaces) == 3 and not np.array_equal(spaces[0], spaces[1])
    edges = np.unique(pairs, axis=0)
    for space, negatives in zip(spaces, drawn, strict=True):
        scores = space @ space.T
        np.fill_diagonal(scores, -np.inf)
        for query, negative in zip(edges[:, 0].tolist(), negatives.tolist(), strict=True):
            near = set(np.argsort(-scores[query], kind="stable")[:5].tolist())
            free = {row for row in near if frozenset((query, row)) not in known}
            assert not free or negative in free


def test_refusals():
    with pytest.raises(InputError, match="no citations to learn from"):
        train_citeomatic(["sheep graze", "sheep sleep"], [[1, 1]], 0)
