"""Top lists against a naive sort, ties against a hash, and what is refused."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy import sparse

from sectioncls.downstream import retrieve
from sectioncls.downstream.retrieve import (
    dense_scorer,
    hash_order,
    id_order,
    pair_scores,
    pair_similarities,
    sparse_scorer,
    top_documents,
)
from sectioncls.errors import InputError, UsageError

RNG = np.random.default_rng(3)
QUERIES, DOCUMENTS = RNG.normal(size=(7, 5)), RNG.normal(size=(23, 5))


def naive(query, document, similarity):
    if similarity == "dot":
        return float(query @ document)
    if similarity == "cosine":
        return float(query @ document / np.linalg.norm(query) / np.linalg.norm(document))
    return -float(np.linalg.norm(query - document))


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
def test_top_lists_are_those_of_a_full_sort(similarity):
    lists = top_documents(dense_scorer(QUERIES, DOCUMENTS, similarity), np.arange(7), np.arange(23), 6)
    for query, found in zip(QUERIES, lists, strict=True):
        scores = [naive(query, document, similarity) for document in DOCUMENTS]
        assert found.tolist() == sorted(range(23), key=lambda row: -scores[row])[:6]


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
def test_pairs_have_the_similarity_of_their_rows(similarity):
    rows = RNG.integers(0, 7, 40), RNG.integers(0, 23, 40)
    expected = [naive(QUERIES[q], DOCUMENTS[d], similarity) for q, d in zip(*rows, strict=True)]
    assert pair_similarities(QUERIES, DOCUMENTS, *rows, similarity) == pytest.approx(expected)


def test_small_blocks_change_nothing(monkeypatch):
    rows = RNG.integers(0, 7, 40), RNG.integers(0, 23, 40)
    scorer = dense_scorer(QUERIES, DOCUMENTS)
    whole = top_documents(scorer, np.arange(7), np.arange(23), 6), pair_scores(scorer, *rows, 23)
    near = pair_similarities(QUERIES, DOCUMENTS, *rows)
    monkeypatch.setattr(retrieve, "BLOCK", 40)
    assert (top_documents(scorer, np.arange(7), np.arange(23), 6) == whole[0]).all()
    assert pair_scores(scorer, *rows, 23) == pytest.approx(whole[1])
    assert pair_similarities(QUERIES, DOCUMENTS, *rows) == pytest.approx(near)
    assert whole[1] == pytest.approx(near)


def test_equal_scores_stand_in_the_given_order():
    scores = np.array([[1.0, 2.0, 1.0, 2.0, 1.0]])
    order = np.array([4, 3, 2, 1, 0])
    for k, expected in ((1, [3]), (2, [3, 1]), (3, [3, 1, 4]), (4, [3, 1, 4, 2]), (5, [3, 1, 4, 2, 0])):
        assert top_documents(lambda rows: scores[rows], [0], order, k).tolist() == [expected]


def test_a_query_takes_no_place_in_its_own_list():
    vectors = RNG.normal(size=(6, 4))
    scorer = dense_scorer(vectors, vectors, "cosine")
    rows = np.arange(6)
    kept = top_documents(scorer, rows, rows, 3)
    assert kept[:, 0].tolist() == rows.tolist()
    removed = top_documents(scorer, rows, rows, 3, own=rows)
    assert (removed != rows[:, None]).all()
    assert (removed[:, :2] == kept[:, 1:]).all()
    everything = top_documents(scorer, rows, rows, 6, own=rows)
    assert (everything[:, 5] == -1).all()
    assert (np.sort(everything[:, :5]) != rows[:, None]).all()
    some = np.where(rows < 3, rows, -1)
    assert (top_documents(scorer, rows, rows, 3, own=some)[3:] == kept[3:]).all()


def test_hash_order_is_that_of_sha1_and_heeds_no_file_order():
    ids = [f"paper {number}" for number in range(50)]
    expected = sorted(ids, key=lambda name: hashlib.sha1(name.encode()).hexdigest())
    assert [ids[row] for row in hash_order(ids)] == expected
    turned = ids[::-1]
    assert [turned[row] for row in hash_order(turned)] == expected


def test_id_order_is_that_of_trec_eval():
    import pytrec_eval

    ids = ["b", "a10", "a9", "Z", "é"]
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a9": 1}}, {"recip_rank"})
    rank = round(1 / evaluator.evaluate({"q": dict.fromkeys(ids, 1.0)})["q"]["recip_rank"])
    assert [ids[row] for row in id_order(ids)].index("a9") == rank - 1


def test_sparse_rows_score_as_dense_ones():
    queries, documents = (sparse.random_array((9, 30), density=0.3, rng=RNG, format="csr") for _ in range(2))
    rows = np.array([4, 0])
    assert sparse_scorer(queries, documents)(rows) == pytest.approx((queries @ documents.T).toarray()[rows])


def test_a_zero_vector_is_near_to_nothing():
    assert dense_scorer(np.zeros((1, 3)), np.ones((2, 3)), "cosine")(np.array([0])).tolist() == [[0, 0]]


def test_refusals():
    with pytest.raises(UsageError, match="no similarity 'manhattan': dot, cosine, euclidean"):
        dense_scorer(QUERIES, DOCUMENTS, "manhattan")
    with pytest.raises(InputError, match="queries have 5 dimensions, documents 4"):
        dense_scorer(QUERIES, DOCUMENTS[:, :4])
    with pytest.raises(InputError, match="2 query rows but 1 document rows"):
        pair_similarities(QUERIES, DOCUMENTS, np.array([0, 1]), np.array([0]))
    with pytest.raises(UsageError, match="the top 0 documents"):
        top_documents(dense_scorer(QUERIES, DOCUMENTS), [0], np.arange(23), 0)
