"""The chain against a sum over every label sequence."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from sectioncls.encoders import CrfHead, load_head, save_head
from sectioncls.encoders.crf import LinearChain

K = 3


@pytest.fixture
def chain():
    made = LinearChain(K).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator, dtype=torch.float64))
    return made


def score(chain, emissions, labels):
    total = chain.first[labels[0]] + chain.last[labels[-1]]
    total = total + sum(emissions[t, y] for t, y in enumerate(labels))
    return (total + sum(chain.transitions[a, b] for a, b in itertools.pairwise(labels))).item()


def batch():
    emissions = torch.randn(4, 5, K, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    lengths = torch.tensor([5, 1, 3, 4])
    return emissions, lengths, torch.arange(5) < lengths[:, None]


def test_likelihood_decoding_and_marginals_against_all_sequences(chain):
    emissions, lengths, mask = batch()
    targets = torch.randint(0, K, (4, 5), generator=torch.Generator().manual_seed(2))
    found = chain.log_likelihood(emissions, targets, mask)
    paths, marginals = chain.decode(emissions, mask), chain.marginals(emissions, mask)
    for row, length in enumerate(lengths.tolist()):
        every = list(itertools.product(range(K), repeat=length))
        scores = {labels: score(chain, emissions[row], labels) for labels in every}
        total = math.log(sum(map(math.exp, scores.values())))
        own = tuple(targets[row, :length].tolist())
        assert found[row].item() == pytest.approx(scores[own] - total, rel=1e-9)
        assert tuple(paths[row, :length].tolist()) == max(scores, key=scores.get)
        for t in range(length):
            for label in range(K):
                share = sum(math.exp(s - total) for labels, s in scores.items() if labels[t] == label)
                assert marginals[row, t, label].item() == pytest.approx(share, rel=1e-9)


def test_gradient(chain):
    emissions, _, mask = batch()
    targets = torch.zeros(4, 5, dtype=torch.long)
    assert torch.autograd.gradcheck(lambda e: chain.log_likelihood(e, targets, mask), (emissions.requires_grad_(),))


def head_and_rows():
    torch.manual_seed(0)
    head = CrfHead(6, ("a", "b", "c"), dropout=0.0).eval()
    with torch.no_grad():
        for weight in head.parameters():
            weight.copy_(torch.randn(weight.shape))
    vectors = np.random.default_rng(0).normal(size=(9, 6)).astype(np.float32)
    articles = [np.array([4, 0, 2]), np.array([1, 3]), np.array([5, 6, 7])]  # row 8 stands alone
    return head, vectors, articles


def test_a_head_reads_each_article_by_itself():
    head, vectors, articles = head_and_rows()
    together, chances = head.predict(vectors, articles), head.probabilities(vectors, articles)
    assert np.allclose(chances.sum(1), 1, atol=1e-6)
    for rows in [*articles, np.array([8])]:
        alone = [np.arange(len(rows))]
        np.testing.assert_array_equal(together[rows], head.predict(vectors[rows], alone))
        np.testing.assert_allclose(chances[rows], head.probabilities(vectors[rows], alone), atol=1e-6)


def test_the_loss_is_the_articles_likelihood():
    head, vectors, _ = head_and_rows()
    targets = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2])
    sequences = torch.tensor([7, 7, 7, 3, 3, 7, 7, 7, 7])  # a number may come again: three sequences
    loss = head(torch.from_numpy(vectors), targets, sequences)
    logits = head.linear(torch.from_numpy(vectors))
    expected = 0.0
    for part in (slice(0, 3), slice(3, 5), slice(5, 9)):
        whole = torch.ones(1, len(targets[part]), dtype=torch.bool)
        expected -= head.chain.log_likelihood(logits[part][None], targets[part][None], whole).item()
    assert loss.item() == pytest.approx(expected / 9, rel=1e-5)


def test_it_is_kept(tmp_path):
    head, vectors, articles = head_and_rows()
    save_head(head, tmp_path)
    kept = load_head(tmp_path)
    assert isinstance(kept, CrfHead) and kept.labels == ("a", "b", "c")
    np.testing.assert_array_equal(kept.predict(vectors, articles), head.predict(vectors, articles))
