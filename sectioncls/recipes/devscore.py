"""Scores on dev while training: what the model choice looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus, Split
from sectioncls.downstream import PROTOCOLS, among_allowed, classify, cluster, fit_temperature
from sectioncls.encoders import Encoder, LinearHead, Tokens, Windows, articles_of, encode_tokens
from sectioncls.mining import triplet_loss_and_accuracy, validation_triplets
from sectioncls.recipes.evaluate import read_rows
from sectioncls.vectors import effective_rank, label_spread, mean_distance

__all__ = ["DevScorer", "dev_scorer"]

# Training rows whose labels dev's neighbours vote with: enough to rank states, quick to encode again.
_VOTERS = 2000


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """What a joined corpus knows of its rows (see Split): parts (n,), allowed and possible labels (n, labels)."""

    parts: npt.NDArray[np.str_]
    allowed: npt.NDArray[np.bool_]
    possible: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DevScorer:
    """Tokenised dev rows, a sample of train to vote, and validation triplets; ``choice`` is what is chosen by.

    ``neighbours`` scores the vectors themselves; without, the classifier's head alone.
    """

    dev: Tokens | Windows
    dev_labels: npt.NDArray[np.int64]
    dev_articles: Sequence[npt.NDArray[np.int64]]
    voters: Tokens | Windows
    voter_labels: npt.NDArray[np.int64]
    triplets: npt.NDArray[np.int64]
    margin: float
    classes: int
    neighbours: bool = True
    choice: str = "f1-micro"
    joined: JoinedRows | None = None

    def __call__(self, encoder: Encoder, head: LinearHead | None) -> tuple[dict[str, float], npt.NDArray[np.float32]]:
        """Give dev's scores and vectors; F1-micro is the nearest neighbours', or without ``neighbours`` the head's.

        Four tell a collapse: the share of triplets whose margin is not met, the effective rank, the mean distance, and
        the distances within labels over those between.
        """
        vectors = encode_tokens(encoder, self.dev)
        own = {}
        if head is not None:
            own["f1-micro-head"] = self._right(head, vectors)
        if not self.neighbours:
            return {"f1-micro": own["f1-micro-head"]}, vectors
        from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

        protocol = PROTOCOLS["default"]
        voters = encode_tokens(encoder, self.voters)
        predicted = classify(voters, self.voter_labels, vectors, method="knn", protocol=protocol)
        clusters = cluster(vectors, self.classes, protocol=protocol)
        loss, accuracy = triplet_loss_and_accuracy(vectors, self.triplets, self.margin)
        scores = {
            "f1-micro": float((predicted == self.dev_labels).mean()),
            "ari": float(adjusted_rand_score(self.dev_labels, clusters)),
            "ami": float(adjusted_mutual_info_score(self.dev_labels, clusters)),
            "triplet-loss": loss,
            "triplet-accuracy": accuracy,
            "active-triplets": _active(vectors, self.triplets, self.margin),
            "effective-rank": effective_rank(vectors),
            **self._spread(vectors),
            **own,
        }
        return scores, vectors

    def _spread(self, vectors: npt.NDArray[np.float32]) -> dict[str, float]:
        """Give the distances that a collapse shrinks, where dev has two labels and one of them twice."""
        if not 1 < self.classes < len(vectors):
            return {}
        ratio = label_spread(vectors, self.dev_labels).ratio
        return {"mean-distance": mean_distance(vectors), "label-spread": ratio}

    def temperature(self, encoder: Encoder, head: LinearHead) -> float:
        """Give the temperature of the head's probabilities that fits dev best.

        The sets of a joined corpus count alike (the mean of their temperatures' logarithms), however many sentences
        each has: one whose dev is harder than its test would else mislead all others.
        """
        chances = head.probabilities(encode_tokens(encoder, self.dev), self.dev_articles)
        if self.joined is None:
            return fit_temperature(chances, self.dev_labels)
        sure = self.joined.possible.sum(1) == 1
        chances = among_allowed(chances, self.joined.allowed)
        parts = [sure & (self.joined.parts == part) for part in np.unique(self.joined.parts[sure])]
        own = [fit_temperature(chances[rows], self.dev_labels[rows]) for rows in parts]
        return float(np.exp(np.mean(np.log(own)))) if own else 1.0

    def _right(self, head: LinearHead, vectors: npt.NDArray[np.float32]) -> float:
        """Give the share of dev that the head labels rightly, in a joined corpus the mean over its parts."""
        if self.joined is None:
            return float((head.predict(vectors, self.dev_articles) == self.dev_labels).mean())
        chances = head.probabilities(vectors, self.dev_articles)
        predicted = among_allowed(chances, self.joined.allowed).argmax(1)
        right = self.joined.possible[np.arange(len(predicted)), predicted]
        return float(np.mean([right[self.joined.parts == part].mean() for part in np.unique(self.joined.parts)]))


def _active(vectors: npt.NDArray[np.float32], triplets: npt.NDArray[np.int64], margin: float) -> float:
    """Give the share of triplets (t, 3) whose negative is not ``margin`` farther than the positive."""
    anchors, positives, negatives = (vectors[triplets[:, column]] for column in range(3))
    near = np.linalg.norm(anchors - positives, axis=1)
    far = np.linalg.norm(anchors - negatives, axis=1)
    return float((near + margin > far).mean())


def dev_scorer(encoder: Encoder, corpus: Corpus, *, margin: float, seed: int, neighbours: bool = True) -> DevScorer:
    """Give the scorer of a corpus's dev split for an encoder; voters and triplets are drawn once with ``seed``."""
    train, dev = corpus.split("train"), corpus.split("dev")
    random = np.random.default_rng(seed)
    rows = _voters(train, random, whole_articles=encoder.context is not None)
    joined = None
    if dev.parts is not None and dev.allowed is not None and dev.possible is not None:
        joined = JoinedRows(np.asarray(dev.parts), dev.allowed, dev.possible)
    return DevScorer(
        dev=read_rows(encoder, dev),
        dev_labels=dev.labels,
        dev_articles=list(articles_of(dev.article_ids, dev.index)),
        voters=read_rows(encoder, train, rows),
        voter_labels=train.labels[rows],
        triplets=validation_triplets(dev.labels, seed),
        margin=margin,
        classes=len(np.unique(dev.labels)),
        neighbours=neighbours,
        joined=joined,
    )


def _voters(train: Split, random: np.random.Generator, *, whole_articles: bool) -> Any:
    """Give the training rows that vote, in order: random ones, or all rows of random articles."""
    if not whole_articles:
        return np.sort(random.choice(len(train), min(_VOTERS, len(train)), replace=False))
    ids = np.asarray(train.article_ids, dtype=object)
    chosen: set[str] = set()
    rows = 0
    names, counts = np.unique(ids, return_counts=True)
    for place in random.permutation(len(names)):
        if rows >= _VOTERS:
            break
        chosen.add(names[place])
        rows += int(counts[place])
    return np.flatnonzero([name in chosen for name in ids])
