"""Numbers that others published, with their source, and the rule that says when they may stand beside ours.

Published numbers are shown only on the same data: the test split must have as many sentences of each label as
the published one (as many sentences, where no label counts were published).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sectioncls.errors import InputError

__all__ = ["PUBLISHED", "Comparison", "Published", "compare_data", "load_published"]

PUBLISHED = ("arxiv_2404_00224", "arxiv_2202_06671", "arxiv_2211_13308", "arxiv_2305_14232")
"""The papers whose numbers travel with the package, one JSON file each."""

_SCHEMES = {"csabstruct": "csabstruct", "pubmed-rct": "pubmed-rct", "pmc-sents": "pmc-sents-full"}
"""Label scheme of a corpus → the published data set that it may be."""

_TITLES = {"csabstruct": "CSAbstruct", "pubmed-rct": "PubMed-RCT", "pmc-sents-full": "PMC-Sents-FULL"}


@dataclass(frozen=True, slots=True)
class Published:
    """One paper's numbers: ``scores`` maps (corpus, backbone, state, method, metric) to the printed value × 100.

    ``sizes`` holds sentences per split and ``labels`` sentences per split and label, as far as published.
    """

    paper: str
    short: str
    note: str
    sizes: Mapping[str, Mapping[str, int]]
    labels: Mapping[str, Mapping[str, Mapping[str, int]]]
    scores: Mapping[tuple[str, str, str, str, str], float]
    sources: Mapping[tuple[str, str, str, str, str], str]

    def best(self, corpus: str, metric: str) -> tuple[float, str, str, str] | None:
        """Give the best printed value on a corpus with its backbone, state and method; None without one."""
        found = [(value, *key[1:4]) for key, value in self.scores.items() if (key[0], key[4]) == (corpus, metric)]
        return max(found) if found else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether published numbers may stand beside ours: ``corpus`` is the published set's key, None when not.

    ``why`` says so in one sentence, ``notes`` what else differs although the test split is the same.
    """

    published: Published
    corpus: str | None
    title: str
    why: str
    notes: tuple[str, ...] = ()

    def value(self, backbone: str, state: str, method: str, metric: str) -> float | None:
        """Give the published value as a fraction; None when there is none on the same data."""
        if self.corpus is None:
            return None
        value = self.published.scores.get((self.corpus, backbone, state, method, metric))
        return None if value is None else value / 100

    def best(self, metric: str) -> tuple[float, str, str, str] | None:
        """Give the best published value on this data (× 100), backbone, state and method."""
        return None if self.corpus is None else self.published.best(self.corpus, metric)


@cache
def load_published(name: str = PUBLISHED[0]) -> Published:
    """Give one paper's published numbers; InputError when no such file travels with the package."""
    if name not in PUBLISHED:
        raise InputError(f"no published numbers named {name!r}", todo=f"there are {', '.join(PUBLISHED)}")
    data = json.loads((files(__package__) / f"{name}.json").read_text(encoding="utf-8"))
    keys = ("corpus", "backbone", "state", "method", "metric")
    rows = [(tuple(row[key] for key in keys), row) for row in data["rows"]]
    return Published(
        paper=data["paper"],
        short=data["short"],
        note=data["note"],
        sizes=data["sizes"],
        labels=data["labels"],
        scores={key: row["value"] for key, row in rows},
        sources={key: row["source"] for key, row in rows},
    )


def compare_data(corpus: Mapping[str, Any], published: Published | None = None) -> Comparison:
    """Say whether ``corpus`` (the content of a corpus.json) has the test split that published scores are for."""
    published = published or load_published()
    scheme = corpus.get("scheme", "")
    scheme = scheme.get("name", "") if isinstance(scheme, Mapping) else str(scheme)
    key = _SCHEMES.get(scheme)
    if key is None or key not in published.sizes:
        why = f"No published column: {published.short} has no scores for the label scheme “{scheme}”."
        return Comparison(published, None, "", why)
    title = _TITLES[key]
    counts = corpus.get("counts", {})
    ours = {label: n for label, n in counts.get("test", {}).items() if n}
    theirs = published.labels.get(key, {}).get("test")
    n, size = sum(ours.values()), published.sizes[key]["test"]
    if n != size:
        why = f"No published column, other data: test has {n:,} sentences, the published {title} {size:,}."
        return Comparison(published, None, title, why)
    if theirs is not None and ours != dict(theirs):
        label = next(label for label in {**theirs, **ours} if ours.get(label, 0) != theirs.get(label, 0))
        why = (
            f"No published column, other data: test has {ours.get(label, 0):,} sentences labelled {label}, "
            f"the published {title} {theirs.get(label, 0):,}."
        )
        return Comparison(published, None, title, why)
    what = "sentences of each label" if theirs is not None else "sentences"
    why = f"Published numbers: same test split as {title} in {published.short}: equal numbers of {what} ({n:,} in all)."
    return Comparison(published, key, title, why, tuple(_size_notes(counts, published.sizes[key], title)))


def _size_notes(counts: Mapping[str, Mapping[str, int]], sizes: Mapping[str, int], title: str) -> list[str]:
    """Say which other split is of another size than the published one."""
    notes = []
    for split in ("train", "dev"):
        n = sum(counts.get(split, {}).values())
        if split in sizes and n != sizes[split]:
            notes.append(f"Our {split} split has {n:,} sentences, the published {title} {sizes[split]:,}.")
    return notes
