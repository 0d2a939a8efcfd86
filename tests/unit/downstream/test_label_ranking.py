"""Topics ranked without training: names in texts, floors, recall worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sectioncls.downstream.label_ranking import (
    best_topics,
    name_matches,
    named_first,
    normalised_words,
    popularity_scorer,
    topic_judgements,
    topic_recall,
)
from sectioncls.downstream.retrieve import hash_order
from sectioncls.errors import InputError

NAMES = ("graph drawing", "Trees (botany)", "tree", "3D", "—", "Volume Rendering")
TEXTS = (
    "Graph Drawing, and graph-drawing again, of a tree.",
    "Street trees: botany of a volume; rendering comes later",
    "nothing of these",
    "volume rendering in 3d",
)


def test_words_are_lower_case_runs_of_letters_and_digits():
    assert normalised_words("Graph-Drawing: (3D) Été") == ["graph", "drawing", "3d", "t"]


def test_matches_are_whole_words_in_a_row():
    papers, topics = name_matches(TEXTS, NAMES)
    naive = [
        (paper, topic)
        for paper, text in enumerate(TEXTS)
        for topic, name in enumerate(NAMES)
        if normalised_words(name) and f" {' '.join(normalised_words(name))} " in f" {' '.join(normalised_words(text))} "
    ]
    assert list(zip(papers.tolist(), topics.tolist(), strict=True)) == naive
    assert naive == [(0, 0), (0, 2), (1, 1), (1, 5), (3, 3), (3, 5)]


def test_named_topics_come_first_and_keep_their_order():
    scores = np.array([[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]] * 4)
    lifted = named_first(lambda rows: scores[rows], name_matches(TEXTS, NAMES))
    order = np.argsort(-lifted(np.array([0, 3, 2])), axis=1, kind="stable")
    assert order.tolist() == [[0, 2, 1, 3, 4, 5], [3, 5, 0, 1, 2, 4], [0, 1, 2, 3, 4, 5]]
    assert scores[0].tolist() == [5, 4, 3, 2, 1, 0]


def test_scores_of_any_size_keep_their_order_when_lifted():
    scores = np.array([[1e9, 1e9 + 1, -1e9]] * 2, dtype=np.float64)
    lifted = named_first(lambda rows: scores[rows], (np.array([0, 0]), np.array([0, 1])))
    assert np.argsort(-lifted(np.array([0, 1])), axis=1, kind="stable").tolist() == [[1, 0, 2], [1, 0, 2]]


def test_popularity_is_the_same_for_every_paper():
    scorer = popularity_scorer([2, 2, 0, 2, 0], 4)
    assert scorer(np.array([5, 9])).tolist() == [[2, 0, 3, 0]] * 2


def test_recall_worked_by_hand():
    # Ranked for both: topic 0, 1, 2, 3. Paper a has 0 and 3, paper b has 3 and 3 again, paper c none.
    judged = topic_judgements(["a", "b", "c"], [(0, 0), (0, 3), (1, 3), (1, 3)], NAMES[:4])
    scores = np.array([[4.0, 3.0, 2.0, 1.0]] * 3)
    found = topic_recall(lambda rows: scores[rows], judged, cuts=(1, 3, 4))
    assert found.values["recall@1"][:2].tolist() == [0.5, 0]
    assert found.values["recall@3"][:2].tolist() == [0.5, 0]
    assert set(found.values) == {"recall@1", "recall@3"}  # the first four are all there are
    assert np.isnan(found.values["recall@1"][2])


def test_with_names_first():
    judged = topic_judgements(["a", "b"], [(0, 2), (1, 1)], NAMES)
    scores = np.array([[1.0, 0, 0, 3, 2, 0]] * 2)
    matches = name_matches(TEXTS[:2], NAMES)
    found = topic_recall(lambda rows: scores[rows], judged, cuts=(2,), matches=matches)
    assert found.values["recall@2"].tolist() == [1, 1]
    assert topic_recall(lambda rows: scores[rows], judged, cuts=(2,)).values["recall@2"].tolist() == [0, 0]


def test_topics_without_score_stand_by_hash():
    names = [f"topic {number}" for number in range(200)]
    judged = topic_judgements(["a"], [(0, topic) for topic in range(20)], names)
    found = topic_recall(lambda rows: np.zeros((len(rows), 200)), judged, cuts=(50,))
    expected = sum(topic < 20 for topic in hash_order(names)[:50]) / 20
    assert found.values["recall@50"][0] == expected


def test_the_best_topic():
    scores = np.array([[0.1, 0.9, 0.9], [0.5, 0.1, 0.2]])
    first = min((1, 2), key=hash_order(["x", "y", "z"]).tolist().index)
    assert best_topics(lambda rows: scores[rows], 2, ["x", "y", "z"]).tolist() == [first, 0]


def test_refusals():
    judged = topic_judgements(["a"], [(0, 0)], NAMES)
    with pytest.raises(InputError, match="the first 20 hold all 6 topics"):
        topic_recall(popularity_scorer([0], 6), judged)
    with pytest.raises(InputError, match="no paper has a topic"):
        topic_judgements(["a"], [], NAMES)
    with pytest.raises(InputError, match="a pair beyond 1 papers and 6 topics"):
        topic_judgements(["a"], [(1, 0)], NAMES)
