"""Scores on dev while training: what the model choice looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus
from sectioncls.downstream import PROTOCOLS, classify, cluster
from sectioncls.encoders import Encoder, LinearHead, Tokens, encode_tokens
from sectioncls.mining import triplet_loss_and_accuracy, validation_triplets
from sectioncls.vectors import effective_rank

__all__ = ["DevScorer", "dev_scorer"]

# Training rows whose labels dev's neighbours vote with: enough to rank states, quick to encode again.
_VOTERS = 2000


@dataclass(frozen=True, slots=True)
class DevScorer:
    """Tokenised dev rows, a sample of train to vote, and validation triplets; ``choice`` is what is chosen by."""

    dev: Tokens
    dev_labels: npt.NDArray[np.int64]
    voters: Tokens
    voter_labels: npt.NDArray[np.int64]
    triplets: npt.NDArray[np.int64]
    margin: float
    classes: int
    choice: str = "f1-micro"

    def __call__(self, encoder: Encoder, head: LinearHead | None) -> tuple[dict[str, float], npt.NDArray[np.float32]]:
        """Give dev's scores and vectors; F1-micro is the head's, or without a head that of the nearest neighbours."""
        vectors = encode_tokens(encoder, self.dev)
        if head is not None:
            predicted = head.predict(vectors)
            return {"f1-micro": float((predicted == self.dev_labels).mean())}, vectors
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
            "effective-rank": effective_rank(vectors),
        }
        return scores, vectors


def dev_scorer(encoder: Encoder, corpus: Corpus, *, margin: float, seed: int) -> DevScorer:
    """Give the scorer of a corpus's dev split for an encoder; voters and triplets are drawn once with ``seed``."""
    train, dev = corpus.split("train"), corpus.split("dev")
    random = np.random.default_rng(seed)
    rows: Any = np.sort(random.choice(len(train), min(_VOTERS, len(train)), replace=False))
    return DevScorer(
        dev=encoder.tokenise(dev.texts),
        dev_labels=dev.labels,
        voters=encoder.tokenise([train.texts[row] for row in rows]),
        voter_labels=train.labels[rows],
        triplets=validation_triplets(dev.labels, seed),
        margin=margin,
        classes=len(np.unique(dev.labels)),
    )
