"""Encoding 1,000 papers: conditioned encoders beside the plain one, and ours beside SentenceTransformer.encode.

Measured in seconds of the processor, of which a busy machine takes nothing away. Float32 is bound by the matrix
multiplications that both sides share, so there the gain is what padding costs; 16 bit is a choice of ours.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import defaultdict

import numpy as np
import pytest
import torch

WORDS = [
    f"{stem}{end}" for stem in ("model", "patient", "network", "result", "cell", "graph") for end in ("", "s", "ing")
]
WORDS += ["we", "show", "that", "of", "the", "in", "for", "with", "and", "a", "this", "these", "were", "between"]


def _papers(count):
    """Made-up texts of about 160 tokens, from 40 to 250."""
    random = np.random.default_rng(0)
    lengths = np.clip(random.normal(148, 45, count), 40, 250).astype(int)
    return [" ".join(random.choice(WORDS, length)) for length in lengths]


def _processor_seconds(work, repeats):
    """The least of the repeats, taken in turns."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(repeats):
        for name, function in work.items():
            began = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - began)
    return best


@pytest.fixture(scope="module")
def minilm():
    from sectioncls.encoders import load_encoder

    return load_encoder("minilm", device="cpu")


def test_conditioned_encoders_cost_little_more(minilm):
    from sectioncls.encoders import CONDITIONINGS, condition, encode

    texts = _papers(100)
    adapters = condition(minilm, "adapters")
    work = {"plain": lambda: encode(minilm, texts)}
    for kind in CONDITIONINGS:
        encoder = condition(adapters if kind == "fusion" else minilm, kind)
        work[kind] = lambda encoder=encoder: encode(encoder, texts, "search")
    seconds = _processor_seconds(work, repeats=5)
    cost = {name: value / seconds["plain"] for name, value in seconds.items()}
    print(f"\nencoding {len(texts)} papers, MiniLM, float32: {seconds['plain'] * 1000 / len(texts):.1f} ms each, plain")
    print("  times plain's: " + ", ".join(f"{name} {value:.2f}" for name, value in cost.items() if name != "plain"))
    assert cost["mha-experts"] <= 1.10 and cost["ffn-experts"] <= 1.10
    assert cost["adapters"] <= 1.15


def test_a_thousand_papers(minilm):
    from sectioncls.encoders import encode

    texts = _papers(1000)
    assert 150 < minilm.tokenise(texts).lengths.mean() < 170
    seconds = _processor_seconds(
        {
            "float32": lambda: encode(minilm, texts),
            "bf16": lambda: encode(minilm, texts, precision="bf16"),
            "peer": lambda: minilm.model.encode(texts, batch_size=32, show_progress_bar=False),
        },
        repeats=1,
    )
    gain = {name: seconds["peer"] / seconds[name] for name in ("float32", "bf16")}
    print(
        f"\nencoding {len(texts)} papers: SentenceTransformer.encode(batch_size=32) "
        f"{seconds['peer']:.1f} s of processor; "
        f"ours float32 {gain['float32']:.2f} x as fast, bf16 {gain['bf16']:.2f} x"
    )
    assert gain["float32"] >= 1.0  # both sides multiply alike: what is saved is padding, and sorted papers have little
    if torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported():
        assert gain["bf16"] >= 1.8


def test_sixteen_bit_give_the_same_dev_score(minilm, shared):
    """Mean average precision of rerank_couple on the cystic fibrosis collection's dev queries."""
    from sectioncls.encoders import encode

    folder = shared / "papers" / "cf"
    with gzip.open(folder / "papers.jsonl.gz", "rt", encoding="utf-8") as stream:
        papers = {row["id"]: f"{row['title']}. {row['abstract'] or ''}" for row in map(json.loads, stream)}
    judged = defaultdict(dict)
    with gzip.open(folder / "rerank_couple" / "dev.tsv.gz", "rt", encoding="utf-8") as stream:
        next(stream)
        for line in stream:
            query, paper, score = line.rstrip("\n").split("\t")[:3]
            judged[query][paper] = float(score)
    ids = sorted({*judged, *(paper for row in judged.values() for paper in row)})
    place = {paper: row for row, paper in enumerate(ids)}
    scores = {}
    for precision in ("float32", "bf16"):
        vectors = encode(minilm, [papers[paper] for paper in ids], precision=precision)
        values = []
        for query, row in judged.items():
            near = vectors[[place[paper] for paper in row]] @ vectors[place[query]]
            hits = np.array([score > 0 for score in row.values()])[np.argsort(-near, kind="stable")]
            values.append(np.mean(np.arange(1, hits.sum() + 1) / (np.flatnonzero(hits) + 1)))
        scores[precision] = 100 * np.mean(values)
    print(f"\n{len(ids)} papers, {len(judged)} queries: MAP float32 {scores['float32']:.2f}, bf16 {scores['bf16']:.2f}")
    assert abs(scores["bf16"] - scores["float32"]) < 0.2
