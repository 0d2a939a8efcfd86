from __future__ import annotations

import importlib
from collections import Counter

import numpy as np
import pytest

from sectioncls.downstream.fasttext import BUCKETS, train_fasttext
from sectioncls.errors import InputError

pytest.importorskip("gensim")

TEXTS = ["sheep graze in a meadow", "lambs and sheep in a meadow", "a deck hangs on cables", "cables hold a deck"] * 4


def test_an_average_by_rarity_as_gensim_alone_gives_it():
    model = importlib.import_module("gensim.models").FastText(
        [[word for word in text.split() if len(word) > 1] for text in TEXTS],
        **{"sg": 1, "vector_size": 8, "epochs": 5, "min_count": 1, "window": 5, "bucket": BUCKETS, "seed": 3},
        workers=1,
    )
    text = "sheep meadow sheep unseenword"
    expected = np.zeros(8)
    for word, count in Counter(text.split()).items():
        vector = model.wv.get_vector(word).astype(np.float64)
        weight = np.log((1 + len(TEXTS)) / (1 + sum(word in other.split() for other in TEXTS)))
        expected += count * weight * vector
    (found,) = train_fasttext(TEXTS, 3, dimensions=8, epochs=5)([text])
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-6)


def test_rows_are_unit_or_nothing():
    rows = train_fasttext(TEXTS, 3, dimensions=8)(["a meadow", ""])
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-6) and not rows[1].any()
    with pytest.raises(InputError, match="no text holds a word"):
        train_fasttext([""], 3)
