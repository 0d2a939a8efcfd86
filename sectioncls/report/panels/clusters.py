"""What the clusters hold: labels against clusters as a heat map, the typical terms of each, and every other score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sectioncls.render import marks, number
from sectioncls.report.views import Row, RunView, Summary, method_name

__all__ = ["SHOWN", "TERMS", "build"]

SHOWN = 15
"""How many clusters stand on the page, the largest first."""

TERMS = 8
"""How many typical terms of each."""

_MORE = (
    ("nmi", "NMI", 100, 2),
    ("homogeneity", "homogeneity", 100, 2),
    ("completeness", "completeness", 100, 2),
    ("purity", "purity", 100, 2),
    ("silhouette-labels", "silhouette of the labels", 100, 2),
    ("davies-bouldin", "Davies\N{EN DASH}Bouldin", 1, 2),
    ("stability", "mean ARI between seeds", 100, 2),
)


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's clusterings; None when no run keeps which sentence lies in which cluster."""
    entries = [entry for run in summary.runs for entry in _entries(run)]
    return {"entries": entries, "several": len(summary.runs) > 1} if entries else None


def _entries(run: RunView) -> Iterator[dict[str, Any]]:
    """Give the clusterings of a run, those of its last encoder first, which is the fine-tuned one."""
    table = run.run.read_table("clusters")
    counts: dict[tuple[str, str], Counter[tuple[int, str]]] = {}
    for encoder, method, cluster, label in zip(
        *(table.get(name, ()) for name in ("encoder", "method", "cluster", "label")), strict=True
    ):
        counts.setdefault((encoder, method), Counter())[cluster, label] += 1
    terms = _terms(run)
    order = ["", *run.encoders]
    owners = sorted(counts, key=lambda owner: -order.index(owner[0]) if owner[0] in order else 1)
    rows = {(group.encoder.key if group.encoder else "", row.method): row for group in run.groups for row in group.rows}
    for place, (encoder, method) in enumerate(owners):
        title = run.encoders[encoder].title if encoder in run.encoders else encoder
        yield {
            "run": run,
            "title": f"{method_name(method)} on {title}" if encoder else method_name(method),
            "open": place == 0,
            **_clusters(run, counts[encoder, method], terms.get((encoder, method), {})),
            "more": _more(rows.get((encoder, method))),
        }


def _clusters(run: RunView, counts: Counter[tuple[int, str]], terms: dict[int, list[str]]) -> dict[str, Any]:
    """Give the clusters by size, what no cluster took last, and the labels of the columns."""
    sizes: Counter[int] = Counter()
    totals: Counter[str] = Counter()
    for (cluster, label), n in counts.items():
        sizes[cluster] += n
        totals[label] += n
    labels = run.ordered(totals)
    order = sorted(sizes, key=lambda cluster: (cluster < 0, -sizes[cluster], cluster))
    return {
        "labels": labels,
        "looks": marks(labels),
        "totals": totals,
        "n": sizes.total(),
        "left_out": max(0, len(order) - SHOWN),
        "terms": bool(terms),
        "rows": [
            {
                "name": "in no cluster" if cluster < 0 else str(cluster),
                "size": sizes[cluster],
                "counts": [counts[cluster, label] for label in labels],
                "most": max(labels, key=lambda label: counts[cluster, label]),
                "terms": terms.get(cluster, []),
            }
            for cluster in order[:SHOWN]
        ],
    }


def _terms(run: RunView) -> dict[tuple[str, str], dict[int, list[str]]]:
    """Give the heaviest terms of each cluster, in order."""
    table = run.run.read_table("descriptions")
    names = ("encoder", "method", "cluster", "term", "weight")
    found = list(zip(*(table.get(name, ()) for name in names), strict=True))
    found.sort(key=lambda row: -row[4])
    terms: dict[tuple[str, str], dict[int, list[str]]] = {}
    for encoder, method, cluster, term, _ in found:
        terms.setdefault((encoder, method), {}).setdefault(cluster, []).append(term)
    return {owner: {one: names[:TERMS] for one, names in kinds.items()} for owner, kinds in terms.items()}


def _more(row: Row | None) -> list[str]:
    """Give the scores that the table of clusterings leaves out, in words."""
    if row is None:
        return []
    return [
        f"{name} {number(factor * row.scores[metric].value, digits)}"
        for metric, name, factor, digits in _MORE
        if metric in row.scores
    ]
