"""Two-dimensional maps of the test embeddings, as released and fine-tuned side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from sectioncls.render import marks, whole
from sectioncls.report.figures import embedding_map
from sectioncls.report.summary import RunView, Summary

__all__ = ["build"]

_NAMES = {"tsne": "t-SNE", "umap": "UMAP", "pca": "PCA"}


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's maps with their legend; None when no run has coordinates."""
    entries = [entry for run in summary.runs if (entry := _maps(run))]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def _maps(run: RunView) -> dict[str, Any] | None:
    """Give one run's maps, one per method and encoder."""
    table = run.run.read_table("projection")
    if not table:
        return None
    encoders, methods = np.asarray(table["encoder"], object), np.asarray(table["method"], object)
    labels = np.asarray(table["label"], object)
    x, y = np.asarray(table["x"], float), np.asarray(table["y"], float)
    present = set(labels)
    order = [label for label in run.corpus.labels if label in present]
    looks = marks([*order, *sorted(present - set(order))])
    rows = []
    for method in dict.fromkeys(methods):
        maps = []
        for key in sorted(set(encoders[methods == method]), key=lambda key: _position(run, key)):
            chosen = (methods == method) & (encoders == key)
            encoder = run.encoders.get(key)
            title = encoder.title if encoder else key
            name = _NAMES.get(method, method)
            alt = (
                f"{name} map of {whole(chosen.sum())} test sentences embedded by {title}, one point each, "
                f"coloured by label ({', '.join(looks)}).{_agreement(run, key)}"
            )
            picture = embedding_map(x[chosen], y[chosen], labels[chosen], looks, alt)
            maps.append({"title": title, "picture": picture, "agreement": _agreement(run, key).strip()})
        rows.append({"method": _NAMES.get(method, method), "maps": maps})
    return {"run": run, "looks": looks, "rows": rows, "n": int(chosen.sum())}


def _position(run: RunView, key: str) -> tuple[int, str]:
    keys = list(run.encoders)
    return (keys.index(key) if key in keys else len(keys), key)


def _agreement(run: RunView, key: str) -> str:
    """Say how well k-means agrees with the labels, which the picture shows by eye."""
    for group in run.groups:
        for row in group.rows:
            if group.encoder and group.encoder.key == key and row.method == "kmeans" and "ari" in row.scores:
                return f" k-means on the embeddings: ARI {100 * row.scores['ari'].value:.1f}."
    return ""
