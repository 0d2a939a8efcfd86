"""Vectors that are kept: each text once a route, the same vectors on a second call, nothing of another encoder."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.encoders import condition, encode, ensemble, load_encoder
from sectioncls.errors import UsageError
from sectioncls.recipes import SILENT
from sectioncls.recipes.papers.vectors import KeptVectors, folder_name, route_name

TEXTS = ("peat layers", "storm surge", "results show the model", "we study patients", "data")
SIDES = [
    (task, side) for task in ("classification", "regression", "proximity", "search") for side in ("query", "document")
]


@pytest.fixture
def plain(tiny_bert):
    return load_encoder(tiny_bert, device="cpu")


def counted(encoder):
    """Give the list that every encoded batch adds its rows to."""
    seen, forward = [], encoder.forward
    encoder.forward = lambda batch: seen.append(len(batch.lengths)) or forward(batch)
    return seen


def test_names_are_equal_where_vectors_are(plain):
    adapters, experts = condition(plain, "adapters"), condition(plain, "mha-experts")
    for encoder in (plain, adapters, experts, ensemble([plain, adapters], "concat")):
        with np.errstate(all="raise"):
            vectors = {pair: encode(encoder, TEXTS, *pair) for pair in SIDES}
        for one in SIDES:
            for two in SIDES:
                if route_name(encoder, *one) == route_name(encoder, *two):
                    np.testing.assert_array_equal(vectors[one], vectors[two])
    assert {route_name(plain, *pair) for pair in SIDES} == {"all"}
    assert {route_name(adapters, *pair) for pair in SIDES} == {"classification", "regression", "proximity", "search"}
    assert route_name(adapters, "search", "document") == "proximity"
    assert route_name(experts, "search", "document") == "search"
    both = ensemble([plain, adapters], "concat")
    assert route_name(both, "proximity", "query") == route_name(both, "search", "document") == "all+proximity"
    with pytest.raises(UsageError, match="unknown task"):
        route_name(condition(plain, "mha-experts", tasks=["search"]), "regression", "query")


def test_a_text_is_encoded_once_a_route(plain):
    encoder = condition(plain, "adapters", seed=2)
    seen = counted(encoder)
    vectors = KeptVectors(encoder, SILENT)
    vectors.prepare([(TEXTS, "proximity", "query"), (TEXTS[:3], "search", "document"), (TEXTS, "regression", "query")])
    assert sum(seen) == vectors.encoded == 10  # both routes in one go
    found = vectors([TEXTS[3], TEXTS[0], TEXTS[3]], "search", "document")
    assert sum(seen) == 10
    np.testing.assert_allclose(found, encode(encoder, [TEXTS[3], TEXTS[0], TEXTS[3]], "proximity"), atol=1e-6)
    assert vectors((), "regression", "query").shape == (0, encoder.dimension)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_kept_vectors_are_found_again_bit_by_bit(plain, tmp_path, precision):
    first = KeptVectors(condition(plain, "ffn-experts", seed=2), SILENT, precision=precision, folder=tmp_path / "e")
    one = first(TEXTS, "proximity", "query")
    assert (first.found, first.encoded) == (0, 5)
    again = condition(plain, "ffn-experts", seed=2)
    seen = counted(again)
    second = KeptVectors(again, SILENT, precision=precision, folder=tmp_path / "e")
    np.testing.assert_array_equal(second([*TEXTS, "new"], "proximity", "document")[:5], one)
    assert (second.found, second.encoded, sum(seen)) == (5, 1, 1)
    assert sorted(file.name for file in (tmp_path / "e").iterdir()) == ["proximity.npy", "vectors.json"]
    third = KeptVectors(again, SILENT, precision=precision, folder=tmp_path / "e")
    np.testing.assert_array_equal(third(TEXTS[::-1], "proximity", "query"), one[::-1])
    assert (third.found, third.encoded) == (6, 0)


def test_vectors_of_other_weights_or_precision_are_not_taken(plain, tmp_path):
    KeptVectors(plain, SILENT, folder=tmp_path)(TEXTS, "proximity", "query")
    assert KeptVectors(plain, SILENT, folder=tmp_path).found == 5
    assert KeptVectors(plain, SILENT, precision="bf16", folder=tmp_path).found == 0
    KeptVectors(plain, SILENT, folder=tmp_path)(TEXTS, "proximity", "query")
    assert KeptVectors(condition(plain, "adapters"), SILENT, folder=tmp_path).found == 0
    assert not list(tmp_path.glob("*.npy"))


def test_a_damaged_file_is_made_anew(plain, tmp_path):
    one = KeptVectors(plain, SILENT, folder=tmp_path)(TEXTS, "proximity", "query")
    (tmp_path / "all.npy").write_bytes(b"no array")
    again = KeptVectors(plain, SILENT, folder=tmp_path)
    assert again.found == 0
    np.testing.assert_array_equal(again(TEXTS, "proximity", "query"), one)


def test_an_interrupted_encoding_keeps_what_it_had(plain, tmp_path, monkeypatch):
    import sectioncls.recipes.papers.vectors as module

    real = module.encode_batches

    def cut(*arguments, **options):
        for number, batch in enumerate(real(*arguments, **{**options, "budget": 8})):
            if number == 2:
                raise KeyboardInterrupt
            yield batch

    monkeypatch.setattr(module, "encode_batches", cut)
    with pytest.raises(KeyboardInterrupt):
        KeptVectors(plain, SILENT, folder=tmp_path)(TEXTS, "proximity", "query")
    monkeypatch.undo()
    again = KeptVectors(plain, SILENT, folder=tmp_path)
    assert 0 < again.found < 5
    np.testing.assert_allclose(again(TEXTS, "proximity", "query"), encode(plain, TEXTS), atol=1e-6)
    assert again.found + again.encoded == 5


def test_without_room_nothing_is_kept(plain, tmp_path, monkeypatch):
    monkeypatch.setattr("sectioncls.recipes.papers.vectors._REMEMBERED", 3)
    vectors = KeptVectors(plain, SILENT, folder=tmp_path)
    np.testing.assert_allclose(vectors(TEXTS, "proximity", "query"), encode(plain, TEXTS), atol=1e-6)
    assert not vectors.rows and not list(tmp_path.glob("*.npy"))


def test_folders_have_plain_names():
    assert folder_name("adapters", 3) == "adapters-3"
    assert folder_name("none, 10 % / x", None) == "none-10-x"
    assert folder_name("../..", None) == "encoder"
