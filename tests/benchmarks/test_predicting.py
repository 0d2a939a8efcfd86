"""Labelling whole articles, beside the stock path: SentenceTransformer.encode of single sentences, then an SVM."""

from __future__ import annotations

import tarfile
import time
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

ARTICLES = 12


@pytest.fixture(scope="module")
def articles(shared):
    from sectioncls.predict import read_given
    from sectioncls.predict.sources import Given

    given = (item for item in read_given([shared / "jats"]) if isinstance(item, Given))
    return [item.content for item in islice(given, ARTICLES)]


@pytest.fixture(scope="module")
def int8(shared, tmp_path_factory):
    """The model in the box in 8 bits, its scales set with CSAbstruct's train split and judged on its dev split."""
    pytest.importorskip("openvino", reason="openvino is not installed")
    pytest.importorskip("nncf", reason="nncf is not installed")
    from sectioncls.corpora import build_csabstruct
    from sectioncls.predict.label import BOX
    from sectioncls.recipes.export import export_encoder

    folder = tmp_path_factory.mktemp("int8")
    corpus = build_csabstruct(shared / "sentences" / "csabstruct_official", folder / "corpus", command="benchmark")
    # Its classifier has a label that this corpus lacks, so nearest neighbours and a regression judge, which waver more.
    export_encoder(str(BOX), folder / "model", int8=True, corpus=corpus, tolerance=0.5)
    return folder / "model"


def test_whole_articles(articles, int8, interleaved):
    from sklearn.svm import SVC

    from sectioncls import load_model
    from sectioncls.encoders import load_encoder
    from sectioncls.predict import sentences_of

    models = {"float32": load_model(), "bf16": load_model(precision="bf16"), "int8": load_model(int8)}
    stock = load_encoder("minilm", device="cpu").model
    texts = [sentence.text for article in articles for sentence in sentences_of(article)]
    random = np.random.default_rng(0)
    known = random.normal(size=(4000, 384)).astype(np.float32)
    svm = SVC().fit(known / np.linalg.norm(known, axis=1, keepdims=True), random.integers(0, 5, 4000))
    found = {}

    def label(name: str) -> None:
        found[name] = [s.label for sentences in models[name].predict_each(articles) for s in sentences]

    work = {name: partial(label, name) for name in models}
    stock_path = {"stock": lambda: svm.predict(stock.encode(texts, show_progress_bar=False))}
    times = interleaved(work | stock_path, repeats=1)
    ratio = {name: times["stock"] / times[name] for name in models}
    same = {
        name: np.mean([one == other for one, other in zip(found[name], found["float32"], strict=True)])
        for name in models
    }
    print(
        f"\nlabelling {len(texts)} sentences of {len(articles)} articles; SentenceTransformer.encode and SVC "
        f"{len(texts) / times['stock']:.0f}/s; ours "
        + ", ".join(
            f"{name} {len(texts) / times[name]:.0f}/s ({ratio[name]:.2f} x, {100 * same[name]:.1f} % the same labels)"
            for name in models
        )
    )
    assert same["bf16"] >= 0.99 and same["int8"] >= 0.98
    assert ratio["float32"] >= 1
    assert ratio["int8"] >= 3


def _label(paths: list[Path], out: Path) -> object:
    from sectioncls.predict import label_stream, load_model, read_given

    return label_stream(load_model(), read_given(paths), out, settings={})


def _work(paths: list[Path], out: Path):
    import sectioncls.predict  # noqa: F401  (imports are no work)

    return partial(_label, paths, out)


def test_memory_is_flat(shared, peak_memory, tmp_path):
    """Four times the articles need hardly more memory."""
    with tarfile.open(shared / "jats" / "pmc_xml.tar.xz") as archive:
        archive.extractall(tmp_path / "in", filter="data")
    files = sorted((tmp_path / "in").rglob("*.xml"))
    few = peak_memory(partial(_work, files[:20], tmp_path / "few.jsonl"))
    many = peak_memory(partial(_work, files[:80], tmp_path / "many.jsonl"))
    print(f"\npredict: {few:.0f} MB for 20 articles, {many:.0f} MB for 80")
    assert many <= 1.5 * few


def _rate(encoder, tokens, precision: str) -> float:
    """Give the sentences per second of the processor, the better of two rounds."""
    from sectioncls.encoders import encode_tokens

    costs = []
    for _ in range(2):
        began = time.process_time()
        encode_tokens(encoder, tokens, precision)
        costs.append(time.process_time() - began)
    return tokens.items / min(costs)


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_context_costs_little(articles, shared, tmp_path, precision):
    """The same MiniLM reads the same sentences one by one and in windows of their article or abstract."""
    from sectioncls.corpora import build_csabstruct
    from sectioncls.encoders import Context, load_encoder
    from sectioncls.predict import sentences_of

    every = [(sentence, str(place)) for place, article in enumerate(articles) for sentence in sentences_of(article)]
    texts = [sentence.text for sentence, _ in every], [place for _, place in every], [s.index for s, _ in every]
    corpus = build_csabstruct(shared / "sentences" / "csabstruct_official", tmp_path / "corpus", command="benchmark")
    test = corpus.split("test")
    sets = {"abstracts": (test.texts, test.article_ids, test.index), "whole articles": texts}
    ratios = {}
    for name, rows in sets.items():
        alone = load_encoder("minilm")
        rate = _rate(alone, alone.read(*rows), precision)
        print(f"\n{name}, {len(rows[0])} sentences, {precision}: alone {rate:.0f}/s", end="")
        for overlap in (64, 32):
            reader = load_encoder("minilm", context=Context(overlap=overlap))
            own = _rate(reader, reader.read(*rows), precision)
            ratios[name, overlap] = rate / own
            print(f", in windows that overlap by {overlap} tokens {own:.0f}/s ({rate / own:.2f} x the time)", end="")
    assert ratios["abstracts", 64] <= 1.3
    # A window of 512 tokens attends to all of them, no faster in 16 bits than in 32, and its edges are read twice.
    assert ratios["whole articles", 64] <= {"float32": 1.5, "bf16": 2.2}[precision]
