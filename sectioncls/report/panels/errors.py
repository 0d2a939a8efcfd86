"""What the best method got wrong: the hardest pairs of labels, every error to filter, and whether it knew.

Sentences are named by article and index; their text stands there only on a page that may hold it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sectioncls.render import MARKERS, embedded, marks, number, whole
from sectioncls.report.figures import reliability
from sectioncls.report.predictions import Columns, has, methods_that_know, predictions
from sectioncls.report.sentences import Told, told
from sectioncls.report.views import RunView, Summary

__all__ = ["BINS", "LISTED", "SHOWN", "build", "calibration", "reliability_of", "thirds"]

SHOWN = 30
"""How many errors stand on the page where its script does not run."""

LISTED = 5000
"""How many errors the script can filter; of more, a number spread evenly."""

PAIRS = 12
"""How many pairs of labels are listed."""

SECTIONS = 20
"""How many sections can be told apart; the rest are others."""

BINS = 15
"""Bins of equal width of a reliability diagram, as in arXiv 1706.04599."""


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's pairs, errors and reliability; None when no run has predictions."""
    entries = [entry for run in summary.runs if (entry := _entry(run, summary.with_text))]
    if not entries:
        return None
    return {"entries": entries, "several": len(summary.runs) > 1, "with_text": summary.with_text}


def _entry(run: RunView, with_text: bool) -> dict[str, Any] | None:
    """Give the errors of one run's best method; None without its predictions."""
    if run.best is None:
        return None
    table = predictions(run).get((run.best[0].key, run.best[1].method))
    if not table:
        return None
    corpus = told(run) if with_text else Told({}, {})
    wrong = [row for row, label in enumerate(table["label"]) if label != table["predicted"][row]]
    chances = table.get("probability") or [None] * len(table["label"])
    wrong.sort(key=lambda row: (-(chances[row] or 0), str(table["article_id"][row]), table["index"][row]))
    step = len(wrong) / min(len(wrong), LISTED) if wrong else 1
    kept = [wrong[int(step * at)] for at in range(min(len(wrong), LISTED))]
    labels = run.ordered(label for row in kept for label in (table["label"][row], table["predicted"][row]))
    looks = marks([*dict.fromkeys([*run.corpus.labels, *labels])])
    every = max(1, len(kept) // SHOWN)
    return {
        "run": run,
        "pairs": _pairs(table),
        "total": len(wrong),
        "n": len(table["label"]),
        "listed": len(kept),
        "rows": [_shown(table, row, corpus.texts) for row in kept[::every][:SHOWN]],
        "probability": has(table, "probability"),
        "why": corpus.why,
        "looks": looks,
        "data": embedded(_data(table, kept, labels, looks, corpus, thirds(run, table))),
        "calibration": calibration(run),
    }


def _pairs(table: Columns) -> list[dict[str, Any]]:
    """Give the commonest confusions: labels, sentences, share of the true label, share of all errors."""
    counts = Counter(zip(table["label"], table["predicted"], strict=True))
    totals = Counter(table["label"])
    wrong = sorted((-n, pair) for pair, n in counts.items() if pair[0] != pair[1])
    errors = -sum(n for n, _ in wrong)
    return [
        {"true": true, "predicted": predicted, "n": -n, "of_label": -n / totals[true], "of_errors": -n / errors,
         "back": counts[predicted, true]}
        for n, (true, predicted) in wrong[:PAIRS]
    ]  # fmt: skip


def _shown(table: Columns, row: int, texts: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    article, index = str(table["article_id"][row]), int(table["index"][row])
    return {
        "true": table["label"][row],
        "predicted": table["predicted"][row],
        "article": article,
        "index": index,
        "probability": table["probability"][row] if "probability" in table else None,
        "text": texts.get((article, index), ""),
    }


def thirds(run: RunView, table: Mapping[str, list[Any]]) -> list[int]:
    """Give of each row whether its sentence stands in the first (0), middle or last (2) third of its article's.

    -1 for all where the corpus knows no articles.
    """
    articles, places = table["article_id"], table["index"]
    if not run.corpus.info.get("has_articles", True):
        return [-1] * len(articles)
    last: dict[Any, int] = {}
    for article, place in zip(articles, places, strict=True):
        last[article] = max(last.get(article, 0), place)
    return [3 * place // (last[article] + 1) for article, place in zip(articles, places, strict=True)]


def _data(
    table: Columns, rows: Sequence[int], labels: list[str], looks: Any, corpus: Told, places: Sequence[int]
) -> dict[str, Any]:
    """Give the errors as the page's script reads them.

    A row is [article, index, true, predicted, probability, third of the article, section, text]; -1 and null are
    unknown, the text is there only where it may be shown.
    """
    at = {label: number for number, label in enumerate(labels)}
    keys = [(str(table["article_id"][row]), int(table["index"][row])) for row in rows]
    found = Counter(corpus.sections[key] for key in keys if key in corpus.sections)
    names = [name for name, _ in sorted(found.items(), key=lambda one: (-one[1], one[0]))[:SECTIONS]]
    section = {name: number for number, name in enumerate(names)}
    listed = []
    for row, key in zip(rows, keys, strict=True):
        one = _shown(table, row, corpus.texts)
        chance = None if one["probability"] is None else round(one["probability"], 3)
        cells = [one["article"], one["index"], at[one["true"]], at[one["predicted"]], chance, places[row]]
        cells.append(section.get(corpus.sections[key], len(names)) if key in corpus.sections else -1)
        listed.append([*cells, one["text"]] if corpus.texts else cells)
    return {
        "labels": labels,
        "looks": [[looks[label].colour, MARKERS[looks[label].marker]] for label in labels],
        "sections": [*names, "Other sections"] if len(found) > len(names) else names,
        "rows": listed,
    }


def calibration(run: RunView) -> dict[str, Any] | None:
    """Give the reliability of the best method that gives probabilities, and the ECE of every such; None without one."""
    methods: list[dict[str, Any]] = []
    for encoder, row, table in methods_that_know(run, "probability"):
        bins, ece = reliability_of(table["probability"], table["label"], table["predicted"])
        tempered = row.scores.get("ece-tempered")
        methods.append({"encoder": encoder, "row": row, "ece": ece, "tempered": tempered, "bins": bins})
    if not methods:
        return None
    first = methods[0]
    sure, right = _means(first["bins"])
    alt = (
        f"Reliability diagram of {first['row'].title} on {first['encoder'].title}: {len(first['bins'])} bins of "
        f"{whole(sum(n for _, _, n in first['bins']))} predictions; expected calibration error "
        f"{number(100 * first['ece'], 1)} points. On average {number(100 * sure, 1)} % sure and "
        f"{number(100 * right, 1)} % right."
    )
    return {"methods": methods, "alt": alt, "picture": reliability(first["bins"], alt), "first": first,
            "tempered": any(one["tempered"] for one in methods)}  # fmt: skip


def _means(bins: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    total = sum(n for _, _, n in bins)
    return sum(p * n for p, _, n in bins) / total, sum(r * n for _, r, n in bins) / total


def reliability_of(
    probabilities: Sequence[float | None], labels: Sequence[str], predicted: Sequence[str]
) -> tuple[list[tuple[float, float, int]], float]:
    """Give the non-empty bins (mean probability, share right, number) and the expected calibration error.

    Rows without a probability are left out. Paper: arXiv 1706.04599, section 2.
    """
    chance = np.array([np.nan if value is None else value for value in probabilities], dtype=float)
    known = ~np.isnan(chance)
    right = (np.asarray(labels, object) == np.asarray(predicted, object))[known].astype(float)
    chance = chance[known]
    place = np.clip(np.ceil(chance * BINS).astype(int) - 1, 0, BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sums = np.bincount(place, chance, BINS), np.bincount(place, right, BINS)
    bins = [(sums[0][at] / counts[at], sums[1][at] / counts[at], int(counts[at])) for at in np.flatnonzero(counts)]
    ece = sum(n * abs(sure - share) for sure, share, n in bins) / max(len(chance), 1)
    return [(float(sure), float(share), n) for sure, share, n in bins], float(ece)
