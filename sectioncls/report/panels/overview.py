"""The first screen: how good, compared with what, how sure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sectioncls.render import number, signed, whole
from sectioncls.report.views import Encoder, Measured, Row, RunView, Summary, is_collapse

__all__ = ["build", "cautions", "headline"]


def build(summary: Summary) -> dict[str, Any] | None:
    """Give each run's sentences and tiles, and what to keep in mind; None where all are of papers or transfer."""
    shown = [run for run in summary.runs if run.info.get("kind") not in ("papers", "transfer")]
    if not shown:
        return None
    runs = [{"run": run, "sentences": headline(run), "tiles": _tiles(run)} for run in shown]
    return {"entries": runs, "cautions": _merged(shown), "several": len(runs) > 1}


def _merged(shown: Sequence[RunView]) -> list[tuple[str, bool]]:
    """Give the cautions of all runs, each once, naming its runs where not all share it; grave ones first."""
    whose: dict[tuple[str, bool], list[str]] = {}
    for run in shown:
        for caution in cautions(run):
            names = whose.setdefault(caution, [])
            if run.name not in names:
                names.append(run.name)
    merged = [
        (text if len(names) == len(shown) else f"{', '.join(names)}: {text}", grave)
        for (text, grave), names in whose.items()
    ]
    return sorted(merged, key=lambda caution: not caution[1])


def headline(run: RunView) -> list[str]:
    """Give the result of a run in sentences: the best classifier, what it is compared with, the clustering."""
    sentences = [_on_classifier(run)]
    printed = run.best[1].scores["f1-micro"] if run.best else None
    if printed and printed.published is not None and printed.difference is not None:
        sentences.append(
            f"{run.corpus.comparison.published.short} printed {_points(printed.published)} for the same method "
            f"and encoder: ours is {_apart(printed.difference)}, and the printed value lies {_inside(printed)}."
        )
    clustering = _best_clustering(run)
    if clustering:
        encoder, row = clustering
        ari = row.scores["ari"]
        beside = "" if ari.published is None else f" (published: {_points(ari.published)})"
        of = "the same embeddings" if run.best and run.best[0] is encoder else encoder.phrase
        sentences.append(
            f"Clusters of {of} by {row.title} agree with the labels at an ARI × 100 of {_points(ari.value)}{beside}."
        )
    return sentences


def _on_classifier(run: RunView) -> str:
    """Give the sentence on the best classifier."""
    if run.best is None:
        return "This run holds no classification scores of an encoder."
    encoder, row = run.best
    micro = row.scores["f1-micro"]
    return (
        f"{row.title} on {encoder.phrase} labels {_points(micro.value)} % of the {whole(micro.n)} test sentences "
        f"of {run.corpus.name} correctly (F1-micro{_interval(micro)}){_against_baseline(run, micro)}."
    )


def cautions(run: RunView) -> Iterator[tuple[str, bool]]:
    """Give what a reader must keep in mind, and whether it is grave (a collapse, other data)."""
    info = run.corpus.info
    comparison = run.corpus.comparison
    for encoder in run.encoders.values():
        for note in encoder.notes:
            yield f"{encoder.title}: {note}", is_collapse(note)
    rows = [row for group in run.groups for row in group.rows]
    yield from ((text, False) for text in _on_seeds(rows))
    tried = sum("f1-micro" in row.scores for group in run.groups if group.encoder for row in group.rows)
    if tried > 1:
        yield (
            f"The best of {tried} combinations of encoder and method was picked on the test split itself, so its "
            "value flatters a little; the tables show all of them.",
            False,
        )
    yield from ((text, False) for text in _on_intervals(rows, info))
    if comparison.corpus is None:
        yield comparison.why, bool(comparison.title)
    else:
        protocol = run.info.get("protocol", "default")
        yield (
            f"Published numbers ({comparison.published.short}) are single runs without intervals"
            + ("." if protocol == "paper" else f"; this run used our protocol “{protocol}”, not the paper's."),
            False,
        )
    yield from ((note, False) for note in comparison.notes)
    yield from ((str(note), False) for note in info.get("notes") or ())
    yield from ((str(note), False) for note in run.info.get("notes") or ())


def _tiles(run: RunView) -> list[tuple[str, str, str]]:
    """Give up to four numbers: what it is, the number, what to see it against."""
    tiles = []
    if run.best:
        micro = run.best[1].scores["f1-micro"]
        span = _interval(micro).removeprefix("; ") or "no interval in this run"
        tiles.append((f"F1-micro × 100, {run.best[1].title}", _points(micro.value), span))
        if micro.published is not None and micro.difference is not None:
            inside = f"ours {signed(100 * micro.difference)}, {_inside(micro)}"
            tiles.append(("Published counterpart", _points(micro.published), inside))
        best = run.corpus.comparison.best("f1-micro")
        if best and micro.published is None:
            tiles.append(("Best published on this data", number(best[0]), f"{best[1]}, {best[3]}"))
    tfidf, majority = run.baseline("tfidf-logistic-regression"), run.baseline("majority")
    low = "" if not majority else f"majority label {_points(majority.scores['f1-micro'].value)}"
    if tfidf and "f1-micro" in tfidf.scores:
        tiles.append(("TF-IDF + logistic regression", _points(tfidf.scores["f1-micro"].value), low))
    elif low:
        tiles.append(("Majority label", low.removeprefix("majority label "), "F1-micro × 100"))
    found = _best_clustering(run)
    if found:
        scores = found[1].scores
        beside = "" if scores["ari"].published is None else f"published {_points(scores['ari'].published)}"
        ami = f"AMI {_points(scores['ami'].value)}" if "ami" in scores else ""
        tiles.append((f"ARI × 100 of {found[1].title}", _points(scores["ari"].value), _joined(beside, ami)))
    return tiles


def _best_clustering(run: RunView) -> tuple[Encoder, Row] | None:
    """Give the clustering of the best classifier's encoder; else the one with the highest ARI."""
    pairs = [
        (group.encoder, row)
        for group in run.groups
        if group.encoder
        for row in group.rows
        if "ari" in row.scores and not math.isnan(row.scores["ari"].value)
    ]
    same = [pair for pair in pairs if run.best and pair[0].key == run.best[0].key]
    return max(same or pairs, key=lambda pair: pair[1].scores["ari"].value, default=None)


def _on_seeds(rows: list[Row]) -> list[str]:
    measured = [score for row in rows for score in row.scores.values()]
    most = max((len(score.seeds) for score in measured), default=0)
    if most > 1:
        return [f"Values of up to {most} seeds are their mean; the range beside them spans the seeds."]
    seeds = sorted({seed for score in measured for seed in score.seeds if seed is not None})
    named = f" ({seeds[0]})" if len(seeds) == 1 else ""
    return [f"One seed{named}: how much values vary from seed to seed was not measured."] if measured else []


def _on_intervals(rows: list[Row], info: Any) -> list[str]:
    bounded = [score for row in rows for score in row.scores.values() if score.low is not None]
    notes = []
    if not info.get("has_articles", True):
        notes.append(
            "The corpus gives no article ids: intervals resample single sentences, which are not independent "
            "within an article, so they are too narrow; whether an article stands in two splits is unknown."
        )
    elif any(score.unit == "sentence" for score in bounded):
        notes.append("Intervals resample single sentences, not articles, so they are too narrow.")
    if rows and not bounded:
        notes.append("This run has no intervals.")
    return notes


def _against_baseline(run: RunView, micro: Measured) -> str:
    row = run.baseline("tfidf-logistic-regression")
    if row is None or "f1-micro" not in row.scores:
        return ""
    gain = round(100 * (micro.value - row.scores["f1-micro"].value), 2)
    if gain == 0:
        return ", no better than TF\N{NON-BREAKING HYPHEN}IDF with logistic regression"
    side = "above" if gain > 0 else "below"
    return f", {number(abs(gain))} points {side} TF\N{NON-BREAKING HYPHEN}IDF with logistic regression"


def _apart(difference: float) -> str:
    points = round(100 * difference, 2)
    return "equal" if points == 0 else f"{number(abs(points))} points {'higher' if points > 0 else 'lower'}"


def _inside(measured: Measured) -> str:
    inside = measured.published_inside
    if inside is None:
        return "beside a value without interval"
    ours = "the range of our seeds" if measured.unit == "seed" else "our interval"
    return f"within {ours}" if inside else f"outside {ours}"


def _interval(measured: Measured) -> str:
    if measured.low is None or measured.high is None:
        return ""
    what = "seeds" if measured.unit == "seed" else "95 % interval"
    return f"; {what} {number(100 * measured.low, 1)} to {number(100 * measured.high, 1)}"


def _points(value: float) -> str:
    return number(100 * value)


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
