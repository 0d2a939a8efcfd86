"""Encoders as released and fine-tuned, side by side: what the replication and its questions are reckoned from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sectioncls.report.views import CorpusView, Encoder, Group, Measured, Summary

__all__ = ["CLS", "FIVE", "Pair", "Reader", "gain", "pairs", "score_of", "top"]

FIVE = ("decision-tree", "knn", "mlp", "random-forest", "svm")
"""The classifiers of arXiv 2404.00224: the best of them is its table 5, others that a run has are left out of it."""

CLS = "cls-head"
"""The method of a [CLS] classifier."""

Reader = Callable[[str, str, str], float]
"""Gives the value (a fraction, NaN for none) of a state, a method and a metric."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One backbone on one corpus: its embeddings as released and fine-tuned, and its [CLS] classifier."""

    corpus: CorpusView
    backbone: str
    title: str
    base: Group | None
    tuned: Group | None
    cls: Group | None

    def ours(self, state: str, method: str, metric: str) -> float:
        """Give one value of ours as a fraction; NaN where no run measured it."""
        score = score_of({"base": self.base, "tuned": self.tuned, "cls": self.cls}[state], method, metric)
        return math.nan if score is None else score.value

    def printed(self, state: str, method: str, metric: str) -> float:
        """Give the published value as a fraction; NaN where there is none on the same data."""
        value = self.corpus.comparison.value(self.backbone, state, method, metric)
        return math.nan if value is None else value


def pairs(summary: Summary) -> list[Pair]:
    """Give every fine-tuned encoder with the released one of the same backbone; what has no partner stands alone."""
    return [pair for corpus in summary.corpora for pair in _pairs(corpus)]


def _pairs(corpus: CorpusView) -> Iterator[Pair]:
    by_state: dict[str, list[tuple[Encoder, Group]]] = {"base": [], "tuned": [], "cls": []}
    for group in corpus.groups:
        if group.encoder is not None and group.encoder.state in by_state:
            by_state[group.encoder.state].append((group.encoder, group))
    used = []
    for encoder, group in by_state["tuned"]:
        base, cls = (_partner(encoder, group, by_state[state]) for state in ("base", "cls"))
        used += [base, cls]
        twins = [other for other, _ in by_state["tuned"] if other.backbone == encoder.backbone]
        title = _plain_title(encoder) + (f" ({', '.join(group.runs)})" if len(twins) > 1 else "")
        yield Pair(corpus, encoder.backbone, title, base, group, cls)
    for encoder, group in [*by_state["base"], *by_state["cls"]]:
        if not any(group is other for other in used):
            parts = (group, None, None) if encoder.state == "base" else (None, None, group)
            yield Pair(corpus, encoder.backbone, _plain_title(encoder), *parts)


def _partner(encoder: Encoder, group: Group, others: Iterable[tuple[Encoder, Group]]) -> Group | None:
    """Give the group of the same backbone, one of the same run first; an unknown backbone has only such."""
    same = [other for found, other in others if found.backbone == encoder.backbone]
    near = [other for other in same if set(other.runs) & set(group.runs)]
    return next(iter(near), None) or (None if encoder.backbone == "other" else next(iter(same), None))


def _plain_title(encoder: Encoder) -> str:
    return encoder.title.rsplit(", ", 1)[0]


def top(read: Reader, state: str) -> tuple[float, str]:
    """Give the best F1-micro of FIVE (x 100) and its method; the first of equals, (NaN, '') for none."""
    values = [(100 * read(state, method, "f1-micro"), method) for method in FIVE]
    return max((one for one in values if not math.isnan(one[0])), key=lambda one: one[0], default=(math.nan, ""))


def score_of(group: Group | None, method: str, metric: str) -> Measured | None:
    """Give one score of a group; None where it has none."""
    rows = group.rows if group else ()
    return next((row.scores[metric] for row in rows if row.method == method and metric in row.scores), None)


def gain(base: float, tuned: float) -> float:
    """Give the gain of ``tuned`` over ``base`` in per cent; NaN where either is unknown or nothing stands below."""
    return 100 * (tuned / base - 1) if base > 0 else math.nan
