"""The fast tiers beside SentenceTransformer.encode: what they gain, and what they cost in dev's F1-micro.

CSAbstruct, MiniLM. Measured in seconds of the processor, of which a busy machine takes nothing away.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

# Sentences of test that are encoded: two batches of 512 for the peer.
_SENTENCES = 1024


@pytest.fixture(scope="module")
def corpus(shared, tmp_path_factory):
    from sectioncls.corpora import build_csabstruct, open_corpus

    folder = tmp_path_factory.mktemp("corpora") / "csabstruct"
    build_csabstruct(shared / "sentences" / "paper_csabstruct", folder, command="sectioncls build-csabstruct")
    return open_corpus(folder)


@pytest.fixture(scope="module")
def texts(corpus):
    return list(corpus.split("test").texts[:_SENTENCES])


@pytest.fixture(scope="module")
def folders(corpus, tmp_path_factory):
    """Give the folder of a tier, made when first asked for, or found in $SECTIONCLS_TIERS/NAME."""
    made = {}

    def make(name):
        from sectioncls.recipes.distill import distill_encoder
        from sectioncls.recipes.export import export_encoder

        kept = Path(os.environ.get("SECTIONCLS_TIERS", "nowhere")) / name
        if name not in made and kept.is_dir():
            made[name] = kept
        if name not in made:
            made[name] = tmp_path_factory.mktemp("tiers") / name
            if name == "int8":
                export_encoder("minilm", made[name], int8=True, corpus=corpus, tolerance=0.3)
            else:
                distill_encoder("minilm", made[name], corpus=corpus)
        return made[name]

    return make


def _seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began


class _Encoding:
    """Encoding with an encoder in another process, for its peak of memory."""

    def __init__(self, model, texts, peer=False):
        self.model, self.texts, self.peer = model, texts, peer

    def __call__(self):
        from sectioncls.encoders import encode, load_encoder

        encoder = load_encoder(self.model, device="cpu")
        if self.peer:
            return lambda: encoder.model.encode(self.texts, batch_size=512, show_progress_bar=False)
        return lambda: encode(encoder, self.texts)


@pytest.fixture(scope="module")
def peer(texts):
    """SentenceTransformer.encode, float32, in batches of 512: processor seconds, and a function for its peak in MB."""
    from sectioncls.encoders import load_encoder

    model = load_encoder("minilm", device="cpu").model
    model.encode(texts[:8])
    seconds = _seconds(lambda: model.encode(texts, batch_size=512, show_progress_bar=False))
    known = []

    def peak(peak_memory):
        if not known:
            known.append(peak_memory(_Encoding("minilm", texts, peer=True)))
        return known[0]

    return seconds, peak


def _compare(name, folder, texts, peer, peak_memory, repeats):
    from sectioncls.encoders import encode, load_encoder, read_facts

    fast = load_encoder(folder, device="cpu")
    encode(fast, texts)
    seconds = _seconds(lambda: [encode(fast, texts) for _ in range(repeats)]) / repeats
    facts = read_facts(folder)
    told = facts.get("exported") or {"before": facts["distilled"]["teacher"], "after": facts["dev"]}
    lost = {key: 100 * (told["before"][key] - value) for key, value in told["after"].items()}
    print(
        f"\n{name}: {len(texts)} sentences, SentenceTransformer.encode(batch_size=512) {len(texts) / peer[0]:.0f}/s, "
        f"ours {len(texts) / seconds:.0f}/s: {peer[0] / seconds:.1f} x; dev "
        + ", ".join(f"{key} {100 * told['after'][key]:.2f} ({-value:+.2f})" for key, value in lost.items())
    )
    ours = peak_memory(_Encoding(str(folder), texts))
    print(f"  peak memory: SentenceTransformer.encode {peer[1](peak_memory):.0f} MB, ours {ours:.0f} MB")
    return peer[0] / seconds, lost


def test_int8(folders, texts, peer, peak_memory):
    for library in ("openvino", "nncf"):
        pytest.importorskip(library)
    gain, lost = _compare("int8", folders("int8"), texts, peer, peak_memory, repeats=1)
    assert gain >= 6
    assert max(lost.values()) <= 0.3


def test_static(folders, texts, peer, peak_memory):
    gain, lost = _compare("static", folders("static"), texts, peer, peak_memory, repeats=5)
    assert gain >= 100
    assert max(lost.values()) <= 8
