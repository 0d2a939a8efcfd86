from __future__ import annotations

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import condition, encode, encode_tokens, ensemble, join_tokens, load_encoder, save_encoder
from sectioncls.errors import ModelError, UsageError


@pytest.mark.parametrize("how", ["mean", "concat"])
@pytest.mark.parametrize(("task", "side"), [("classification", "query"), ("search", "query"), ("search", "document")])
def test_vectors_are_those_of_the_members(plain, conditioned, texts, tmp_path, how, task, side):
    members = [conditioned("control-codes"), conditioned("adapters")]
    # One token less: the code takes it, and both members read the same text.
    alone = [encode(member, [text[:40] for text in texts], task, side) for member in members]
    expected = np.mean(alone, axis=0) if how == "mean" else np.concatenate(alone, axis=1)
    encoder = ensemble(members, how)
    assert encoder.dimension == expected.shape[1] and encoder.conditioning.name == how
    short = [text[:40] for text in texts]
    np.testing.assert_allclose(encode(encoder, short, task, side), expected, atol=1e-6)
    save_encoder(encoder, tmp_path / "e", facts={"base_model": "tiny"})
    np.testing.assert_array_equal(
        encode(load_encoder(tmp_path / "e", device="cpu"), short, task, side), encode(encoder, short, task, side)
    )
    stock = SentenceTransformer(str(tmp_path / "e"), device="cpu")
    np.testing.assert_allclose(stock.encode(short, task=task, side=side), expected, atol=1e-6)
    assert str(tmp_path.parent) not in (tmp_path / "e" / "config.json").read_text()


def test_members_of_any_kind_and_tasks_go_together(plain, conditioned, texts):
    experts = conditioned("mha-experts", tasks=["classification", "search"])
    encoder = ensemble([experts, plain, conditioned("adapters")], "mean")
    assert encoder.routes == ("classification", "search")
    parts = [
        encoder.tokenise(texts, *pair) for pair in (("search", "query"), ("search", "document"), ("classification",))
    ]
    together = encode_tokens(encoder, join_tokens(parts))
    np.testing.assert_allclose(together, np.concatenate([encode_tokens(encoder, part) for part in parts]), atol=1e-6)
    with pytest.raises(UsageError, match="unknown task 'regression'"):
        encode(encoder, texts, "regression")


def test_unit_vectors_stay_unit_vectors():
    minilm = load_encoder("minilm", device="cpu")
    members = [condition(minilm, "adapters"), condition(minilm, "control-codes", seed=2)]
    vectors = encode(ensemble(members), ["a study", "a trial of three drugs"], "proximity")
    alone = np.mean([encode(member, ["a study", "a trial of three drugs"], "proximity") for member in members], axis=0)
    np.testing.assert_allclose(vectors, alone / np.linalg.norm(alone, axis=1, keepdims=True), atol=1e-6)


def test_what_does_not_go_together_is_refused(plain, conditioned, tiny_bert):
    adapters = conditioned("adapters")
    for members, how, message in [
        ([adapters], "mean", "two members"),
        ([adapters, plain], "sum", "unknown ensemble 'sum'"),
        ([plain, plain], "mean", "no member has a conditioning"),
        ([adapters, condition(load_encoder("minilm", device="cpu"), "adapters")], "mean", "no mean"),
        ([adapters, condition(load_encoder("minilm", device="cpu"), "adapters")], "concat", "same words"),
        ([adapters, ensemble([adapters, plain])], "mean", "only BERTs"),
    ]:
        with pytest.raises(UsageError, match=message):
            ensemble(members, how)


def test_a_folder_of_other_members_is_refused(conditioned, plain, tmp_path):
    ensemble([conditioned("adapters"), plain]).model.save(str(tmp_path), create_model_card=False)
    config = json.loads((tmp_path / "config.json").read_text())
    config["members"] = config["members"][:1]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError):
        load_encoder(tmp_path, device="cpu")
