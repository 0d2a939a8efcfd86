"""Kept vectors: the same bytes on a hit, a miss whenever model, text or arithmetic changed, bounded, never half."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from sectioncls.encoders import Context, cached_vectors, encode, load_encoder, vectors_key

TEXTS = ["we propose a method", "results show", "patients"]


@pytest.fixture
def encoder(tiny_bert):
    return load_encoder(tiny_bert, device="cpu")


def test_a_hit_gives_the_same_bytes_and_computes_nothing(encoder, tmp_path, monkeypatch):
    expected = encode(encoder, TEXTS)
    assert encode(encoder, TEXTS, cache=tmp_path).tobytes() == expected.tobytes()
    monkeypatch.setattr(type(encoder), "forward", None)
    assert encode(encoder, TEXTS, cache=tmp_path).tobytes() == expected.tobytes()
    assert len(list(tmp_path.iterdir())) == 1


def test_whatever_changes_the_vectors_changes_the_key(encoder, tiny_bert):
    def key(encoder, texts=TEXTS, **options):
        return vectors_key(encoder, encoder.tokenise(texts), **options)

    keys = [
        key(encoder),
        key(encoder, TEXTS[::-1]),
        key(encoder, TEXTS[:2]),
        key(encoder, precision="bf16"),
        key(load_encoder(tiny_bert, device="cpu", pooling="cls")),
        key(load_encoder(tiny_bert, device="cpu", truncate_dim=8)),
    ]
    windows = load_encoder(tiny_bert, device="cpu", context=Context(64, 0))
    keys.append(vectors_key(windows, windows.read(TEXTS, ["a"] * 3, range(3))))
    encoder.model.max_seq_length = 3
    keys.append(key(encoder))
    encoder.model.max_seq_length = 64
    assert key(encoder) == keys[0] == key(load_encoder(tiny_bert, device="cpu"))
    with torch.no_grad():
        next(encoder.backbone.parameters())[7, 3] += 1e-3
    keys.append(key(encoder))
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"half"])
def test_what_is_not_whole_is_computed_again(encoder, tmp_path, content):
    tokens = encoder.tokenise(TEXTS)
    file = tmp_path / f"{vectors_key(encoder, tokens)}.npy"
    file.write_bytes(content)
    expected = encode(encoder, TEXTS)
    np.testing.assert_array_equal(encode(encoder, TEXTS, cache=tmp_path), expected)
    np.testing.assert_array_equal(np.load(file), expected)
    file.write_bytes(file.read_bytes()[:-1])
    np.testing.assert_array_equal(encode(encoder, TEXTS, cache=tmp_path), expected)


def test_pickles_and_other_shapes_are_no_vectors(encoder, tmp_path):
    file = tmp_path / f"{vectors_key(encoder, encoder.tokenise(TEXTS))}.npy"
    for array in (np.array([{}], dtype=object), np.zeros((3, 2), dtype=np.float32), np.zeros((3, 32))):
        np.save(file, array, allow_pickle=True)
        np.testing.assert_array_equal(encode(encoder, TEXTS, cache=tmp_path), encode(encoder, TEXTS))


def test_the_folder_is_bounded_and_strangers_stay(encoder, tmp_path):
    (tmp_path / "thesis.npy").write_bytes(b"precious" * 1000)
    texts = [[f"results {letter}"] for letter in "abc"]
    tokens = [encoder.tokenise(text) for text in texts]
    made = np.zeros((1, 32), dtype=np.float32)
    files = [tmp_path / f"{vectors_key(encoder, row)}.npy" for row in tokens]
    for age, row in enumerate(tokens[:2]):
        cached_vectors(tmp_path, encoder, row, lambda: made)
        os.utime(files[age], (age, age))
    cached_vectors(tmp_path, encoder, tokens[0], lambda: pytest.fail("is there"))  # read: now it is the newer one
    size = files[0].stat().st_size
    cached_vectors(tmp_path, encoder, tokens[2], lambda: made, limit=2 * size)
    assert [file.exists() for file in files] == [True, False, True]
    assert (tmp_path / "thesis.npy").exists()
    cached_vectors(tmp_path, encoder, tokens[1], lambda: made, limit=10)
    assert not files[1].exists() and files[0].exists()
