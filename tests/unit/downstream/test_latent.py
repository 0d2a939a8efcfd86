from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream.latent import fit_latent
from sectioncls.errors import InputError

TEXTS = ["sheep graze meadow", "lambs graze meadow", "deck hangs cables", "cables hold deck", "sheep lambs deck"]


def test_all_directions_keep_the_cosines_of_the_singular_rows():
    latent = fit_latent(TEXTS, 0, dimensions=3)
    weights = latent.weights(TEXTS).toarray().astype(np.float64)
    left, values, _ = np.linalg.svd(weights, full_matrices=False)
    rows = left[:, :3] * values[:3]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = latent(TEXTS)
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-5)
    np.testing.assert_array_equal(found, fit_latent(TEXTS, 0, dimensions=3)(TEXTS))


def test_a_text_of_unknown_words_is_nothing():
    assert not fit_latent(TEXTS, 0)(["nowhere seen"]).any()


def test_refusals():
    with pytest.raises(InputError, match="no word occurs in two"):
        fit_latent(["sheep", "goats"], 0)
    with pytest.raises(InputError, match="too little for directions"):
        fit_latent(["sheep", "sheep"], 0)
