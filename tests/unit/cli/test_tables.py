"""Scores as a table for people."""

from __future__ import annotations

from dataclasses import replace

from sectioncls.cli.tables import score_table
from sectioncls.records import Score


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
