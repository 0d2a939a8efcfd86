"""Clusters 17,000 and classifies from 138,000 made-up vectors of 768 dimensions, and says how long and how much memory.

::

    python tests/benchmarks/evaluate_large.py                       # an hour or more on two cores
    python tests/benchmarks/evaluate_large.py --rows 5000 --test 1000 --methods knn svm
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from sectioncls.downstream import PROTOCOLS, classification_scores, cluster, clustering_scores, fit_classifier
from sectioncls.records import Score

RULES = PROTOCOLS["default"]
LABELS = ("background", "objective", "method", "result", "other")


def made_up(rows: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors with the structure of five labels, made in blocks."""
    rng = np.random.default_rng(seed)
    centres = 0.05 * np.random.default_rng(0).normal(size=(len(LABELS), width))
    y = rng.choice(len(LABELS), rows, p=[0.3, 0.1, 0.3, 0.25, 0.05])
    x = np.empty((rows, width), dtype=np.float32)
    for start in range(0, rows, 10_000):
        part = centres[y[start : start + 10_000]]
        part = part + rng.normal(size=part.shape)
        x[start : start + 10_000] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return x, y


def gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=138_000)
    parser.add_argument("--test", type=int, default=17_310)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--methods", nargs="+", default=list(RULES.methods))
    options = parser.parse_args()
    (x, y), (test_x, test_y) = made_up(options.rows, options.width, 1), made_up(options.test, options.width, 2)
    groups = [str(row // 8) for row in range(options.test)]
    began = time.perf_counter()
    ids = cluster(test_x, len(LABELS), protocol=RULES)
    both = {"silhouette_of": RULES.silhouette_of, "silhouette_rows": RULES.silhouette_rows}
    rows = clustering_scores(test_x, test_y, ids, like=Score("", 0.0), groups=groups, **both)
    spent = time.perf_counter() - began
    shown = ", ".join(f"{row.metric} {row.value:.3f}" for row in rows)
    print(f"kmeans: {spent:.0f} s, {gigabytes():.1f} GB at most; {shown}", flush=True)
    for method in options.methods:
        began = time.perf_counter()
        model = fit_classifier(x, y, method=method, protocol=RULES)
        predicted = model.predict(test_x)
        first = classification_scores(test_y, predicted, LABELS, like=Score("", 0.0), groups=groups)[0]
        spent = time.perf_counter() - began
        value = f"F1-micro {first.value:.3f} ({first.low:.3f} to {first.high:.3f})"
        print(f"{method} by {model.engine}: {spent:.0f} s, {gigabytes():.1f} GB at most; {value}", flush=True)


if __name__ == "__main__":
    main()
