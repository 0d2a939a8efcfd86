"""Scoring an encoder on a corpus: clusters of the test embeddings, classifiers from train to test, text baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus, Split
from sectioncls.downstream import (
    POSITION,
    PROTOCOLS,
    TEXT_CLASSIFIERS,
    TEXT_CLUSTERING,
    Protocol,
    classification_scores,
    classify,
    classify_positions,
    classify_texts,
    cluster,
    cluster_texts,
    clustering_scores,
)
from sectioncls.encoders import Encoder, LinearHead, Tokens, Windows, articles_of, encode_batches
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.records import Score

__all__ = ["Evaluation", "embed", "evaluate_encoder", "evaluate_texts"]

Vectors = npt.NDArray[np.float32]


@dataclass(slots=True)
class Evaluation:
    """Score rows, and what they were counted from: predictions and clusters of the test split, as run tables."""

    scores: list[Score] = field(default_factory=list)
    predictions: dict[str, list[Any]] = field(default_factory=dict)
    clusters: dict[str, list[Any]] = field(default_factory=dict)


def embed(encoder: Encoder, tokens: Tokens | Windows, stage: str, observer: Observer = SILENT) -> Vectors:
    """Give one vector per sentence of what ``encoder.read`` gave, (n, dimension) float32, with progress."""
    vectors = np.zeros((tokens.items, encoder.dimension), dtype=np.float32)
    with observer.stage(stage, tokens.items, "sentences") as advance:
        for rows, block in encode_batches(encoder, tokens):
            vectors[rows] = block
            advance(len(rows))
    return vectors


def evaluate_encoder(
    corpus: Corpus,
    train_vectors: Vectors,
    test_vectors: Vectors,
    *,
    name: str,
    protocol: str,
    clusterings: Sequence[str] = ("kmeans",),
    head: LinearHead | None = None,
    context: str = "none",
    observer: Observer = SILENT,
) -> Evaluation:
    """Score the embeddings of an encoder called ``name``: clusterings on test, five classifiers from train to test.

    ``context`` says how the encoder read sentences (``none`` or ``window``). With ``head``, its own predictions are
    scored as well (method ``cls-head``). Intervals resample articles where the corpus knows them, else sentences.
    Paper: arXiv 2404.00224, its clustering and classification experiments.
    """
    rules, train, test = PROTOCOLS[protocol], corpus.split("train"), corpus.split("test")
    result = Evaluation()
    methods = list(rules.classifiers)
    with observer.stage(f"scoring {name}", len(methods) + len(clusterings), "methods") as advance:
        for method in clusterings:
            ids = cluster(
                test_vectors, len(set(test.labels.tolist())), method=method, protocol=rules, lengths=_lengths(test)
            )
            _add_clusters(result, corpus, test, name, method, ids, test_vectors, rules, context)
            advance(1)
        for method in methods:
            predicted = classify(
                train_vectors,
                train.labels,
                test_vectors,
                method=method,
                protocol=rules,
                train_lengths=_lengths(train),
            )
            _add_predictions(result, corpus, test, name, method, predicted, rules, context)
            advance(1)
    if head is not None:
        articles = list(articles_of(test.article_ids, test.index)) if corpus.info.has_articles else None
        _add_predictions(result, corpus, test, name, "cls-head", head.predict(test_vectors, articles), rules, context)
    return result


def evaluate_texts(corpus: Corpus, *, protocol: str, observer: Observer = SILENT) -> Evaluation:
    """Score what no encoder gives: majority label, TF-IDF with logistic regression or k-means, and places alone.

    The place in the article is scored where the corpus knows its articles.
    """
    rules, train, test = PROTOCOLS[protocol], corpus.split("train"), corpus.split("test")
    result = Evaluation()
    with observer.stage("text baselines", len(TEXT_CLASSIFIERS) + 1, "methods") as advance:
        for method in TEXT_CLASSIFIERS:
            predicted = classify_texts(train.texts, train.labels, test.texts, method=method, seed=rules.seed)
            _add_predictions(result, corpus, test, "", method, predicted, rules)
            advance(1)
        if corpus.info.has_articles:
            places = [(split.article_ids, split.index) for split in (train, test)]
            predicted = classify_positions(places[0], train.labels, places[1], seed=rules.seed)
            _add_predictions(result, corpus, test, "", POSITION, predicted, rules)
        classes = len(set(test.labels.tolist()))
        space, ids = cluster_texts(test.texts, classes, seed=rules.seed, n_init=rules.n_init)
        _add_clusters(result, corpus, test, "", TEXT_CLUSTERING, ids, space, rules)
        advance(1)
    return result


def _add_predictions(
    result: Evaluation,
    corpus: Corpus,
    test: Split,
    name: str,
    method: str,
    predicted: npt.NDArray[np.int64],
    rules: Protocol,
    context: str = "none",
) -> None:
    like = _like(corpus, name, method, rules, context)
    result.scores += classification_scores(
        test.labels, predicted, corpus.labels, like=like, groups=_groups(corpus, test)
    )
    names = [corpus.labels[i] for i in predicted]
    _extend(result.predictions, corpus, test, name, method, {"predicted": names})


def _add_clusters(
    result: Evaluation,
    corpus: Corpus,
    test: Split,
    name: str,
    method: str,
    ids: npt.NDArray[np.int64],
    space: npt.ArrayLike,
    rules: Protocol,
    context: str = "none",
) -> None:
    result.scores += clustering_scores(
        space,
        test.labels,
        ids,
        like=_like(corpus, name, method, rules, context),
        silhouette_of=rules.silhouette_of,
        groups=_groups(corpus, test),
    )
    _extend(result.clusters, corpus, test, name, method, {"cluster": ids.tolist()})


def _extend(
    columns: dict[str, list[Any]], corpus: Corpus, test: Split, name: str, method: str, values: dict[str, list[Any]]
) -> None:
    """Add one block of rows to the columns of a run table."""
    block: dict[str, list[Any]] = {
        "article_id": list(test.article_ids),
        "index": test.index.tolist(),
        "label": [corpus.labels[i] for i in test.labels],
        "encoder": [name] * len(test),
        "method": [method] * len(test),
        **values,
    }
    for column, rows in block.items():
        columns.setdefault(column, []).extend(rows)


def _like(corpus: Corpus, name: str, method: str, rules: Protocol, context: str) -> Score:
    return Score(
        metric="",
        value=float("nan"),
        corpus=corpus.name,
        fingerprint=corpus.info.fingerprint,
        protocol=rules.name,
        encoder=name,
        context=context,
        method=method,
        seed=rules.seed,
    )


def _groups(corpus: Corpus, test: Split) -> tuple[str, ...] | None:
    return test.article_ids if corpus.info.has_articles else None


def _lengths(split: Split) -> list[int]:
    return [len(text) for text in split.texts]
