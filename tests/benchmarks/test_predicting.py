"""Labelling whole articles, beside the stock path: SentenceTransformer.encode of single sentences, then an SVM."""

from __future__ import annotations

import tarfile
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


def test_whole_articles(articles, interleaved):
    from sklearn.svm import SVC

    from sectioncls import load_model
    from sectioncls.encoders import load_encoder
    from sectioncls.predict import sentences_of

    exact, fast = load_model(), load_model(precision="bf16")
    stock = load_encoder("minilm", device="cpu").model
    texts = [sentence.text for article in articles for sentence in sentences_of(article)]
    random = np.random.default_rng(0)
    # An SVM of as many support vectors as CSAbstruct's train split gives.
    known = random.normal(size=(11_000, 384)).astype(np.float32)
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    svm = SVC().fit(known[:4000], random.integers(0, 5, 4000))
    times = interleaved(
        {
            "float32": lambda: list(exact.predict_each(articles)),
            "bf16": lambda: list(fast.predict_each(articles)),
            "stock": lambda: svm.predict(stock.encode(texts, show_progress_bar=False)),
        },
        repeats=1,
    )
    rate = {name: len(texts) / seconds for name, seconds in times.items()}
    labels = [[s.label for sentences in model.predict_each(articles) for s in sentences] for model in (exact, fast)]
    same = float(np.mean([one == other for one, other in zip(*labels, strict=True)]))
    print(
        f"\nlabelling {len(texts)} sentences of {len(articles)} articles: float32 {rate['float32']:.0f}/s "
        f"({rate['float32'] / rate['stock']:.2f} x), bf16 {rate['bf16']:.0f}/s ({rate['bf16'] / rate['stock']:.2f} x); "
        f"SentenceTransformer.encode and SVC {rate['stock']:.0f}/s; bf16 gives {100 * same:.2f} % the same labels"
    )
    assert same >= 0.99
    assert rate["float32"] / rate["stock"] >= 1


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
