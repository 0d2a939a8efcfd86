"""A made-up run folder: every number here is invented."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sectioncls.records import Score
from sectioncls.runs import Run, create_run

LABELS = ("background", "objective", "method", "result", "other")
TEST = {"background": 493, "objective": 155, "method": 421, "result": 219, "other": 61}
TRAIN = {"background": 3603, "objective": 1321, "method": 3611, "result": 2409, "other": 306}
DEV = {"background": 681, "objective": 244, "method": 624, "result": 409, "other": 66}
VALUES = {
    "base": {"decision-tree": 0.4159, "knn": 0.5789, "mlp": 0.5789, "random-forest": 0.5537, "svm": 0.6123},
    "tuned": {"decision-tree": 0.6620, "knn": 0.7665, "mlp": 0.7180, "random-forest": 0.7710, "svm": 0.7320},
}
CLUSTERS = {"base": (0.0111, 0.0201, 0.0281), "tuned": (0.3512, 0.3401, 0.8120)}


def corpus_info(labels: tuple[str, ...] = LABELS, test: dict[str, int] | None = None, **values: Any) -> dict[str, Any]:
    """The content of a made-up corpus.json."""
    counts = {"train": TRAIN, "dev": DEV, "test": test or TEST}
    return {
        "format": 1,
        "name": "csabstruct",
        "scheme": "csabstruct",
        "labels": list(labels),
        "counts": counts,
        "articles": {"train": 1668, "dev": 295, "test": 226},
        "sentences": sum(sum(split.values()) for split in counts.values()),
        "has_articles": True,
        "licence": "Apache-2.0",
        "command": "sectioncls build-csabstruct CSABSTRUCT -o csabstruct",
        "fingerprint": "c0ffee" * 10,
        "notes": ["26 of 226 test abstracts stand word for word in train."],
        "dropped": {"conflicting labels": 85},
        "lengths": {name: {"mean_words": 22.4, "max_words": 138} for name in counts},
        **values,
    }


def make_run(
    path: Path,
    *,
    name: str = "csabstruct-minilm",
    corpus: dict[str, Any] | None = None,
    note: str = "Embeddings collapsed: effective rank 1.9 of 384.",
    intervals: bool = True,
    shift: float = 0.0,
    points: int | None = None,
) -> Run:
    """Make a finished run folder with everything that a report can show."""
    corpus = corpus or corpus_info()
    labels, test = corpus["labels"], corpus["counts"]["test"]
    encoders = {
        "base": {"backbone": "minilm", "state": "base", "model": "all-MiniLM-L6-v2", "dimension": 384},
        "tuned": {"backbone": "minilm", "state": "tuned", "model": "encoder", "dimension": 384, "notes": [note]},
    }
    encoders["tuned"]["training"] = {"objective": "triplet", "epochs": 4, "learning_rate": 2e-5, "batch": 32}
    run = create_run(
        path,
        {
            "name": name,
            "created": "2026-11-30T12:00:00+00:00",
            "corpus": corpus,
            "encoders": encoders,
            "protocol": "paper",
            "seeds": [31415],
            "threads": 2,
            "versions": {"python": "3.11.9", "scikit-learn": "1.9.0"},
        },
    )
    run.write_text("recipe.toml", f'name = "demo"\ncorpus = "{corpus["name"]}"\n')
    common = {"n": sum(test.values()), "corpus": corpus["name"], "protocol": "paper", "seed": 31415}

    def score(metric: str, value: float, **values: Any) -> Score:
        half = 0.023 if intervals else None
        low, high = (None, None) if half is None else (value - half, value + half)
        return Score(metric, value, low, high, unit="article" if half else "sentence", **{**common, **values})

    scores = [
        score("f1-micro", max(test.values()) / sum(test.values()), method="majority"),
        score("f1-micro", 0.6887, method="tfidf-logistic-regression"),
        score("ari", 0.052, method="tfidf-kmeans"),
    ]
    scores += [score("f1", 0.6, method="tfidf-logistic-regression", label=label) for label in labels]
    for encoder, methods in VALUES.items():
        for method, value in methods.items():
            value += shift if encoder == "tuned" else 0
            scores.append(score("f1-micro", value, method=method, encoder=encoder))
            scores.append(score("f1-macro", value - 0.04, method=method, encoder=encoder))
            for place, label in enumerate(labels):
                scores.append(score("f1", value - 0.05 * place, method=method, encoder=encoder, label=label))
        for metric, value in zip(("ari", "ami", "silhouette"), CLUSTERS[encoder], strict=True):
            value = Score(metric, value, method="kmeans", encoder=encoder, **common)
            scores.append(value)
    run.add_scores(scores)
    for step in range(10, 1410, 10):
        loss = 5 * float(np.exp(-step / 600)) + 0.2 * float(np.sin(step))
        run.append_history({"kind": "step", "step": step, "epoch": step / 352, "task": "triplet", "loss": loss})
    for epoch in range(1, 5):
        dev = {"f1-micro": 0.7 + 0.015 * epoch, "ari": 0.2 + 0.03 * epoch, "effective-rank": 5.0 - 0.7 * epoch}
        run.append_history({"kind": "dev", "step": 352 * epoch, "epoch": epoch, **dev})
    add_tables(run, labels, test, points)
    run.finish(seconds={"train": 812.4, "encode": 12.25, "evaluate": 60.0})
    return run


def add_tables(run: Run, labels: list[str], test: dict[str, int], points: int | None) -> None:
    """Add predictions and maps: one row per test sentence and encoder."""
    chance = np.random.default_rng(7)
    true = [label for label, n in test.items() for _ in range(n)]
    if points:
        true = (true * (points // len(true) + 1))[:points]
    rows = {"article_id": [f"a{i // 6}" for i in range(len(true))], "index": [i % 6 for i in range(len(true))]}
    for encoder, noise in (("base", 0.4), ("tuned", 0.22)):
        wrong = chance.random(len(true)) < noise
        other = chance.choice(labels, len(true), p=np.full(len(labels), 1 / len(labels)))
        predicted = [str(o) if w else t for t, o, w in zip(true, other, wrong, strict=True)]
        same = {**rows, "label": true, "encoder": [encoder] * len(true)}
        # The paper's protocol asks no method for probabilities.
        guesses = {"predicted": predicted, "probability": [None] * len(true)}
        run.add_rows("predictions", {**same, "method": ["random-forest"] * len(true), **guesses})
        spread = 6 if encoder == "tuned" else 1.5
        angle = np.array([2 * np.pi * labels.index(label) / len(labels) for label in true])
        x = spread * np.cos(angle) + chance.normal(size=len(true))
        y = spread * np.sin(angle) + chance.normal(size=len(true))
        run.add_rows("projection", {**same, "method": ["tsne"] * len(true), "x": x, "y": y})


@pytest.fixture(scope="session")
def maker() -> Callable[..., Run]:
    """The function that makes a run folder."""
    return make_run


@pytest.fixture(scope="session")
def info() -> Callable[..., dict[str, Any]]:
    """The function that makes the content of a corpus.json."""
    return corpus_info
