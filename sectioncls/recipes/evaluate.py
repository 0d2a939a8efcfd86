"""Scoring an encoder on a corpus: clusters of the test embeddings, classifiers from train to test, text baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sectioncls.corpora import Corpus, Split
from sectioncls.downstream import (
    FIXED,
    FIXED_CLUSTERERS,
    POSITION,
    PROTOCOLS,
    REPEATS,
    TEXT_CLASSIFIERS,
    TEXT_CLUSTERING,
    Protocol,
    agreement,
    choose_k,
    classify_positions,
    classify_texts,
    cluster,
    cluster_texts,
    few_shot,
    fit_classifier,
    learning_curve,
    spread,
)
from sectioncls.downstream.engines import engine_of
from sectioncls.downstream.ward import MOST_ROWS
from sectioncls.encoders import Encoder, LinearHead, Tokens, Windows, articles_of, encode_batches
from sectioncls.errors import InputError, UsageError
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.recipes.schema import EvaluateOptions
from sectioncls.recipes.sheet import Evaluation, Sheet

__all__ = ["Evaluation", "article_order", "embed", "evaluate_encoder", "evaluate_texts", "read_rows", "uses_dev"]

Vectors = npt.NDArray[np.float32]

# The classifier of learning curves and few-shot scores: no chance in it, quick, and usual for probing.
_LEARNER = "logistic-regression"


def read_rows(
    encoder: Encoder, split: Split, rows: Sequence[int] | npt.NDArray[np.int64] | None = None
) -> Tokens | Windows:
    """Give some sentences of a split, all without ``rows``, as the encoder reads them."""
    chosen = split if rows is None else split.at(rows)
    return encoder.read(chosen.texts, chosen.article_ids, chosen.index, chosen.paths)


def embed(encoder: Encoder, tokens: Tokens | Windows, stage: str, observer: Observer = SILENT) -> Vectors:
    """Give one vector per sentence of what ``encoder.read`` gave, (n, dimension) float32, with progress."""
    vectors = np.zeros((tokens.items, encoder.dimension), dtype=np.float32)
    with observer.stage(stage, tokens.items, "sentences") as advance:
        for rows, block in encode_batches(encoder, tokens):
            vectors[rows] = block
            advance(len(rows))
    return vectors


def uses_dev(options: EvaluateOptions) -> bool:
    """Whether an evaluation reads dev: for its grids and for the temperature of probabilities."""
    return PROTOCOLS[options.protocol].uses_dev


def evaluate_encoder(
    corpus: Corpus,
    train_vectors: Vectors,
    test_vectors: Vectors,
    *,
    name: str,
    options: EvaluateOptions | None = None,
    dev_vectors: Vectors | None = None,
    head: LinearHead | None = None,
    context: str = "none",
    unseen: npt.NDArray[np.bool_] | None = None,
    observer: Observer = SILENT,
) -> Evaluation:
    """Score the embeddings of an encoder called ``name``: clusterings of test, classifiers from train to test.

    ``context`` says how the encoder read sentences (``none`` or ``window``). With ``head``, its own predictions are
    scored as well (method ``cls-head``). ``dev_vectors`` are what a protocol with grids chooses on, and what the
    temperature of probabilities is fitted on. ``unseen`` is a mask over test (audit.unseen_rows): where it leaves
    sentences out, everything is scored on the others too, as split ``test-unseen``. Intervals resample articles where
    the corpus knows them, else sentences. Paper: arXiv 2404.00224, its clustering and classification experiments.
    Raises InputError for embeddings whose number is not that of the corpus's sentences.
    """
    options = options or EvaluateOptions()
    rules = _rules(options, corpus)
    train, train_x = _in_order(corpus, "train", train_vectors, rules)
    test, test_x = _in_order(corpus, "test", test_vectors, rules)
    dev = None if dev_vectors is None else _in_order(corpus, "dev", dev_vectors, rules)
    sheet = Sheet(corpus, test, name, rules, context, _sorted_mask(corpus, unseen, rules))
    methods = options.classifiers or rules.methods
    with observer.stage(f"scoring {name}", len(methods) + len(options.clusterings), "methods") as advance:
        for clustering in options.clusterings:
            _add_clusterings(sheet, clustering, test_x, 1 if clustering in FIXED_CLUSTERERS else options.seeds)
            advance(1)
        for method in methods:
            for seed in range(options.seeds if method not in FIXED else 1):
                seeded = replace(rules, seed=rules.seed + seed)
                _add_classifier(sheet, method, (train, train_x), test_x, dev, seeded)
            advance(1)
    if head is not None:
        _add_head(sheet, head, test_x, dev)
    if options.curves:
        _add_curves(sheet, options, (train_x, train.labels), (test_x, test.labels), observer)
    return sheet.result


def evaluate_texts(
    corpus: Corpus,
    *,
    options: EvaluateOptions | None = None,
    unseen: npt.NDArray[np.bool_] | None = None,
    observer: Observer = SILENT,
) -> Evaluation:
    """Score what no encoder gives: majority label, TF-IDF with logistic regression or k-means, and places alone.

    The place in the article is scored where the corpus knows its articles; ``unseen`` as in evaluate_encoder.
    """
    rules = _rules(options or EvaluateOptions(), corpus)
    train, test = _in_order(corpus, "train", None, rules)[0], _in_order(corpus, "test", None, rules)[0]
    sheet = Sheet(corpus, test, "", rules, unseen=_sorted_mask(corpus, unseen, rules))
    with observer.stage("text baselines", len(TEXT_CLASSIFIERS) + 1, "methods") as advance:
        for method in TEXT_CLASSIFIERS:
            predicted = classify_texts(train.texts, train.labels, test.texts, method=method, seed=rules.seed)
            sheet.add_predictions(method, predicted, seed=rules.seed)
            advance(1)
        if corpus.info.has_articles:
            places = [(split.article_ids, split.index) for split in (train, test)]
            predicted = classify_positions(places[0], train.labels, places[1], seed=rules.seed)
            sheet.add_predictions(POSITION, predicted, seed=rules.seed)
        space, ids = cluster_texts(test.texts, _classes(test), seed=rules.seed, n_init=rules.n_init)
        sheet.add_clusters(TEXT_CLUSTERING, ids, space, seed=rules.seed)
        advance(1)
    return sheet.result


def _add_clusterings(sheet: Sheet, method: str, x: Vectors, seeds: int) -> None:
    """Score the clusters of each seed, and how far the seeds agree."""
    found = []
    for seed in range(sheet.rules.seed, sheet.rules.seed + seeds):
        seeded = replace(sheet.rules, seed=seed)
        ids = cluster(x, _classes(sheet.test), method=method, protocol=seeded, lengths=_lengths(sheet.test))
        sheet.add_clusters(method, ids, x, seed=seed)
        found.append(ids)
    if seeds > 1:
        over = agreement(found)
        sheet.add_value(method, "stability", over.mean, low=over.low, high=over.high, n=seeds, unit="seed")


def _add_classifier(
    sheet: Sheet,
    method: str,
    train: tuple[Split, Vectors],
    test_x: Vectors,
    dev: tuple[Split, Vectors] | None,
    rules: Protocol,
) -> None:
    """Score one classifier with one seed."""
    model = fit_classifier(
        train[1],
        train[0].labels,
        method=method,
        protocol=rules,
        train_lengths=_lengths(train[0]),
        dev=None if dev is None else (dev[1], dev[0].labels),
    )
    sheet.add_settings(method, model)
    chances = model.probabilities(test_x) if rules.more else None
    seen = None
    if chances is not None and dev is not None:
        known = model.probabilities(dev[1])
        seen = None if known is None else (known, dev[0].labels)
    sheet.add_predictions(
        method, model.predict(test_x), seed=rules.seed, chances=chances, classes=model.classes.tolist(), dev=seen
    )


def _add_head(sheet: Sheet, head: LinearHead, test_x: Vectors, dev: tuple[Split, Vectors] | None) -> None:
    """Score the encoder's own classifier."""
    articles = _articles(sheet.corpus, sheet.test)
    predicted = head.predict(test_x, articles)
    if not sheet.rules.more:
        sheet.add_predictions("cls-head", predicted, seed=sheet.rules.seed)
        return
    seen = None
    if dev is not None:
        seen = (head.probabilities(dev[1], _articles(sheet.corpus, dev[0])), dev[0].labels)
    sheet.add_predictions(
        "cls-head",
        predicted,
        seed=sheet.rules.seed,
        chances=head.probabilities(test_x, articles),
        classes=range(len(sheet.corpus.labels)),
        dev=seen,
    )


def _add_curves(
    sheet: Sheet,
    options: EvaluateOptions,
    train: tuple[Vectors, npt.NDArray[np.int64]],
    test: tuple[Vectors, npt.NDArray[np.int64]],
    observer: Observer,
) -> None:
    """Add the curves that are asked for."""
    # Settings are those of default: the paper has no such curves, and nothing is chosen on dev for them.
    rules = PROTOCOLS["default"]
    with observer.stage(f"curves of {sheet.name}", len(options.curves), "curves") as advance:
        for curve in options.curves:
            if curve == "k":
                most = min(2 * len(sheet.corpus.labels), len(test[0]))
                sheet.add_choice_of_k(choose_k(test[0], range(1, most + 1), seed=rules.seed))
            elif curve == "learning":
                sheet.add_learning(_LEARNER, curve, learning_curve(train, test, protocol=rules, method=_LEARNER))
            else:
                points = few_shot(train, test, protocol=rules, method=_LEARNER)
                sheet.add_learning(_LEARNER, curve, points)
                for size in dict.fromkeys(point.asked for point in points):
                    over = spread([point.f1_macro for point in points if point.asked == size])
                    ends = {"low": over.low, "high": over.high, "n": REPEATS, "unit": "seed"}
                    sheet.add_value(_LEARNER, f"f1-macro-{size}-shot", over.mean, **ends)
            advance(1)


def _rules(options: EvaluateOptions, corpus: Corpus) -> Protocol:
    """The protocol, with who computes it where the options say so.

    Text baselines come before any encoding, so what can't be done on this corpus is said here, and not after hours.
    """
    rules = PROTOCOLS[options.protocol]
    rules = rules if options.engine == "auto" else replace(rules, engine=options.engine)
    strangers = [method for method in options.classifiers if method not in rules.classifiers]
    if strangers:
        known = ", ".join(rules.classifiers)
        raise UsageError(f"no classifier {strangers[0]!r} in the protocol {rules.name}: {known}")
    engine_of(rules, 0)
    rows = sum(corpus.info.counts["test"].values())
    if "agglomerative" in options.clusterings and rows > MOST_ROWS:
        what = f"{rows} rows of test are too many to be compared each with each ({MOST_ROWS} at most)"
        raise InputError(what, "agglomerative", "take kmeans, minibatch-kmeans or spherical-kmeans")
    return rules


def _in_order(corpus: Corpus, name: str, vectors: Vectors | None, rules: Protocol) -> tuple[Split, Vectors]:
    """A split and its embeddings by article and place, so that a file whose rows are permuted gives the same scores.

    The paper sorts in its own way what the file gives; without articles there is nothing to sort by.
    """
    split = corpus.split(name)
    if vectors is None:
        vectors = np.zeros((len(split), 0), dtype=np.float32)
    if len(vectors) != len(split):
        what = f"{len(vectors)} embeddings for the {len(split)} sentences of {name} in {corpus.name}"
        raise InputError(what, "embeddings", "they are of another corpus: encode this one")
    rows = _order(corpus, split, rules)
    return (split, vectors) if rows is None else (split.at(rows), vectors[rows])


def _sorted_mask(corpus: Corpus, mask: npt.NDArray[np.bool_] | None, rules: Protocol) -> npt.NDArray[np.bool_] | None:
    """A mask over test as _in_order has its rows."""
    rows = None if mask is None else _order(corpus, corpus.split("test"), rules)
    return mask if mask is None or rows is None else mask[rows]


def _order(corpus: Corpus, split: Split, rules: Protocol) -> npt.NDArray[np.int64] | None:
    rows = article_order(corpus, split)
    return None if rules.order != "file" or bool((np.diff(rows) == 1).all()) else rows


def article_order(corpus: Corpus, split: Split) -> npt.NDArray[np.int64]:
    """Row numbers of a split by article and place; in the file's order where the corpus knows no articles."""
    if not corpus.info.has_articles:
        return np.arange(len(split))
    keys = list(zip(split.article_ids, split.index.tolist(), strict=True))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _articles(corpus: Corpus, split: Split) -> Sequence[npt.NDArray[np.int64]] | None:
    return list(articles_of(split.article_ids, split.index)) if corpus.info.has_articles else None


def _classes(test: Split) -> int:
    return len(np.unique(test.labels))


def _lengths(split: Split) -> list[int]:
    return [len(text) for text in split.texts]
