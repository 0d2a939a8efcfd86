"""Scores as a table for people."""

from __future__ import annotations

from dataclasses import replace

from sectioncls.cli.tables import score_table
from sectioncls.records import UNSEEN, Score


def clustered(encoder: str, silhouette: float, rank: float) -> list[Score]:
    like = {"method": "kmeans", "encoder": encoder, "n": 9}
    return [
        Score("ari", 0.3, **like),
        Score("silhouette", silhouette, **like),
        Score("effective-rank", rank, **like),
    ]


def test_tight_clusters_that_are_the_labels_are_no_collapse():
    good = [replace(score, value=0.8) if score.metric == "ari" else score for score in clustered("good", 0.93, 8.2)]
    assert "collapse" in score_table(clustered("good", 0.93, 8.2))
    assert "collapse" not in score_table(good)


def test_the_rank_stands_beside_a_silhouette_and_a_collapse_is_named():
    text = score_table([*clustered("fallen", 0.93, 8.24), *clustered("whole", 0.42, 160.0), *clustered("", 0.9, 3.0)])
    head, fallen, whole, _, note = text.splitlines()
    assert "rank" in head
    assert "93.00    8.2" in fallen and "42.00  160.0" in whole
    assert note.startswith("collapse: fallen, kmeans: a silhouette of 93.0 at an effective rank of 8.2 says")


def test_seeds_become_their_mean():
    text = score_table(
        [Score("f1-micro", value, method="knn", encoder="e", seed=i) for i, value in enumerate((0.5, 0.7))]
    )
    assert "60.00" in text and "mean of 2 seeds" in text and "collapse" not in text


def test_unseen_sentences_have_a_column_of_their_own_and_change_no_mean():
    like = {"method": "knn", "encoder": "e", "n": 9, "low": 0.7, "high": 0.9}
    plain = [Score("f1-micro", 0.8, **like), Score("f1-macro", 0.6, **like)]
    rest = [Score("f1-micro", 0.5, split=UNSEEN, **like), Score("f1-macro", 0.4, split=UNSEEN, **like)]
    head, row = score_table([*plain, *rest]).splitlines()
    assert "unseen" in head and "80.00" in row and "60.00" in row and "  50.00" in row and "seeds" not in row
    assert "unseen" not in score_table(plain)
