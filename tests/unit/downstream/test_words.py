from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream import words
from sectioncls.errors import InputError, UsageError


def test_words_keep_hyphens_and_drop_single_letters():
    assert words.words_of("A wind-up toy: X2, don't_stop!") == ["wind-up", "toy", "x2", "don't", "stop"]


def test_unit_rows_leave_zeros():
    rows = words.unit_rows([[3, 4], [0, 0]])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]], rtol=1e-6)


def test_refusals(monkeypatch):
    with pytest.raises(InputError, match="no text holds a word"):
        words.word_lists(["", " . "])
    monkeypatch.setattr(words, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="need gensim, which is not installed"):
        words.gensim_models()
