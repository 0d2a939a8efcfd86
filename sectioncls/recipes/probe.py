"""What is left of an encoder's scores after a change of it: the same rows of train and dev, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus, Split
from sectioncls.downstream import PROTOCOLS, classify
from sectioncls.encoders import Encoder, LinearHead, articles_of
from sectioncls.recipes.evaluate import embed, read_rows
from sectioncls.recipes.observer import SILENT, Observer

__all__ = ["Probe", "dev_probe", "draw_rows", "shown_scores"]

Vectors = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

# What reads the vectors, by the name of its score: the neighbours that fine-tuning is judged by, and a linear map.
_READERS = {"f1-micro": "knn", "f1-micro-linear": "logistic-regression"}


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """The training ``rows`` that classifiers learn from, and all of dev, which judges them."""

    train: Split
    rows: Ids
    dev: Split

    def scores(self, train: Vectors, dev: Vectors, head: LinearHead | None = None) -> dict[str, float]:
        """Give dev's F1-micro, by nearest neighbours, by logistic regression, and of the encoder's own ``head``.

        ``train`` are the vectors of ``rows``.
        """
        labels, rules = self.train.labels[self.rows], PROTOCOLS["default"]
        found = {
            name: _right(classify(train, labels, dev, method=method, protocol=rules), self.dev.labels)
            for name, method in _READERS.items()
        }
        if head is not None:
            articles = list(articles_of(self.dev.article_ids, self.dev.index))
            found["f1-micro-head"] = _right(head.predict(dev, articles), self.dev.labels)
        return found

    def measure(
        self, encoder: Encoder, name: str, head: LinearHead | None = None, observer: Observer = SILENT
    ) -> dict[str, float]:
        """Give the scores of an encoder called ``name`` in the progress."""
        train = embed(encoder, read_rows(encoder, self.train, self.rows), f"{name}: encoding train", observer)
        dev = embed(encoder, read_rows(encoder, self.dev), f"{name}: encoding dev", observer)
        return self.scores(train, dev, head)


def dev_probe(corpus: Corpus, encoder: Encoder, rows: int, seed: int) -> Probe:
    """Give the probe of a corpus with ``rows`` training sentences, or a few more where articles are read whole."""
    train = corpus.split("train")
    return Probe(train, draw_rows(train, rows, seed, whole_articles=encoder.context is not None), corpus.split("dev"))


def draw_rows(split: Split, count: int, seed: int, *, whole_articles: bool = False) -> Ids:
    """Give ``count`` random rows of a split in order, or all rows of random articles until they are so many."""
    random = np.random.default_rng(seed)
    if not whole_articles:
        return np.sort(random.choice(len(split), min(count, len(split)), replace=False)).astype(np.int64)
    _, owner, sizes = np.unique(np.asarray(split.article_ids, dtype=object), return_inverse=True, return_counts=True)
    order = random.permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), count)) + 1
    return np.flatnonzero(np.isin(owner, order[:enough])).astype(np.int64)


def shown_scores(before: dict[str, float], after: dict[str, float]) -> str:
    """Give scores before and after as one line, in points."""
    parts = []
    for name, value in after.items():
        change = 100 * (value - before[name])
        parts.append(f"{name} {100 * value:.2f} ({change:+.2f})")
    return ", ".join(parts)


def _right(predicted: Ids, labels: Ids) -> float:
    return float((predicted == labels).mean())
