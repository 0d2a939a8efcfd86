from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from sectioncls.downstream.doc2vec import train_doc2vec
from sectioncls.errors import InputError

pytest.importorskip("gensim")

HERDS, BRIDGES = (
    ["sheep", "wool", "shepherd", "meadow", "lamb", "grazing", "flock"],
    ["span", "cable", "deck", "girder", "pier", "load", "arch"],
)


def texts(count, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice((HERDS, BRIDGES)[row % 2], 30)) for row in range(count)]


def test_texts_on_one_thing_are_near():
    rows = train_doc2vec(texts(40), 1, dimensions=16, epochs=30)(texts(20, seed=9))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    same = rows @ rows.T
    alike = np.equal.outer(np.arange(20) % 2, np.arange(20) % 2)
    assert same[alike].mean() > same[~alike].mean() + 0.3


def test_a_text_has_one_vector_whatever_came_before():
    embed = train_doc2vec(texts(20), 1, dimensions=8)
    asked = texts(3, seed=5)
    together = embed(asked)
    np.testing.assert_array_equal(together[2], embed(asked[2:])[0])
    np.testing.assert_array_equal(together, train_doc2vec(texts(20), 1, dimensions=8)(asked))
    assert not np.array_equal(together, train_doc2vec(texts(20), 2, dimensions=8)(asked))
    np.testing.assert_array_equal(embed(["", "unheard-of"]), np.zeros((2, 8)))


def test_another_process_gives_the_same_bytes():
    code = (
        "import hashlib; from sectioncls.downstream.doc2vec import train_doc2vec as t; "
        "from sectioncls.downstream.fasttext import train_fasttext as f; "
        "x = ['sheep graze in a meadow', 'a deck on cables', 'sheep and lambs'] * 5; "
        "print([hashlib.sha256(m(x, 3, dimensions=8)(x + ['lamb deck']).tobytes()).hexdigest() for m in (t, f)])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_nothing_to_learn_from():
    with pytest.raises(InputError, match="no text holds a word"):
        train_doc2vec(["", "."], 1)
