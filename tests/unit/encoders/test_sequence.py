"""The sequence head against an LSTM and a chain written out."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
import torch

from sectioncls.encoders import ArticleReader, SequenceHead, load_head, save_head
from sectioncls.errors import ModelError

LABELS = ("a", "b", "c")


@pytest.fixture
def head():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = SequenceHead(ArticleReader(6, hidden=4), LABELS).eval()
        with torch.no_grad():
            for weight in made.parameters():
                weight.copy_(torch.randn(weight.shape))
    return made


def rows():
    vectors = np.random.default_rng(0).normal(size=(10, 6)).astype(np.float32)
    return vectors, [np.array([4, 0, 2]), np.array([1, 3]), np.array([5, 9, 6, 7])]  # row 8 stands alone


def lstm_by_hand(reader, x):
    """The equations of torch.nn.LSTM, one direction after the other; x (T, dimension), normalised."""
    lstm, found = reader.lstm, []
    for ending, steps in (("", range(len(x))), ("_reverse", range(len(x) - 1, -1, -1))):
        w_in, w_own, b_in, b_own = (
            getattr(lstm, f"{n}_l0{ending}") for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        hidden = cell = torch.zeros(lstm.hidden_size)
        states = {}
        for t in steps:
            enter, forget, update, out = (w_in @ x[t] + b_in + w_own @ hidden + b_own).chunk(4)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(update)
            hidden = torch.sigmoid(out) * torch.tanh(cell)
            states[t] = hidden
        found.append(torch.stack([states[t] for t in range(len(x))]))
    return torch.cat(found, 1)


def emissions_by_hand(head, vectors):
    with torch.no_grad():
        x = torch.from_numpy(vectors)
        x = (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5)
        x = x * head.reader.norm.weight + head.reader.norm.bias
        return head.linear(lstm_by_hand(head.reader, x))


def test_predictions_and_probabilities_against_all_sequences(head):
    vectors, articles = rows()
    predicted, chances = head.predict(vectors, articles), head.probabilities(vectors, articles)
    assert predicted.shape == (10,) and chances.shape == (10, 3)
    for own in [*articles, np.array([8])]:
        emissions = emissions_by_hand(head, vectors[own])
        scores = {}
        for labels in itertools.product(range(3), repeat=len(own)):
            total = head.chain.first[labels[0]] + head.chain.last[labels[-1]]
            total = total + sum(emissions[t, label] for t, label in enumerate(labels))
            scores[labels] = (total + sum(head.chain.transitions[a, b] for a, b in itertools.pairwise(labels))).item()
        assert tuple(predicted[own]) == max(scores, key=scores.get)
        whole = math.log(sum(map(math.exp, scores.values())))
        for t, row in enumerate(own):
            for label in range(3):
                share = sum(math.exp(s - whole) for labels, s in scores.items() if labels[t] == label)
                assert chances[row, label] == pytest.approx(share, abs=1e-4)


def test_order_of_articles_and_rows_changes_nothing(head):
    vectors, articles = rows()
    before, chances = head.predict(vectors, articles), head.probabilities(vectors, articles)
    np.testing.assert_array_equal(head.predict(vectors, articles[::-1]), before)
    moved = np.random.default_rng(1).permutation(10)
    place = np.argsort(moved)  # where a row went
    np.testing.assert_array_equal(head.predict(vectors[moved], [place[a] for a in articles]), before[moved])
    np.testing.assert_allclose(
        head.probabilities(vectors[moved], [place[a] for a in articles]), chances[moved], atol=1e-6
    )


def test_order_inside_an_article_does_change_what_is_read(head):
    vectors, articles = rows()
    before = head.probabilities(vectors, articles)
    after = head.probabilities(vectors, [articles[0][::-1], *articles[1:]])
    assert np.abs(after - before)[articles[0]].max() > 1e-3
    np.testing.assert_allclose(after[articles[2]], before[articles[2]], atol=1e-6)


def test_the_loss_is_the_articles_likelihood(head):
    vectors, articles = rows()
    flat = np.concatenate(articles)
    targets = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2])
    loss = head(torch.from_numpy(vectors[flat]), targets, torch.tensor([0] * 3 + [1] * 2 + [2] * 4))
    expected, first = 0.0, 0
    for own in articles:
        wanted = targets[None, first : first + len(own)]
        emissions = emissions_by_hand(head, vectors[own])[None]
        expected -= head.chain.log_likelihood(emissions, wanted, torch.ones_like(wanted, dtype=torch.bool)).item()
        first += len(own)
    assert loss.item() == pytest.approx(expected / 9, rel=1e-5)


def test_training_mode_does_not_blur_predictions_and_is_kept(head):
    vectors, articles = rows()
    before = head.probabilities(vectors, articles)
    head.train()
    np.testing.assert_array_equal(head.probabilities(vectors, articles), before)
    assert head.training and head.reader.training


def test_long_articles_of_many_sizes_are_each_read_whole(head):
    random = np.random.default_rng(2)
    lengths = [3000, 1, 1500, 40, 2, 700]
    bounds = np.cumsum([0, *lengths])
    articles = [np.arange(a, b) for a, b in itertools.pairwise(bounds)]
    vectors = random.normal(size=(bounds[-1], 6)).astype(np.float32)
    together = head.probabilities(vectors, articles)
    assert np.isfinite(together).all() and np.allclose(together.sum(1), 1, atol=1e-4)
    for own in articles:
        np.testing.assert_allclose(head.probabilities(vectors[own], [np.arange(len(own))]), together[own], atol=1e-4)


def test_no_sentence_no_prediction(head):
    empty = np.zeros((0, 6), dtype=np.float32)
    assert head.predict(empty, []).shape == (0,) and head.probabilities(empty, []).shape == (0, 3)


def test_it_is_kept(head, tmp_path):
    vectors, articles = rows()
    save_head(head, tmp_path)
    assert json.loads((tmp_path / "head.json").read_text())["kind"] == "hsln"
    kept = load_head(tmp_path)
    assert isinstance(kept, SequenceHead) and kept.labels == LABELS
    np.testing.assert_array_equal(kept.predict(vectors, articles), head.predict(vectors, articles))
    np.testing.assert_array_equal(kept.probabilities(vectors, articles), head.probabilities(vectors, articles))


@pytest.mark.parametrize("facts", [{"kind": "crf", "labels": ["a", "b", "c"]}, {"kind": "hsln", "labels": ["a", "b"]}])
def test_a_head_of_another_kind_or_size_is_an_error(head, tmp_path, facts):
    save_head(head, tmp_path)
    (tmp_path / "head.json").write_text(json.dumps(facts))
    with pytest.raises(ModelError):
        load_head(tmp_path)


def test_probabilities_of_a_long_article_keep_their_digits(head):
    vectors = np.random.default_rng(3).normal(size=(4000, 6)).astype(np.float32)
    emissions = head.reader(torch.from_numpy(vectors), torch.ones(1, 4000, dtype=torch.bool))
    with torch.no_grad():
        emissions = 5 * head.linear(emissions)[None]
        whole = torch.ones(1, 4000, dtype=torch.bool)
        found = head.chain.marginals(emissions, whole)
        exact = head.chain.double().marginals(emissions.double(), whole)
    np.testing.assert_allclose(found, exact, atol=1e-5)
