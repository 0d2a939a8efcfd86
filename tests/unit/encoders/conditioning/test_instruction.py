"""Instruction and prefix against transformers' own attention over a cache of keys and values."""

from __future__ import annotations

import copy
import itertools
import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import DynamicCache

from sectioncls.encoders import condition, encode, encode_tokens, join_tokens, load_encoder, save_encoder
from sectioncls.encoders.conditioning import instruction as module
from sectioncls.encoders.conditioning.instruction import WORDINGS
from sectioncls.encoders.routes import TASKS
from sectioncls.errors import ModelError, UsageError

TEXTS = [
    "We propose a method.",
    "",
    "a",
    "The results of this study show that the model of patients is the aim, and the data show it in this study.",
]
KINDS = ("instruction", "prefix")


@pytest.fixture(scope="module")
def plain(tiny_bert):
    return load_encoder(tiny_bert, pooling="cls", device="cpu")


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


def with_cache(bert, text: torch.Tensor, wording: torch.Tensor, *, visible: bool) -> torch.Tensor:
    """The first token's last state with the wording's keys and values put before the text's, by transformers."""
    bert.eval()
    with torch.no_grad():
        states = bert(input_ids=wording[None], output_hidden_states=True).hidden_states
        cache = DynamicCache()
        for index, layer in enumerate(bert.encoder.layer):
            attention = layer.attention.self
            shape = (1, len(wording), attention.num_attention_heads, attention.attention_head_size)
            keys = attention.key(states[index]).view(shape).transpose(1, 2)
            values = attention.value(states[index]).view(shape).transpose(1, 2)
            cache.update(keys, values, index)
        mask = torch.ones(1, len(wording) + len(text), dtype=torch.long)
        mask[0, : len(wording)] = int(visible)
        return bert(
            input_ids=text[None],
            past_key_values=cache,
            attention_mask=mask,
            position_ids=torch.arange(len(text))[None],
        ).last_hidden_state[0, 0]


@pytest.mark.parametrize("task", TASKS)
def test_starts_as_keys_and_values_of_the_plain_network(plain, kind, task):
    ours = condition(plain, kind, seed=3)
    got = encode(ours, TEXTS, task=task)
    wording = torch.tensor(plain.model.tokenizer(WORDINGS[task])["input_ids"])
    for text, vector in zip(TEXTS, got, strict=True):
        ids = torch.tensor(plain.model.tokenizer(text, truncation=True, max_length=64)["input_ids"])
        expected = with_cache(plain.backbone, ids, wording, visible=True)
        torch.testing.assert_close(torch.from_numpy(vector), expected, atol=1e-5, rtol=0)


def test_the_oracle_changes_nothing_where_the_wording_is_masked(plain):
    wording = torch.tensor(plain.model.tokenizer(WORDINGS["search"])["input_ids"])
    text = torch.tensor(plain.model.tokenizer(TEXTS[0])["input_ids"])
    torch.testing.assert_close(
        with_cache(plain.backbone, text, wording, visible=False),
        torch.from_numpy(encode(plain, TEXTS[:1])[0]),
        atol=1e-5,
        rtol=0,
    )


def test_a_fully_masked_wording_changes_nothing(plain, kind, monkeypatch):
    """Keys and values are there, and no token looks at them: the rest of the pass has to be the plain one."""
    ours = condition(plain, kind)
    seen = encode(ours, TEXTS, task="search")
    attention = torch.nn.functional.scaled_dot_product_attention
    hidden = []

    def masked(query, key, value, attn_mask=None, **rest):
        extra = key.shape[2] - query.shape[2]
        hidden.append(extra)
        keys = torch.arange(key.shape[2]) >= extra
        attn_mask = keys[None, None, None, :] if attn_mask is None else attn_mask & keys
        return attention(query, key, value, attn_mask=attn_mask, **rest)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", masked)
    got = encode(ours, TEXTS, task="search")
    assert max(hidden) == len(ours.conditioning.ids[TASKS.index("search")])
    np.testing.assert_allclose(got, encode(plain, TEXTS), atol=1e-5)
    assert np.abs(seen - got).max() > 1e-3


def test_rows_of_several_tasks_share_a_batch(plain, kind):
    ours = condition(plain, kind)
    apart = np.concatenate([encode(ours, TEXTS, task=task) for task in TASKS])
    mixed = join_tokens([ours.tokenise(TEXTS, task) for task in TASKS])
    order = np.random.default_rng(0).permutation(len(apart))
    with torch.inference_mode():
        vectors = ours.eval()(mixed.batch(order)).numpy()
    np.testing.assert_allclose(vectors, apart[order], atol=2e-6)
    np.testing.assert_allclose(encode_tokens(ours, mixed), apart, atol=2e-6)


def test_saved_and_loaded(plain, kind, tmp_path):
    ours = condition(plain, kind, wordings={"search": "the aim of the study"}, tasks=("search", "proximity"))
    with torch.no_grad():
        for weight in ours.parameters():
            weight.add_(0.01 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    save_encoder(ours, tmp_path / "e", facts={"base_model": "tiny"})
    again = load_encoder(tmp_path / "e", device="cpu")
    assert again.conditioning.wordings == {
        "proximity": WORDINGS["proximity"],
        "search": "the aim of the study",
    }
    theirs = SentenceTransformer(str(tmp_path / "e"), device="cpu")
    for task in ("search", "proximity"):
        expected = encode(ours, TEXTS, task=task)
        np.testing.assert_allclose(encode(again, TEXTS, task=task), expected, atol=1e-6)
        np.testing.assert_allclose(theirs.encode(TEXTS, task=task), expected, atol=2e-6)
    for name, weight in again.named_parameters():
        assert weight.requires_grad == dict(ours.named_parameters())[name].requires_grad


def steps(encoder, tasks=("search", "proximity", "search")) -> None:
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=1e-2, weight_decay=0.1)
    encoder.train()
    for task in tasks:
        tokens = encoder.tokenise(TEXTS, task)
        optimiser.zero_grad()
        (encoder(tokens.batch(np.arange(len(TEXTS)))) ** 2).sum().backward()
        optimiser.step()
    encoder.eval()


def test_prefix_trains_its_own_network_and_leaves_the_backbone_bit_equal(plain):
    ours = condition(plain, "prefix")
    before = copy.deepcopy(ours.state_dict())
    start = encode(ours, TEXTS, task="search")
    steps(ours)
    own, others = [], []
    for name, weight in ours.state_dict().items():
        (own if ".conditioning." in name else others).append((name, torch.equal(weight, before[name])))
    assert others and all(same for _, same in others)
    changed = {name for name, same in own if not same}
    # The biases of keys have no gradient but rounding: a softmax doesn't see them.
    assert {name for name, _ in own} - changed <= {name for name, _ in own if name.endswith("key.bias")}
    assert np.abs(encode(ours, TEXTS, task="search") - start).max() > 1e-3


def test_gradients_reach_what_is_trained(plain, kind):
    ours = condition(plain, kind).eval()
    ours(ours.tokenise(TEXTS, "search").batch(np.arange(len(TEXTS)))).square().sum().backward()
    learns = {name for name, weight in ours.named_parameters() if weight.requires_grad}
    reached = {name for name, weight in ours.named_parameters() if weight.grad is not None and weight.grad.any()}
    silent = {
        name for name in learns if ".pooler." in name or name.endswith(("key.bias", "token_type_embeddings.weight"))
    }
    assert reached <= learns and learns - reached <= silent
    assert all(".conditioning." in name for name in learns) == (kind == "prefix")


def test_the_wording_gets_a_gradient_of_its_own(plain):
    """The gradient through the wording: that of a finite difference in a weight that only the wording uses."""
    ours = condition(plain, "instruction", wordings={"search": "patients"}, tasks=("search",)).eval().double()
    word = ours.model.tokenizer("patients")["input_ids"][1]
    weight = ours.backbone.embeddings.word_embeddings.weight
    batch = ours.tokenise(["we propose a method"], "search").batch(np.array([0]))
    ours(batch)[0, 0].backward()
    with torch.no_grad():
        weight[word, 5] += 1e-5
        high = ours(batch)[0, 0].item()
        weight[word, 5] -= 2e-5
        low = ours(batch)[0, 0].item()
    assert weight.grad[word, 5].item() == pytest.approx((high - low) / 2e-5, rel=1e-4)


def test_states_are_kept_while_the_weights_stay(plain, kind, monkeypatch):
    ours = condition(plain, kind).eval()
    calls = itertools.count()
    real = module.states_before
    monkeypatch.setattr(module, "states_before", lambda *given: (next(calls), real(*given))[1])

    def count() -> int:
        return int(repr(calls)[6:-1])

    first = encode(ours, TEXTS, task="search")
    np.testing.assert_array_equal(encode(ours, TEXTS, task="search"), first)
    assert count() == 1
    encode(ours, TEXTS, task="proximity")
    assert count() == 2
    fresh = copy.deepcopy(ours)
    np.testing.assert_array_equal(encode(fresh, TEXTS, task="search"), first)
    assert count() == 3
    steps(ours, ("search",))
    after = count()
    changed = encode(ours, TEXTS, task="search")
    assert count() == after + 1
    ours.conditioning._kept.clear()
    np.testing.assert_array_equal(encode(ours, TEXTS, task="search"), changed)
    assert np.abs(changed - first).max() > 1e-4


def test_states_kept_in_one_precision_do_not_serve_another(plain, kind):
    ours = condition(plain, kind).eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = encode(ours, TEXTS, task="search")
    exact = encode(ours, TEXTS, task="search")
    np.testing.assert_array_equal(exact, encode(copy.deepcopy(ours), TEXTS, task="search"))
    np.testing.assert_allclose(rough, exact, atol=0.1)


def test_dropout_acts_on_the_wording_in_training(plain):
    ours = condition(plain, "instruction").train()
    batch = ours.tokenise(TEXTS, "search").batch(np.arange(len(TEXTS)))
    assert not torch.equal(ours(batch), ours(batch))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wordings": "x"}, "takes no wordings = 'x'"),
        ({"wordings": {"serch": "x"}}, "a wording for the task 'serch'"),
        ({"wordings": {"regression": "x"}, "tasks": ("search",)}, "the tasks are search"),
        ({"wordings": {"search": " "}}, "empty"),
        ({"wordings": {"search": "a " * 100}}, "longer than 64 tokens"),
        ({"reduction": 4}, "no option reduction"),
    ],
)
def test_wrong_wordings(plain, kind, options, message):
    with pytest.raises(UsageError, match=message):
        condition(plain, kind, **options)


def test_a_folder_with_unreadable_wordings(plain, tmp_path):
    save_encoder(condition(plain, "instruction"), tmp_path / "e", facts={})
    path = tmp_path / "e" / "config.json"
    config = json.loads(path.read_text())
    config["conditioning"]["options"]["ids"]["search"] = [2, 10**6, 3]
    path.write_text(json.dumps(config))
    with pytest.raises(ModelError) as caught:
        load_encoder(tmp_path / "e", device="cpu")
    assert "\n" not in str(caught.value)
