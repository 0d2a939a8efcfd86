"""BM25 against its formula, TF-IDF against scikit-learn's own parts."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from sectioncls.downstream.lexical import bm25_scorer, tfidf_features, tfidf_scorer
from sectioncls.errors import InputError

DOCUMENTS = (
    "tall ships sail north",
    "ships and harbours, ships at sea",
    "quiet gardens grow north of harbours",
    "",
)
QUERIES = ("ships sail", "ships ships sail", "north harbours", "the of and", "")
STOP = {"and", "at", "of", "the"}


def lucene(query, document):
    """BM25 in Lucene's form, k1 1.5, b 0.75: no factor k1 + 1 in the numerator."""
    words = [[w for w in text.replace(",", "").split() if w not in STOP] for text in DOCUMENTS]
    mean = sum(map(len, words)) / len(words)
    counts = Counter(words[document])
    score = 0.0
    for word in [w for w in query.split() if w not in STOP]:
        holding = sum(word in one for one in words)
        if not holding:
            continue
        idf = math.log(1 + (len(words) - holding + 0.5) / (holding + 0.5))
        length = 1.5 * (1 - 0.75 + 0.75 * len(words[document]) / mean)
        score += idf * counts[word] / (counts[word] + length)
    return score


def test_bm25_is_its_formula():
    found = bm25_scorer(QUERIES, DOCUMENTS)(np.arange(5))
    expected = [[lucene(query, document) for document in range(4)] for query in QUERIES]
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def test_bm25_of_a_block_is_that_of_its_rows():
    scorer = bm25_scorer(QUERIES, DOCUMENTS)
    assert (scorer(np.array([2, 0])) == scorer(np.arange(5))[[2, 0]]).all()


def test_tfidf_is_a_cosine():
    scorer = tfidf_scorer([*DOCUMENTS[:3], ""], DOCUMENTS)
    found = scorer(np.arange(4))
    assert np.diag(found)[:3] == pytest.approx(1)
    assert (found[3] == 0).all()
    assert (found[:, 3] == 0).all()
    assert found[0, 1] > 0
    # One shared word, "harbours", once in each: its weight over the lengths, by hand.
    idf = {word: math.log(5 / (1 + n)) + 1 for word, n in (("ships", 2), ("harbours", 2), ("north", 2), ("one", 1))}
    left = [(1 + math.log(2)) * idf["ships"], idf["harbours"], idf["one"]]
    right = [idf["one"]] * 3 + [idf["north"], idf["harbours"]]
    expected = idf["harbours"] ** 2 / math.hypot(*left) / math.hypot(*right)
    assert found[1, 2] == pytest.approx(expected)


def test_features_are_words_of_two_training_texts():
    train, test = tfidf_features(DOCUMENTS, ["ships north gardens"])
    assert train.shape == (4, 3)  # ships, north, harbours
    assert test.nnz == 2
    assert np.linalg.norm(test.toarray()) == pytest.approx(1)


def test_refusals():
    with pytest.raises(InputError, match="no document holds a word"):
        bm25_scorer(QUERIES, ["", "the of"])
    with pytest.raises(InputError, match="no document holds a word"):
        tfidf_scorer(QUERIES, ["", "the of"])
    with pytest.raises(InputError, match="no word occurs in two of the texts"):
        tfidf_features(["ships", "gardens"], ["ships"])
