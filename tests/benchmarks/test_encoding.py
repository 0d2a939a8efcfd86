"""Encoding CSAbstruct test in float32, beside SentenceTransformer.encode."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="module")
def texts(shared):
    import pyarrow.parquet as pq

    path = shared / "sentences" / "paper_csabstruct" / "csabstruct_test.parquet"
    return pq.read_table(path)["sentence"].to_pylist()


def test_throughput(texts, interleaved):
    from sectioncls.encoders import encode, load_encoder

    encoder = load_encoder("minilm", device="cpu")
    model = encoder.model
    np.testing.assert_allclose(encode(encoder, texts[:64]), model.encode(texts[:64]), atol=1e-6)
    times = interleaved(
        {
            "ours": lambda: encode(encoder, texts),
            "batch 32": lambda: model.encode(texts, batch_size=32, show_progress_bar=False),
            "batch 512": lambda: model.encode(texts, batch_size=512, show_progress_bar=False),
        },
        repeats=3,
    )
    rate = {name: len(texts) / seconds for name, seconds in times.items()}
    print(
        f"\nencoding {len(texts)} sentences, float32: {rate['ours']:.0f}/s; SentenceTransformer.encode "
        f"batch 32 {rate['batch 32']:.0f}/s: {rate['ours'] / rate['batch 32']:.2f} x, "
        f"batch 512 {rate['batch 512']:.0f}/s: {rate['ours'] / rate['batch 512']:.2f} x"
    )
    assert rate["ours"] / rate["batch 512"] >= 2
    assert rate["ours"] / rate["batch 32"] >= 1.15
