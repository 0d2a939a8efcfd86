"""What clusters are about: their typical terms, and which labels they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import as_ids
from sectioncls.errors import InputError

__all__ = ["FEWEST", "ClusterTerms", "Contingency", "contingency", "typical_terms"]

FEWEST = 5
"""Sentences that a term must occur in: what is rarer tells of a sentence, not of a cluster."""


@dataclass(frozen=True, slots=True)
class ClusterTerms:
    """One cluster (-1: the rows that hdbscan left out): its rows and its terms with their weights, heaviest first."""

    cluster: int
    size: int
    terms: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Contingency:
    """How many rows of a label lie in a cluster, and which share that is of the label's and of the cluster's."""

    label: str
    cluster: int
    n: int
    of_label: float
    of_cluster: float


def typical_terms(
    texts: Sequence[str], clusters: npt.ArrayLike, *, most: int = 10, fewest: int = FEWEST
) -> list[ClusterTerms]:
    """The terms (words and pairs of words) that each cluster uses more than the others, by cluster id.

    c-TF-IDF: how often a term occurs in a cluster, as a share of its terms, times log(1 + A / f), where f is how often
    it occurs at all and A the mean number of terms of a cluster. English stop words are no terms, nor is what
    stands in fewer than ``fewest`` sentences. Paper: arXiv 2203.05794, section 3.3. Raises InputError for unequal
    lengths or no sentences.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    found = as_ids(clusters, len(texts), "clusters")
    if not len(texts):
        raise InputError("no sentences", "texts")
    names, place, sizes = np.unique(found, return_inverse=True, return_counts=True)
    words = CountVectorizer(ngram_range=(1, 2), stop_words="english", min_df=min(fewest, len(texts)), dtype=np.int64)
    try:
        counts = words.fit_transform(texts)
    except ValueError:  # no term is common enough, or there is none at all
        return [ClusterTerms(int(name), int(size), ()) for name, size in zip(names, sizes, strict=True)]
    weights = _class_weights(counts, place, len(names))
    terms = words.get_feature_names_out()
    described = []
    for name, size, row in zip(names, sizes, weights, strict=True):
        # Sorted by weight, equal ones by the alphabet, which is the order of the columns.
        heaviest = [column for column in np.argsort(-row, kind="stable")[:most] if row[column] > 0]
        chosen = tuple((str(terms[column]), float(row[column])) for column in heaviest)
        described.append(ClusterTerms(int(name), int(size), chosen))
    return described


def contingency(y_true: npt.ArrayLike, clusters: npt.ArrayLike, labels: Sequence[str]) -> list[Contingency]:
    """Every label that occurs against every cluster, labels in their order, clusters by id, empty cells too."""
    truth = as_ids(y_true, len(np.asarray(y_true)), "true labels")
    found = as_ids(clusters, len(truth), "clusters")
    ids = np.unique(found)
    rows = []
    for label in np.unique(truth):
        for cluster in ids:
            inside = truth == label, found == cluster
            n = int((inside[0] & inside[1]).sum())
            rows.append(Contingency(labels[label], int(cluster), n, n / inside[0].sum(), n / inside[1].sum()))
    return rows


def _class_weights(counts: object, place: npt.NDArray[np.int64], clusters: int) -> npt.NDArray[np.float64]:
    """Weights (clusters, terms) from counts (sentences, terms), sparse."""
    from scipy.sparse import csr_array

    rows = len(place)
    members = csr_array((np.ones(rows, dtype=np.int64), (place, np.arange(rows))), shape=(clusters, rows))
    classes = np.asarray((members @ csr_array(counts)).todense(), dtype=np.float64)
    totals = classes.sum(axis=1, keepdims=True)
    mean = totals.sum() / clusters
    return np.asarray(classes / np.maximum(totals, 1) * np.log1p(mean / classes.sum(axis=0)))
