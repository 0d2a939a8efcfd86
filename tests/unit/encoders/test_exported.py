"""An exported encoder gives the vectors of the network, whoever loads it, and says what is wrong in one line."""

from __future__ import annotations

import gc
import json
import shutil
import signal
import sys

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from sectioncls.encoders import (
    Context,
    LinearHead,
    encode,
    encode_tokens,
    export_graph,
    fingerprint,
    load_encoder,
    load_head,
    save_encoder,
)
from sectioncls.encoders.exported import BACKENDS, import_backend
from sectioncls.errors import ModelError, UsageError

TEXTS = ["We propose a method.", "Results", "The background of the study: 12 patients (model b).", "x", "data " * 90]
LIBRARIES = {"onnx": ("onnx", "onnxruntime"), "openvino": ("openvino",)}


@pytest.fixture(scope="module", params=list(BACKENDS))
def backend(request):
    for library in LIBRARIES[request.param]:
        pytest.importorskip(library)
    return request.param


@pytest.fixture(scope="module")
def plain(tiny_bert):
    return load_encoder(tiny_bert, device="cpu")


@pytest.fixture(scope="module")
def folder(plain, backend, tmp_path_factory):
    place = tmp_path_factory.mktemp(backend)
    exported = export_graph(plain, place / "graph", backend)
    save_encoder(exported, place / "e", facts={"base_model": "tiny"}, head=LinearHead(32, ("a", "b")))
    return place / "e"


@pytest.fixture
def copied(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "e")
    return tmp_path / "e"


def test_vectors_are_those_of_the_network(plain, folder):
    exported = load_encoder(folder, device="cpu")
    ours = encode(plain, TEXTS)
    np.testing.assert_allclose(encode(exported, TEXTS), ours, atol=1e-5)
    one_by_one = np.concatenate([encode(exported, [text]) for text in TEXTS])
    np.testing.assert_allclose(one_by_one, ours, atol=1e-5)
    np.testing.assert_allclose(SentenceTransformer(str(folder), device="cpu").encode(TEXTS), ours, atol=1e-5)
    assert (exported.dimension, exported.max_length) == (plain.dimension, plain.max_length)


def test_windows_are_read_as_before(tiny_bert, folder):
    context = Context(48, 8)
    rows = (
        ["we propose", "results show", "in this study", "patients", "method"] * 4,
        ["a"] * 12 + ["b"] * 8,
        range(20),
    )
    ours, theirs = (load_encoder(place, device="cpu", context=context) for place in (tiny_bert, folder))
    expected = encode_tokens(ours, ours.read(*rows))
    np.testing.assert_allclose(encode_tokens(theirs, theirs.read(*rows)), expected, atol=1e-5)


def test_the_classifier_and_the_bytes_travel(folder, tmp_path):
    assert load_head(folder).labels == ("a", "b")
    exported = load_encoder(folder, device="cpu")
    save_encoder(exported, tmp_path / "again", facts={})
    again = load_encoder(tmp_path / "again", device="cpu")
    assert fingerprint(again) == fingerprint(exported)
    np.testing.assert_array_equal(encode(again, TEXTS), encode(exported, TEXTS))


def test_it_can_not_be_trained(folder):
    exported = load_encoder(folder, device="cpu").train()
    tokens = exported.tokenise(TEXTS)
    with pytest.raises(UsageError, match="can't be trained"):
        exported(tokens.batch(np.arange(2)))


def test_it_can_not_be_exported_again(folder, backend, tmp_path):
    with pytest.raises(ModelError, match="only a plain BERT"):
        export_graph(load_encoder(folder, device="cpu"), tmp_path, backend)


def test_a_changed_graph_is_refused(copied, backend):
    file = copied / BACKENDS[backend][-1]
    file.write_bytes(file.read_bytes()[:-9] + b"elsewhere")
    with pytest.raises(ModelError, match=r"another than its config\.json says"):
        load_encoder(copied, device="cpu")


def test_a_missing_file_is_named(copied, backend):
    (copied / BACKENDS[backend][-1]).unlink()
    with pytest.raises(ModelError, match=r"not whole|no safetensors"):
        load_encoder(copied, device="cpu")


def test_an_unknown_backend_is_refused(copied):
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "backend": "abacus"}))
    with pytest.raises(ModelError, match="unknown backend 'abacus'"):
        load_encoder(copied, device="cpu")


def test_nonsense_in_the_graph_is_one_line(copied, backend):
    import hashlib

    files = [copied / name for name in BACKENDS[backend]]
    files[0].write_bytes(b"<nonsense>\n")
    digest = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "sha256": digest}))
    with pytest.raises(ModelError, match="can't be opened") as caught:
        load_encoder(copied, device="cpu")
    assert "\n" not in str(caught.value)


def test_in_8_bits_vectors_are_near_and_the_same_each_time(plain, backend, tmp_path):
    pytest.importorskip("nncf")
    words = [
        "we",
        "the",
        "of",
        "a",
        "to",
        "in",
        "this",
        "study",
        "method",
        "results",
        "show",
        "that",
        "propose",
        "aim",
        "background",
        "patients",
        "model",
        "data",
    ]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, size)) for size in random.integers(3, 9, 16)]
    seen = []
    exported = export_graph(plain, tmp_path, backend, calibration=plain.tokenise(texts), advance=seen.append)
    assert exported.backbone.config.precision == "int8"
    assert sum(seen) == 16
    ours, theirs = encode(plain, texts), encode(exported, texts)
    cosine = (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    assert 0.99 < cosine.min() < 1
    assert not np.array_equal(ours, theirs)


def test_an_unknown_backend_is_no_export(plain, tmp_path):
    with pytest.raises(UsageError, match="abacus"):
        export_graph(plain, tmp_path, "abacus")


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"onnxruntime is missing.*pip install 'sectioncls\[export\]'"):
        import_backend("onnxruntime")


def test_a_signal_is_handled_after_graphs_have_come_and_gone(plain, tmp_path):
    """OpenVINO's plugins leave a freed stack under signals unless one of them lasts; Ctrl-C would kill the process."""
    pytest.importorskip("openvino")
    alive = [export_graph(plain, tmp_path / name, "openvino") for name in "abc"]
    while alive:
        encode(alive[0], TEXTS[:1])
        del alive[0]  # the first that came is the first to go
        gc.collect()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
