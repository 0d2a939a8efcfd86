"""Distilling by recipe: a folder that loads, chosen on dev, with what it cost."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.corpora import open_corpus
from sectioncls.encoders import encode, load_encoder, read_facts
from sectioncls.errors import ModelError, OutputError, UsageError
from sectioncls.recipes import Observer
from sectioncls.recipes.distill import distill_encoder


@pytest.fixture(scope="module")
def distilled(tiny_bert, small_corpus, tmp_path_factory):
    said = []
    folder = tmp_path_factory.mktemp("distil") / "s"
    done = distill_encoder(
        str(tiny_bert), folder, corpus=open_corpus(small_corpus), dims=16, observer=Observer(note=said.append)
    )
    return done, said


def test_dev_chooses(distilled):
    done, said = distilled
    sums = {}
    for line in said:
        way, _, rest = line.partition(": dev ")
        sums[way] = sum(float(part.split()[1]) for part in rest.split(", "))
    assert len(sums) >= 3 and {"zipf", "counted"} < set(sums)
    assert sums[done.way] == pytest.approx(max(sums.values()), abs=0.011)
    assert read_facts(done.folder)["distilled"]["way"] == done.way


def test_scores_are_those_of_what_was_written(distilled, small_corpus):
    from sectioncls.downstream import PROTOCOLS, classify

    done, _ = distilled
    corpus = open_corpus(small_corpus)
    train, dev = corpus.split("train"), corpus.split("dev")
    encoder = load_encoder(done.folder, device="cpu")
    x, y = encode(encoder, train.texts), encode(encoder, dev.texts)
    assert x.shape[1] == 16
    predicted = classify(x, train.labels, y, method="knn", protocol=PROTOCOLS["default"])
    assert done.dev["f1-micro"] == pytest.approx((predicted == dev.labels).mean(), abs=0.02)


def test_without_a_corpus_and_again(tiny_bert, tmp_path):
    first = distill_encoder(str(tiny_bert), tmp_path / "a", dims=8)
    distill_encoder(str(tiny_bert), tmp_path / "b", dims=8)
    assert first.way == "zipf" and first.dev == {}
    texts = ["we propose a method", "results"]
    a, b = (encode(load_encoder(tmp_path / name, device="cpu"), texts) for name in "ab")
    np.testing.assert_array_equal(a, b)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


def test_what_can_not_be_is_one_line(tiny_bert, distilled, tmp_path):
    done, _ = distilled
    with pytest.raises(UsageError, match="33 can't be had"):
        distill_encoder(str(tiny_bert), tmp_path / "s", dims=33)
    with pytest.raises(ModelError, match="static already"):
        distill_encoder(str(done.folder), tmp_path / "s", dims=8)
    with pytest.raises(OutputError, match="exists already"):
        distill_encoder(str(tiny_bert), done.folder, dims=8)
    assert not (tmp_path / "s").exists()
