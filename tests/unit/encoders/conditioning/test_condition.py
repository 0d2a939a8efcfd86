"""What holds for every kind: exact starts, routes that don't touch each other, folders that load anywhere."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import (
    CONDITIONINGS,
    TASKS,
    Context,
    Encoder,
    condition,
    encode,
    encode_tokens,
    join_tokens,
    load_encoder,
    save_encoder,
)
from sectioncls.errors import ModelError, UsageError

KINDS = ("control-codes", "adapters", "fusion", "pals", "mha-experts", "ffn-experts", "instruction", "prefix")
STARTS_PLAIN = ("adapters", "fusion", "pals", "mha-experts", "ffn-experts")


def test_every_kind_is_tested():
    assert set(KINDS) == set(CONDITIONINGS)


@pytest.mark.parametrize("kind", STARTS_PLAIN)
@pytest.mark.parametrize("task", TASKS)
def test_the_start_is_the_plain_encoder(plain, conditioned, texts, kind, task):
    encoder = conditioned(kind, stirred=False)
    assert encoder.routes == TASKS
    np.testing.assert_allclose(encode(encoder, texts, task), encode(plain, texts), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_many_routes_are_like_rows_of_one(conditioned, both_sides, kind):
    encoder = conditioned(kind)
    tokens, expected = both_sides(encoder)
    np.testing.assert_allclose(encode_tokens(encoder, tokens), expected, atol=1e-6)
    order = np.random.default_rng(0).permutation(len(tokens))
    with torch.inference_mode():
        mixed = encoder.eval()(tokens.batch(order)).numpy()
    np.testing.assert_allclose(mixed, expected[order], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_mixed_rows_are_the_sum_of_the_routes(conditioned, texts, kind):
    encoder = conditioned(kind).eval()
    parts = [encoder.tokenise(texts, task) for task in TASKS]
    pull = torch.randn(len(texts), encoder.dimension, generator=torch.Generator().manual_seed(1))
    every = np.arange(len(texts))

    def gradients():
        found = {name: p.grad.clone() for name, p in encoder.named_parameters() if p.grad is not None}
        encoder.zero_grad()
        return found

    for part in parts:
        (encoder(part.batch(every)) * pull).sum().backward()
    expected = gradients()
    tokens = join_tokens(parts)
    (encoder(tokens.batch(np.arange(len(tokens)))) * pull.repeat(len(TASKS), 1)).sum().backward()
    mixed = gradients()
    assert mixed.keys() == expected.keys()
    for name, value in mixed.items():
        assert (value - expected[name]).abs().max() <= 2e-5 * (1e-2 + expected[name].abs().max()), name


@pytest.mark.parametrize("kind", KINDS)
def test_routes_differ_once_they_are_trained(conditioned, texts, kind):
    encoder = conditioned(kind)
    vectors = np.stack([encode(encoder, texts, task) for task in encoder.routes])
    apart = [np.abs(a - b).max() for i, a in enumerate(vectors) for b in vectors[:i]]
    # The documents of a search go where papers are compared.
    assert sum(distance < 1e-6 for distance in apart) == (1 if CONDITIONINGS[kind].by_format else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_one_task_leaves_the_other_routes_alone(conditioned, texts, kind):
    encoder = conditioned(kind, stirred=False)
    tokens = {task: encoder.tokenise(texts, task, "query") for task in encoder.routes}
    weights = [weight for weight in encoder.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=1e-2, weight_decay=0.1)
    encoder.train()

    def step(task):
        encoder(tokens[task].batch(np.arange(len(texts)))).square().sum().backward()
        reached = {name for name, weight in encoder.named_parameters() if weight.grad is not None}
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return reached

    def state():
        return {name: weight.detach().clone() for name, weight in encoder.named_parameters()}

    own = {task: step(task) for task in encoder.routes}  # every weight has its momentum now
    for task in encoder.routes:
        before = state()
        step(task)
        moved = {name for name, value in state().items() if not torch.equal(value, before[name])}
        assert moved <= own[task]
        others = set.union(*(own[other] for other in encoder.routes if other != task))
        if kind not in ("instruction", "prefix"):  # their routes share all weights
            assert own[task] - others, "a route has weights of its own"
            assert not moved & (others - own[task])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "instruction"])  # which has no weights of its own
def test_what_is_frozen_stays_bit_equal(plain, conditioned, texts, kind):
    encoder = conditioned(kind, stirred=False, trains="own")
    former = dict(plain.backbone.named_parameters())
    tokens = encoder.tokenise(texts, "search")
    optimiser = torch.optim.AdamW([w for w in encoder.parameters() if w.requires_grad], lr=1e-2)
    encoder(tokens.batch(np.arange(len(texts)))).square().sum().backward()
    optimiser.step()
    for name, weight in encoder.backbone.named_parameters():
        if not name.startswith("conditioning."):
            assert torch.equal(weight, former[name]), name


@pytest.mark.parametrize("kind", KINDS)
def test_which_weights_learn(conditioned, tmp_path, kind):
    for trains in (None, "all", "own"):
        if (kind, trains) == ("instruction", "own"):
            with pytest.raises(UsageError, match="no weights of its own"):
                conditioned(kind, trains=trains)
            continue
        encoder = conditioned(kind, stirred=False, trains=trains)
        learns = {name: weight.requires_grad for name, weight in encoder.backbone.named_parameters()}
        kept = trains or CONDITIONINGS[kind].default_trains
        assert learns["embeddings.word_embeddings.weight"] == (kept == "all")
        assert any(learn for name, learn in learns.items() if name.startswith("conditioning.")) or kind == "instruction"
        encoder.model.save(str(tmp_path / str(trains)), create_model_card=False)
        again = load_encoder(tmp_path / str(trains), device="cpu")
        assert {name: weight.requires_grad for name, weight in again.backbone.named_parameters()} == learns
    assert {kind for kind in KINDS if CONDITIONINGS[kind].default_trains == "own"} == {"adapters", "fusion", "prefix"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["query", "document"])
def test_a_folder_gives_the_same_vectors_here_and_in_sentence_transformers(conditioned, texts, tmp_path, kind, side):
    encoder = conditioned(kind)
    expected = {task: encode(encoder, texts, task, side) for task in TASKS}
    save_encoder(encoder, tmp_path / "e", facts={"name": "e", "kind": "papers", "base_model": "tiny"})
    again = load_encoder(tmp_path / "e", device="cpu")
    stock = SentenceTransformer(str(tmp_path / "e"), device="cpu")
    assert again.routes == encoder.routes
    for task in TASKS:
        np.testing.assert_array_equal(encode(again, texts, task, side), expected[task])
        for model in (stock, again.model, encoder.model):
            theirs = model.encode(texts, task=task, side=side, batch_size=4)
            np.testing.assert_allclose(theirs, expected[task], atol=1e-6)
    asked = stock.encode_query(texts) if side == "query" else stock.encode_document(texts)
    np.testing.assert_allclose(asked, expected["search"], atol=1e-6)
    assert not list((tmp_path / "e").rglob("*.bin")) and not list((tmp_path / "e").rglob("*.py"))
    card = (tmp_path / "e" / "README.md").read_text()
    assert 'task="classification"' in card and "scientific paper" in card
    assert json.loads((tmp_path / "e" / "sectioncls.json").read_text())["conditioning"] == kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(conditioned, kind):
    weights = [
        {name: value.clone() for name, value in conditioned(kind, stirred=False, seed=seed).backbone.named_parameters()}
        for seed in (1, 1, 2)
    ]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    random = kind not in ("mha-experts", "ffn-experts", "instruction", "prefix")
    assert all(torch.equal(weights[0][name], weights[2][name]) for name in weights[0]) == (not random)


def test_conditioning_moves_neither_the_start_nor_the_random_state(plain, texts):
    before, state = encode(plain, texts), torch.get_rng_state()
    encoder = condition(plain, "adapters", trains="all")
    assert torch.equal(torch.get_rng_state(), state)
    with torch.no_grad():
        encoder.backbone.encoder.layer[0].output.dense.weight.zero_()
    np.testing.assert_array_equal(encode(plain, texts), before)


def test_none_is_one_vector_for_every_task(plain, texts):
    encoder = condition(plain, "none")
    assert encoder.routes == () and encoder.conditioning is None
    for task in (None, *TASKS):
        np.testing.assert_array_equal(encode(encoder, texts, task), encode(plain, texts))
    with pytest.raises(UsageError, match="unknown task 'links'"):
        encode(encoder, texts, "links")


def test_tasks_may_be_fewer(plain, texts):
    encoder = condition(plain, "mha-experts", tasks=["search", "classification"])
    assert encoder.routes == ("classification", "search")
    with pytest.raises(UsageError, match=r"unknown task 'regression' \(known: classification, search\)"):
        encode(encoder, texts, "regression")
    with pytest.raises(UsageError, match="has to be told the task"):
        encode(encoder, texts)
    with pytest.raises(UsageError, match="unknown side 'left'"):
        encode(encoder, texts, "search", "left")
    with pytest.raises(UsageError, match="unknown task 'regression'"):
        encoder.model.encode(texts, task="regression")
    plain_tokens = plain.tokenise(texts)
    with pytest.raises(UsageError, match="has to be told the task"):
        encoder(plain_tokens.batch(np.arange(2)))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("moe", {}, "unknown conditioning 'moe'"),
        ("adapters", {"tasks": ["links"]}, "unknown task 'links'"),
        ("adapters", {"tasks": ["search", "search", "proximity"]}, "each task once"),
        ("adapters", {"tasks": ["search"]}, "take the route of proximity"),
        ("adapters", {"trains": "some"}, "trains 'some'"),
        ("adapters", {"width": 3}, "has no option width"),
        ("adapters", {"placement": "parallel"}, "unknown placement"),
        ("adapters", {"activation": "tanh"}, "unknown activation"),
        ("adapters", {"reduction": 0}, "above 0"),
        ("adapters", {"reduction": "x"}, "takes no reduction = 'x' .*give float"),
        ("mha-experts", {"every": 2.5}, "takes no every = 2.5"),
        ("pals", {"low_rank": 1}, "takes no low_rank = 1"),
        ("pals", {"size": True}, "takes no size = True"),
        ("control-codes", {"init": "zeros"}, "start random"),
        ("pals", {"size": 10}, "can't share a width of 10"),
        ("pals", {"low_rank": True, "heads": 2}, "have no heads"),
        ("pals", {"low_rank": True, "size": 0}, "must be 1 wide"),
        ("mha-experts", {"every": 9}, "can't have experts"),
        ("fusion", {}, "only an encoder with adapters"),
        ("none", {"reduction": 2}, "no option reduction"),
    ],
)
def test_wrong_calls_are_one_line(plain, kind, options, message):
    with pytest.raises(UsageError, match=message) as caught:
        condition(plain, kind, **options)
    assert "\n" not in str(caught.value)


def test_what_can_not_be_conditioned_is_refused(four_layers, plain, conditioned, tmp_path):
    with pytest.raises(UsageError, match="has a conditioning"):
        condition(conditioned("pals", stirred=False), "adapters")
    with pytest.raises(UsageError, match="has a conditioning"):
        condition(conditioned("pals", stirred=False), "none")
    with pytest.raises(UsageError, match="context"):
        condition(load_encoder(four_layers, device="cpu", context=Context(24, 4)), "adapters")
    from transformers import AutoTokenizer, DistilBertConfig, DistilBertModel

    AutoTokenizer.from_pretrained(four_layers).save_pretrained(tmp_path)
    DistilBertModel(DistilBertConfig(vocab_size=100, dim=32, n_layers=1, n_heads=4, hidden_dim=64)).save_pretrained(
        tmp_path
    )
    with pytest.raises(UsageError, match="only a plain BERT"):
        condition(load_encoder(tmp_path, device="cpu"), "adapters")


@pytest.mark.parametrize("kind", ["adapters", "mha-experts", "control-codes"])
@pytest.mark.parametrize(
    "change", ["fewer tasks", "more tasks", "unknown task", "unknown kind", "unknown option", "lost weight"]
)
def test_a_folder_with_other_tasks_is_refused(conditioned, tmp_path, kind, change):
    folder = tmp_path / "e"
    encoder = conditioned(kind, tasks=["classification", "proximity", "search"])
    encoder.model.save(str(folder), create_model_card=False)
    config = json.loads((folder / "config.json").read_text())
    known = config["conditioning"]
    if change == "fewer tasks":
        known["routes"] = known["routes"][:2]
        known["options"] = {k: v[:2] if isinstance(v, list) else v for k, v in known["options"].items()}
    elif change == "more tasks":
        known["routes"] = list(TASKS)
        known["options"] = {k: [*v, 5] if isinstance(v, list) else v for k, v in known["options"].items()}
    elif change == "unknown task":
        known["routes"][0] = "links"
    elif change == "unknown kind":
        known["kind"] = "moe"
    elif change == "unknown option":
        known["options"]["width"] = 7
    else:
        weights = load_file(folder / "model.safetensors")
        name = next(name for name in weights if name.startswith("conditioning."))
        save_file({k: v for k, v in weights.items() if k != name}, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError) as caught:
        load_encoder(folder, device="cpu")
    assert "\n" not in str(caught.value)


def test_pooling_of_a_folder_can_be_changed(conditioned, texts, tmp_path):
    conditioned("adapters").model.save(str(tmp_path), create_model_card=False)
    encoder = load_encoder(tmp_path, device="cpu", pooling="cls")
    theirs = encoder.model.encode(texts, task="search")
    np.testing.assert_allclose(encode(encoder, texts, "search"), theirs, atol=1e-6)


def test_pairs_of_texts_are_refused(conditioned):
    encoder = conditioned("adapters", stirred=False)
    with pytest.raises(UsageError, match="pairs"):
        encoder.backbone(torch.tensor([[2, 3, 4]]), token_type_ids=torch.tensor([[0, 0, 1]]), task="search")


def test_an_encoder_is_copied_whole(conditioned, texts):
    encoder = conditioned("adapters")
    twin = Encoder(copy.deepcopy(encoder.model))
    np.testing.assert_array_equal(encode(twin, texts, "search"), encode(encoder, texts, "search"))
