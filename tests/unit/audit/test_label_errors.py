"""Doubtful labels: planted ones are found."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from sectioncls.audit import find_label_errors
from sectioncls.audit.label_errors import confident_labels, out_of_fold
from sectioncls.errors import InputError

WORDS = {
    "background": ["sheep", "have", "long", "been", "known", "to", "graze", "where", "grass", "is", "plentiful"],
    "method": ["we", "weighed", "counted", "measured", "each", "animal", "using", "scales", "tape", "twice"],
    "result": ["weight", "rose", "fell", "significantly", "percent", "compared", "groups", "increase", "difference"],
}
ALL = [word for words in WORDS.values() for word in words]


def planted(share: float = 0.05) -> tuple[dict, set[tuple[str, int]]]:
    """Articles whose labels follow from their words, a share of labels flipped, and where."""
    rng = random.Random(0)
    articles, flipped = {}, set()
    for number in range(90):
        rows = []
        for index in range(6):
            label = rng.choice(list(WORDS))
            text = " ".join(rng.choices(WORDS[label], k=8) + rng.choices(ALL, k=2))
            if rng.random() < share:
                flipped.add((f"a{number}", index))
                label = rng.choice([other for other in WORDS if other != label])
            rows.append((text, label))
        articles[f"a{number}"] = rows
    return articles, flipped


def test_planted_flips_are_found(make_corpus) -> None:
    articles, flipped = planted()
    names = list(articles)
    corpus = make_corpus(
        {
            "train": {name: articles[name] for name in names[:70]},
            "test": {name: articles[name] for name in names[70:]},
        }
    )
    suspects = find_label_errors(corpus)
    found = [(suspect.article_id, suspect.index) for suspect in suspects]
    assert len(set(found) & flipped) >= 0.85 * len(flipped)
    assert len(set(found) & flipped) >= 0.8 * len(found)
    assert set(found[: len(flipped) // 2]) <= flipped
    assert [suspect.rank for suspect in suspects] == list(range(1, len(found) + 1))
    gaps = [suspect.suggested_probability - suspect.probability for suspect in suspects]
    assert all(one >= other - 2e-4 for one, other in pairwise(gaps))
    assert {suspect.split for suspect in suspects} == {"train", "test"}
    assert all(suspect.text is None for suspect in suspects)
    assert suspects == find_label_errors(corpus)
    quoted = find_label_errors(corpus, with_text=True)[0]
    assert quoted.text == articles[quoted.article_id][quoted.index][0]


def test_confident_labels_by_hand() -> None:
    # Thresholds are the means 0.7 (0.9, 0.8, 0.4) and 0.55 (0.8, 0.3).
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]])
    labels = np.array([0, 0, 0, 1, 1])
    assert confident_labels(probabilities, labels).tolist() == [0, 0, 1, 1, 0]


def test_no_label_is_doubted_below_what_is_usual() -> None:
    probabilities = np.array([[0.9, 0.1], [0.45, 0.55], [0.1, 0.9], [0.05, 0.95]])
    assert confident_labels(probabilities, np.array([0, 0, 1, 1])).tolist() == [0, 0, 1, 1]


def test_a_label_that_is_likeliest_stays() -> None:
    # Label 1 is usual from 0.3 on, label 0 from 0.7 on; the first row is still likelier 0 than 1.
    probabilities = np.array([[0.5, 0.4, 0.1], [0.9, 0.0, 0.1], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    assert confident_labels(probabilities, np.array([0, 0, 1, 2])).tolist() == [0, 0, 1, 2]


def test_no_article_judges_itself() -> None:
    # Each group has one feature of its own, so nothing can be learnt about it from the others.
    from scipy.sparse import identity

    labels = np.array([0, 1] * 10)
    found = out_of_fold(identity(20, format="csr"), labels, np.arange(20))
    assert found.shape == (20, 2)
    assert np.allclose(found.sum(axis=1), 1)
    assert np.all(np.abs(found - 0.5) < 0.15)


def test_nothing_to_judge_by(make_corpus) -> None:
    for rows in (
        {"a": [("Sheep.", "method")] * 3, "b": [("Hay.", "method")]},
        {"a": [("A.", "method"), ("B.", "other")]},
    ):
        with pytest.raises(InputError, match="nothing to judge"):
            find_label_errors(make_corpus({"train": rows}))
