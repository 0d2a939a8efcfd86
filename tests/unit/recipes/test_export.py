"""Exporting measures what it costs, and refuses beyond the tolerance with nothing written."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
import torch

from sectioncls.corpora import open_corpus
from sectioncls.downstream import PROTOCOLS, classify
from sectioncls.encoders import Encoder, LinearHead, encode, load_encoder, load_head, read_facts, save_encoder
from sectioncls.errors import ModelError, OutputError, UsageError
from sectioncls.recipes import export as module
from sectioncls.recipes.export import export_encoder, export_name
from sectioncls.recipes.probe import draw_rows


@pytest.fixture
def corpus(small_corpus):
    return open_corpus(small_corpus)


@pytest.fixture
def roles(tiny_bert, corpus, tmp_path):
    """An encoder folder with a classifier of the corpus's labels."""
    torch.manual_seed(0)
    encoder = load_encoder(tiny_bert, device="cpu")
    facts = {"name": "roles", "base_model": "tiny", "temperature": 2.0, "notes": ["a note"]}
    save_encoder(encoder, tmp_path / "roles", facts=facts, head=LinearHead(32, tuple(corpus.labels)))
    return tmp_path / "roles"


def exporting(monkeypatch, change=lambda encoder: encoder):
    """Let the graph be another copy of the network: what is measured does not depend on who runs it."""

    def graph(encoder, folder, backend, *, calibration=None, advance=None):
        return change(Encoder(copy.deepcopy(encoder.model), encoder.context))

    monkeypatch.setattr(module, "export_graph", graph)


def damaged(encoder):
    with torch.no_grad():
        for weight in encoder.backbone.parameters():
            weight.normal_(generator=torch.Generator().manual_seed(1))
    return encoder


def test_a_loss_beyond_the_tolerance_writes_nothing(roles, corpus, tmp_path, monkeypatch):
    exporting(monkeypatch, damaged)
    with pytest.raises(
        ModelError, match=r"loses \d+\.\d\d points of dev's f1-micro.* more than the 0 that are allowed"
    ):
        export_encoder(str(roles), tmp_path / "out", int8=True, corpus=corpus, tolerance=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roles"]
    done = export_encoder(str(roles), tmp_path / "out", int8=True, corpus=corpus, tolerance=100)
    assert done.loss > 0 and (tmp_path / "out" / "sectioncls.json").is_file()


def test_what_is_measured_is_dev_and_is_written(roles, corpus, tmp_path, monkeypatch):
    exporting(monkeypatch)
    said = []
    from sectioncls.recipes import Observer

    done = export_encoder(
        str(roles), tmp_path / "out", int8=True, corpus=corpus, tolerance=0, observer=Observer(note=said.append)
    )
    assert done.before == done.after and done.loss == 0
    encoder, head = load_encoder(roles, device="cpu"), load_head(roles)
    train, dev = corpus.split("train"), corpus.split("dev")
    x, y = encode(encoder, train.texts), encode(encoder, dev.texts)
    for name, method in (("f1-micro", "knn"), ("f1-micro-linear", "logistic-regression")):
        predicted = classify(x, train.labels, y, method=method, protocol=PROTOCOLS["default"])
        assert done.before[name] == pytest.approx((predicted == dev.labels).mean())
    assert done.before["f1-micro-head"] == pytest.approx((head.predict(y) == dev.labels).mean())
    facts = read_facts(tmp_path / "out")
    assert facts["exported"]["before"] == done.before and facts["exported"]["precision"] == "int8"
    assert facts["name"] == done.name == "roles-openvino-int8"
    assert facts["temperature"] == 2.0 and facts["notes"][0] == "a note"
    assert facts["exported"]["corpus"]["fingerprint"] == corpus.info.fingerprint
    assert str(tmp_path) not in json.dumps(facts)
    assert load_head(tmp_path / "out").labels == tuple(corpus.labels)
    assert said and said[0].startswith("dev: f1-micro ")


def test_float32_needs_no_corpus(tiny_bert, tmp_path, monkeypatch):
    exporting(monkeypatch)
    done = export_encoder(str(tiny_bert), tmp_path / "out", backend="onnx")
    assert done.after == {} and done.name == export_name(str(tiny_bert), "onnx", int8=False) == "tiny-bert-onnx"


def test_bad_input_is_one_line(tiny_bert, corpus, tmp_path):
    model = str(tiny_bert)
    with pytest.raises(UsageError, match="needs a corpus"):
        export_encoder(model, tmp_path / "out", int8=True)
    for tolerance in (-1, float("nan")):
        with pytest.raises(UsageError, match="tolerance"):
            export_encoder(model, tmp_path / "out", int8=True, corpus=corpus, tolerance=tolerance)
    with pytest.raises(UsageError, match="unknown backend"):
        export_encoder(model, tmp_path / "out", backend="abacus")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.doc").write_text("precious")
    with pytest.raises(OutputError, match="exists already"):
        export_encoder(model, tmp_path / "taken")
    assert not (tmp_path / "out").exists()


def test_rows_are_drawn_once_and_articles_whole(corpus):
    train = corpus.split("train")
    rows = draw_rows(train, 40, 3)
    assert len(rows) == 40 and (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(rows, draw_rows(train, 40, 3))
    assert len(draw_rows(train, 10**6, 0)) == len(train)
    whole = draw_rows(train, 40, 3, whole_articles=True)
    ids = np.asarray(train.article_ids, dtype=object)
    assert len(whole) >= 40 and not set(ids[whole]) & set(np.delete(ids, whole))
    assert len(draw_rows(train, 10**6, 0, whole_articles=True)) == len(train)
