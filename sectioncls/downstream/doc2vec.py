"""Doc2Vec: a vector of a text that foretells the text's words, learnt from texts alone.

Paper: Le and Mikolov, arXiv 1405.4053 (PV-DBOW), as gensim has it. SPECTER (arXiv 2004.07180, table 1) and SciNCL print
a row of it. Theirs was learnt on far more papers; ours on the training papers of the set at hand. Every text, of train
too, gets its vector by inference, so that all stand in one space.

gensim begins an inference from Python's own hash of the text, which differs from process to process; here it begins
from a checksum of the text, so that vectors are the same everywhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.words import TextEmbedder, gensim_models, unit_rows, word_lists, words_of

__all__ = ["train_doc2vec"]


def train_doc2vec(
    texts: Sequence[str],
    seed: int,
    *,
    dimensions: int = 200,
    epochs: int = 20,
    least: int = 2,
    negatives: int = 5,
) -> TextEmbedder:
    """Learn Doc2Vec from ``texts`` and give what turns any texts into unit rows, (texts, ``dimensions``).

    Words that occur fewer than ``least`` times are left out. One thread, so that a seed gives the same bytes.
    Raises InputError for texts without words, UsageError without gensim.
    """
    models = gensim_models()
    lists = word_lists(texts)
    counts = sum(len(words) for words in lists)
    model = models.Doc2Vec(
        [models.doc2vec.TaggedDocument(words, [row]) for row, words in enumerate(lists) if words],
        dm=0,
        vector_size=dimensions,
        epochs=epochs,
        min_count=least if counts > least * 1000 else 1,
        negative=negatives,
        sample=1e-4 if counts > 100_000 else 0,
        seed=seed,
        workers=1,
    )

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(texts), dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            words = [word for word in words_of(text) if word in model.wv]
            if words:
                rows[row] = _inferred(model, words, seed)
        return unit_rows(rows)

    return embed


def _inferred(model: Any, words: list[str], seed: int) -> npt.NDArray[np.float32]:
    """Give the vector of one text: gensim's inference, begun from the text itself."""
    start = np.random.default_rng((seed, zlib.crc32(" ".join(words).encode())))
    size = model.dv.vector_size
    vector = ((start.random((1, size)) - 0.5) / size).astype(np.float32)
    model.random.seed(seed)  # what words are drawn as negatives must not hang on earlier texts
    work, free = np.zeros(model.layer1_size, dtype=np.float32), np.ones(1, dtype=np.float32)
    step = (model.alpha - model.min_alpha) / max(model.epochs - 1, 1)
    learn = gensim_models().doc2vec.train_document_dbow
    for epoch in range(model.epochs):
        learn(
            model,
            words,
            [0],
            model.alpha - epoch * step,
            work,
            learn_words=False,
            learn_hidden=False,
            doctag_vectors=vector,
            doctags_lockf=free,
        )
    found: npt.NDArray[np.float32] = vector[0]
    return found
