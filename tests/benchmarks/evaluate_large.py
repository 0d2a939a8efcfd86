"""A full evaluation of 138,000 + 17,310 made-up vectors of 768 dimensions, step by step: how long, how much memory.

::

    python tests/benchmarks/evaluate_large.py --work /tmp/large                  # an hour or more on two cores
    python tests/benchmarks/evaluate_large.py --work /tmp/large                  # again: only what is missing
    python tests/benchmarks/evaluate_large.py --work /tmp/small --rows 10000 --test 2000 --steps kmeans tsne svm

Every step is a process of its own, so that its peak is its own, and leaves one line in ``results.jsonl`` of the work
folder; steps that stand there are not run again. ``kmeans`` and ``tsne`` see the test rows, as an evaluation's do,
``kmeans-train`` and ``tsne-train`` (not among the steps unless named) all training rows. A step that takes more than
``--most`` GB counts as failed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from sectioncls.downstream import PROTOCOLS, classification_scores, cluster, clustering_scores, fit_classifier, project
from sectioncls.records import Score

RULES = PROTOCOLS["default"]
LABELS = ("background", "objective", "method", "result", "other")
STEPS = ("kmeans", "tsne", *RULES.methods)


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


def clustered(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    groups = [str(row // 8) for row in range(len(x))]
    both = {"silhouette_of": RULES.silhouette_of, "silhouette_rows": RULES.silhouette_rows}
    ids = cluster(x, len(LABELS), protocol=RULES)
    rows = clustering_scores(x, y, ids, like=Score("", 0.0), groups=groups, **both)
    return {"engine": "scikit-learn", **{row.metric: round(row.value, 4) for row in rows}}


def drawn(x: np.ndarray) -> dict[str, Any]:
    found = project(x, method="tsne", seed=0)
    return {"engine": found.engine, "kl-divergence": found.divergence, "trustworthiness": found.trust}


def classified(method: str, train: Any, test: Any) -> dict[str, Any]:
    model = fit_classifier(*train, method=method, protocol=RULES)
    groups = [str(row // 8) for row in range(len(test[0]))]
    scores = classification_scores(test[1], model.predict(test[0]), LABELS, like=Score("", 0.0), groups=groups)
    return {"engine": model.engine, "f1-micro": scores[0].value, "low": scores[0].low, "high": scores[0].high}


def run_step(step: str, rows: int, test_rows: int, width: int) -> dict[str, Any]:
    """One step in this process: what it found, its seconds without those of making the rows, its peak."""
    test = made_up(test_rows, width, 2)
    train = made_up(rows, width, 1) if step not in ("kmeans", "tsne") else test
    began = time.perf_counter()
    kind = step.removesuffix("-train")
    if kind == "kmeans":
        found = clustered(*train)
    elif kind == "tsne":
        found = drawn(train[0])
    else:
        found = classified(step, train, test)
    spent = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"step": step, "seconds": round(spent, 1), "peak_gb": round(peak, 2), **found}


def told(row: dict[str, Any]) -> str:
    rest = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in row.items()
        if name not in ("step", "seconds", "peak_gb", "engine", "sizes")
    )
    return f"{row['step']} by {row['engine']}: {row['seconds']:.0f} s, {row['peak_gb']:.1f} GB at most; {rest}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=138_000)
    parser.add_argument("--test", type=int, default=17_310)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=[*STEPS, "kmeans-train", "tsne-train"])
    parser.add_argument("--most", type=float, default=16.0, help="GB")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [options.rows, options.test, options.width]
    if options.one:
        print(json.dumps({**run_step(options.one, *sizes), "sizes": sizes}))
        return
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.work / "results.jsonl"
    kept = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {row["step"]: row for row in kept if row["sizes"] == sizes}
    for step in options.steps:
        if step not in done:
            command = [sys.executable, __file__, "--one", step, "--work", str(options.work)]
            command += ["--rows", str(options.rows), "--test", str(options.test), "--width", str(options.width)]
            line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
            with results.open("a") as stream:
                stream.write(line + "\n")
            done[step] = json.loads(line)
        print(told(done[step]), flush=True)
    chosen = [done[step] for step in options.steps]
    most = max(row["peak_gb"] for row in chosen)
    print(f"all: {sum(row['seconds'] for row in chosen) / 60:.1f} min, {most:.1f} GB at most")
    if most > options.most:
        sys.exit(f"more than {options.most:g} GB")


if __name__ == "__main__":
    main()
