"""BM25 read by numpy against bm25s itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from sectioncls.errors import InputError
from sectioncls.vectors.terms import TERM_FILES, open_terms, write_terms

TEXTS = [
    "Large graphs and the edges of graphs",
    "x",
    "",
    "Graphs, graphs, drawing! Edges are many",
    "Drawings of a sea-side in blue",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("terms") / "terms"
    write_terms(TEXTS, place)
    return place


@pytest.mark.parametrize("query", ["graphs", "Graphs edges of GRAPHS", "blue sea unheard", "the of", "", "unheard"])
def test_scores_are_those_of_bm25s(folder: Path, query: str) -> None:
    import bm25s

    model = bm25s.BM25.load(folder, backend="numpy")
    words = bm25s.tokenize([query], stopwords="en", return_ids=False, show_progress=False)[0]
    known = [word for word in words if word in model.vocab_dict]
    expected = model.get_scores(known) if known else np.zeros(len(TEXTS))
    np.testing.assert_array_equal(open_terms(folder).scores(query), expected)


def test_texts_are_alike_by_the_cosine_of_their_weights(folder: Path) -> None:
    terms = open_terms(folder)
    weights = np.stack([terms.scores(word) for word in terms.vocabulary], axis=1)
    lengths = np.linalg.norm(weights, axis=1)
    expected = weights @ weights[0] / np.maximum(lengths * lengths[0], 1e-9)
    np.testing.assert_allclose(terms.scores_like(0), expected, atol=1e-6)
    assert terms.scores_like(0)[0] == pytest.approx(1)
    np.testing.assert_array_equal(terms.scores_like(2), np.zeros(len(TEXTS)))


def test_files_are_listed_and_hold_no_pickle(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(TERM_FILES)
    for path in folder.glob("*.npy"):
        np.load(path, allow_pickle=False)


def test_texts_without_a_word(tmp_path: Path) -> None:
    write_terms(["", "a", "the"], tmp_path / "terms")
    terms = open_terms(tmp_path / "terms")
    np.testing.assert_array_equal(terms.scores("the word"), np.zeros(3))
    np.testing.assert_array_equal(terms.scores_like(1), np.zeros(3))


@pytest.mark.parametrize("name", TERM_FILES)
def test_a_broken_file_is_one_line(folder: Path, tmp_path: Path, name: str) -> None:
    for number, content in enumerate((b"", b"[]", b"\x93NUMPY\x01\x00v\x00{'descr': '|O', }")):
        broken = tmp_path / str(number)
        shutil.copytree(folder, broken)
        (broken / name).write_bytes(content)
        with pytest.raises(InputError):
            open_terms(broken)


def test_rows_beyond_the_texts_are_refused(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "terms"
    shutil.copytree(folder, broken)
    rows = np.load(broken / "indices.csc.index.npy")
    np.save(broken / "indices.csc.index.npy", rows + len(TEXTS))
    with pytest.raises(InputError, match="names a text"):
        open_terms(broken).scores("graphs")
