"""Lessons as training tasks: identities of texts, masks of what belongs together, costs, routes, negatives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sectioncls.encoders import condition, load_encoder
from sectioncls.errors import UsageError
from sectioncls.losses import TaskHead
from sectioncls.mining import Triples
from sectioncls.recipes.papers.lessons import Contrast, Foretold, Masked
from sectioncls.recipes.papers.schema import StageOptions, TaskOptions
from sectioncls.recipes.papers.tasks import default_margin, default_temperature, task_of

PAPERS = ("we aim to show", "results of this study", "we aim to show", "patients and data", "the model")
LABELS = ("aim", "method", "data")


def stage(**values):
    return StageOptions(tasks=("links",), **values)


def contrast(query, positive, negatives=None, known=(), documents=PAPERS, papers=(True, True), route="proximity"):
    negatives = np.zeros((len(query), 0)) if negatives is None else negatives
    triples = Triples(*(np.asarray(column, dtype=np.int64) for column in (query, positive, negatives)))
    return Contrast("links", route, PAPERS, documents, triples, np.asarray(known).reshape(-1, 2), papers)


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder(tiny_bert, device="cpu").eval()


def test_papers_with_the_same_words_are_one_text(encoder):
    task = task_of(contrast([0, 3], [1, 4], [[2], [-1]]), encoder, TaskOptions(name="links"), stage(), 0)
    text, group, role = (column.tolist() for column in task.targets)
    assert text[0] == text[2]  # papers 0 and 2, one as a query, one as a negative
    assert role == [0, 1, 2, 0, 1] and group == [0, 0, 0, 1, 1]
    assert task.costs.tolist() == [1.0] * 5


def test_known_pairs_are_masked_in_the_loss(encoder):
    lesson = contrast([0, 3], [1, 4], known=[(0, 4), (3, 1)])
    for known, zero in ((lesson, True), (contrast([0, 3], [1, 4]), False)):
        task = task_of(known, encoder, TaskOptions(name="links"), stage(), 0)
        vectors = encoder(task.tokens.batch(np.arange(4)))
        assert (float(task.objective(vectors, *task.targets).detach()) == 0) is zero


def test_topics_and_queries_cost_nothing(encoder):
    lesson = contrast([0, 1], [0, 2], documents=LABELS, papers=(True, False), route="classification")
    task = task_of(lesson, encoder, TaskOptions(name="links"), stage(), 0)
    assert task.cost(np.arange(4)) == 2 and task.costs.tolist() == [1, 0, 1, 0]


def test_a_margin_needs_negatives_and_gets_random_ones(encoder):
    lesson = contrast([0] * 40, [1] * 40, known=[(0, 1), (0, 3)])
    task = task_of(lesson, encoder, TaskOptions(name="links"), stage(objective="margin"), 0)
    negatives = task.targets[0][task.targets[2] == 2]
    texts = {int(text) for text in negatives}
    query, positive = int(task.targets[0][0]), int(task.targets[0][1])
    third = {int(text) for text in task.targets[0]} - {query, positive} - texts
    assert positive not in texts and not third and len(negatives) == 40
    assert query in texts  # paper 2 has the words of paper 0: the loss leaves such a negative out
    same = task_of(lesson, encoder, TaskOptions(name="links"), stage(objective="margin"), 0)
    assert torch.equal(same.targets[0], task.targets[0])


def test_objectives_and_their_settings(encoder):
    lesson = contrast([0], [1], [[3]])
    found = task_of(lesson, encoder, TaskOptions(name="links"), stage(), 0).objective.keywords
    assert found["temperature"] == default_temperature(encoder) == 1.0
    found = task_of(lesson, encoder, TaskOptions(name="links", temperature=0.2), stage(temperature=0.3), 0).objective
    assert found.keywords["temperature"] == 0.2
    found = task_of(lesson, encoder, TaskOptions(name="links", objective="margin", margin=0.0), stage(), 0).objective
    assert found.keywords == {"margin": 0.0}
    assert default_margin(encoder) == 1.0


def test_frequencies_are_those_of_candidates(encoder):
    lesson = contrast([0, 1, 3], [0, 0, 2], documents=LABELS, papers=(True, False), route="classification")
    task = task_of(lesson, encoder, TaskOptions(name="links", log_q=True), stage(), 0)
    share = np.exp(task.objective.keywords["log_q"].numpy())[task.targets[0].numpy()]
    np.testing.assert_allclose(share[task.targets[2].numpy() == 1], [2 / 3, 2 / 3, 1 / 3], rtol=1e-6)


def test_routes_reach_the_tokens(encoder):
    conditioned = condition(encoder, "control-codes", seed=0)
    lesson = contrast([0, 3], [1, 4], route="search")
    task = task_of(lesson, conditioned, TaskOptions(name="links"), stage(), 0)
    routes = task.tokens.batch(np.arange(4)).routes.tolist()
    names = [conditioned.routes[route] for route in routes]
    assert names == ["search", "proximity", "search", "proximity"]  # a query, a document, twice


def test_a_route_reads_a_text_once(encoder):
    from sectioncls.encoders import encode
    from sectioncls.recipes import SILENT
    from sectioncls.recipes.papers.scores import embedder

    conditioned = condition(encoder, "mha-experts", seed=0)
    read = []
    real = conditioned.tokenise
    conditioned.tokenise = lambda texts, task, side: read.append(len(texts)) or real(texts, task, side)
    embed = embedder(conditioned, SILENT)
    first, again = embed(PAPERS, "proximity", "query"), embed(PAPERS[::-1], "proximity", "document")
    assert read == [4] and np.array_equal(first, again[::-1])
    np.testing.assert_allclose(first, encode(condition(encoder, "mha-experts", seed=0), PAPERS, "proximity"), atol=1e-6)
    assert embed(PAPERS[:2], "search", "query").shape == (2, 32) and read == [4, 2]
    assert embed((), "search", "query").shape == (0, 32)


def test_heads_are_drawn_with_the_seed(encoder):
    lesson = Foretold("class:a", "classification", PAPERS, np.array([0, 1, 0, 1, 2]), "ce", 3)
    options = TaskOptions(name="class:a", weight=2.0, batch_size=2)
    before = torch.random.get_rng_state()
    first, second = (task_of(lesson, encoder, options, stage(), 4) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert isinstance(first.objective, TaskHead) and first.weight == 2.0 and len(first.sampler) == 3
    assert torch.equal(first.objective.linear.weight, second.objective.linear.weight)
    other = task_of(lesson, encoder, options, stage(), 5)
    assert not torch.equal(first.objective.linear.weight, other.objective.linear.weight)


def test_texts_are_cut_for_training_alone(encoder):
    whole = encoder.max_length
    lesson = contrast([0, 3], [1, 4], documents=("we aim to show results of this study and the model " * 9,) * 5)
    tasks = [task_of(lesson, encoder, TaskOptions(name="links"), stage(max_length=n), 0) for n in (None, 8, 10_000)]
    assert [int(task.tokens.lengths.max()) for task in tasks] == [whole, 8, whole]
    assert encoder.max_length == whole


def test_masked_words_are_spans_of_one_token(encoder):
    texts = tuple(" ".join(["results", "of", "this", "study", "show"] * (1 + n)) for n in range(40))
    task = task_of(Masked("mlm", "proximity", texts), encoder, TaskOptions(name="mlm"), stage(), 3)
    told, mask = encoder.tokenise(texts, "proximity"), encoder.model.tokenizer.mask_token_id
    rows, (words,) = task.tokens, task.targets
    places = rows.spans[:, 0] + np.repeat(rows.offsets[:-1], np.diff(rows.firsts))
    assert (rows.spans[:, 1] - rows.spans[:, 0] == 1).all() and len(words) == len(places) == rows.items
    assert words.tolist() == told.ids[places].tolist()
    untouched = np.setdiff1d(np.arange(len(told.ids)), places)
    assert (rows.ids[untouched] == told.ids[untouched]).all()
    counts = np.diff(rows.firsts)
    assert counts.tolist() == [max(1, round(0.15 * min(5 + 5 * n, encoder.max_length - 2))) for n in range(40)]
    masked = (rows.ids[places] == mask).mean()
    assert 0.72 < masked < 0.88 and not set(words.tolist()) & set(encoder.model.tokenizer.all_special_ids)
    same = task_of(Masked("mlm", "proximity", texts), encoder, TaskOptions(name="mlm"), stage(), 3)
    assert (same.tokens.ids == rows.ids).all()


def test_masked_words_are_learnt(encoder):
    texts = ("we aim to show the results of this study",) * 16
    task = task_of(Masked("mlm", "proximity", texts), encoder, TaskOptions(name="mlm"), stage(), 0)
    rows = np.arange(16)
    members = torch.from_numpy(task.tokens.members(rows))
    vectors = encoder(task.tokens.batch(rows)).detach()
    assert vectors.shape[0] == len(members)
    optimiser = torch.optim.SGD(task.objective.parameters(), lr=1.0)
    losses = []
    for _ in range(30):
        loss = task.objective(vectors, task.targets[0][members])
        losses.append(float(loss.detach()))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert losses[-1] < 0.7 * losses[0]


def test_masked_words_need_a_plain_encoder(tiny_bert):
    conditioned = condition(load_encoder(tiny_bert, device="cpu"), "adapters", seed=0)
    with pytest.raises(UsageError, match="no route"):
        task_of(Masked("mlm", "proximity", PAPERS), conditioned, TaskOptions(name="mlm"), stage(), 0)
