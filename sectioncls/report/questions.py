"""The headline claims of arXiv 2404.00224 and its three questions, reckoned from the runs at hand.

Where a run lacks a row nothing is guessed. The questions are in our words: do fine-tuned embeddings cluster better by
role, do they classify better, and do classifiers on them beat a [CLS] classifier?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sectioncls.render import number, signed
from sectioncls.report.pairs import CLS, Pair, Reader, gain, pairs, score_of, top
from sectioncls.report.published import Published, load_published
from sectioncls.report.tables import Cell, Column, Table
from sectioncls.report.views import Measured, Summary

__all__ = ["Answer", "Restated", "answers", "claims", "claims_table"]


@dataclass(frozen=True, slots=True)
class Restated:
    """A headline claim: as printed, recomputed from all printed cells, from the ``same`` as ours, and from ours.

    ``ours`` is over ``cells`` of ``of`` cells. Values are per cent, with ``ratio`` times.
    """

    claim: str
    printed: str
    recomputed: float
    same: float
    ours: float
    cells: int
    of: int
    ratio: bool
    verdict: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with its answer in one sentence; ``verdict`` is yes, no, mixed or not testable."""

    question: str
    verdict: str
    sentence: str


_UNSEEN = (
    "Which cells the 8.45 % is the mean of was not seen; reckoned here: the best of the five classifiers over the "
    "[CLS] classifier."
)


def claims(summary: Summary) -> list[Restated]:
    """Give the paper's headline claims beside the same reckoning over our runs; [] without a fine-tuned encoder."""
    found = [pair for pair in pairs(summary) if pair.tuned is not None or pair.cls is not None]
    if not found:
        return []
    published = load_published()
    on = [pair for pair in found if pair.corpus.comparison.corpus is not None]
    small = [pair for pair in on if pair.backbone == "minilm"]
    svm = [pair for pair in on if (pair.backbone, pair.corpus.comparison.corpus) == ("scibert", "csabstruct")]
    return [
        _restated("Clusters agree five times better with the labels (mean of ARI and AMI of k-means)", "× 5",
                  _ratio_of_agreement, on, _readers(published), 5.0, ratio=True),
        _restated("F1-micro of the random forest on MiniLM rises by 30.73 % on average", "+30.73 %",
                  _forest_gain, small, _readers(published, "minilm"), 30.73),
        _restated("F1-micro rises by 8.45 % on average over the [CLS] classifier", "+8.45 %",
                  _cls_gain, on, _readers(published), 8.45,
                  note=_UNSEEN),
        _restated("The SVM on SciBERT loses on CSAbstruct by fine-tuning", "76.20 to 75.76",
                  _svm_gain, svm, _readers(published, "scibert", "csabstruct"), 0.0, below=True),
    ]  # fmt: skip


def _readers(published: Published, backbone: str = "", corpus: str = "") -> list[Reader]:
    """Give a reader of the printed values of every corpus and backbone, or of those named."""
    keys = sorted({key[:2] for key in published.scores})

    def reader(at: tuple[str, str]) -> Reader:
        return lambda *rest: published.scores.get((*at, *rest), math.nan) / 100

    return [reader(key) for key in keys if backbone in ("", key[1]) and corpus in ("", key[0])]


def _restated(
    claim: str,
    printed: str,
    reckon: Callable[[Sequence[Reader]], tuple[float, int]],
    ours: Sequence[Pair],
    everything: Sequence[Reader],
    least: float,
    *,
    ratio: bool = False,
    below: bool = False,
    note: str = "",
) -> Restated:
    """Give a claim reckoned from all printed cells, from the printed cells that we have, and from ours."""
    measured = [pair for pair in ours if reckon([pair.ours])[1]]
    value, cells = reckon([pair.ours for pair in measured])
    whole, of = reckon(everything)
    same, _ = reckon([pair.printed for pair in measured])
    if not cells:
        verdict = "not testable here"
    else:
        verdict = "holds" if (value < least if below else value >= least) else "does not hold"
        verdict += "" if cells >= of else f" on {cells} of {of} cells"
    return Restated(claim, printed, whole, same, value, cells, of, ratio, verdict, note)


def _ratio_of_agreement(readers: Sequence[Reader]) -> tuple[float, int]:
    """Give mean (ARI, AMI) fine-tuned over mean released, and the number of encoders that have all four."""
    kept = []
    for read in readers:
        values = [read(state, "kmeans", metric) for state in ("base", "tuned") for metric in ("ari", "ami")]
        if not any(map(math.isnan, values)):
            kept.append(values)
    base, tuned = (sum(sum(values[at : at + 2]) for values in kept) for at in (0, 2))
    return (tuned / base if base > 0 else math.nan), len(kept)


def _mean_gain(sides: Iterable[tuple[float, float]]) -> tuple[float, int]:
    gains = [one for base, tuned in sides if not math.isnan(one := gain(base, tuned))]
    return (math.fsum(gains) / len(gains) if gains else math.nan), len(gains)


def _forest_gain(readers: Sequence[Reader]) -> tuple[float, int]:
    method = "random-forest"
    return _mean_gain((read("base", method, "f1-micro"), read("tuned", method, "f1-micro")) for read in readers)


def _svm_gain(readers: Sequence[Reader]) -> tuple[float, int]:
    return _mean_gain((read("base", "svm", "f1-micro"), read("tuned", "svm", "f1-micro")) for read in readers)


def _cls_gain(readers: Sequence[Reader]) -> tuple[float, int]:
    return _mean_gain((100 * read("cls", CLS, "f1-micro"), top(read, "tuned")[0]) for read in readers)


def claims_table(summary: Summary) -> Table | None:
    """Give the headline claims as a table; None where the runs have no fine-tuned encoder."""
    found = claims(summary)
    if not found:
        return None
    names = ("Printed", "All printed cells", "Same cells, printed", "Ours", "Cells", "Verdict")
    columns = (Column("Claim", words=True), *(Column(name, words=name == "Verdict") for name in names))
    rows = tuple(
        (
            Cell(one.claim),
            Cell(one.printed),
            *(Cell(_claimed(one, value)) for value in (one.recomputed, one.same, one.ours)),
            Cell(f"{one.cells} of {one.of}"),
            Cell(one.verdict),
        )
        for one in found
    )
    caption = (
        "What the paper claims, recomputed from the numbers it prints and from ours. "
        "A cell is one encoder on one corpus."
    )
    return Table("claims", "Headline claims", caption, columns, rows, tuple(one.note for one in found if one.note))


def _claimed(one: Restated, value: float) -> str:
    if math.isnan(value):
        return number(None)
    return f"\N{MULTIPLICATION SIGN} {number(value)}" if one.ratio else f"{signed(value)} %"


def answers(summary: Summary) -> list[Answer]:
    """Give the three questions with their answers from every corpus of the runs, in one sentence each."""
    found = pairs(summary)
    return [
        _answer("RQ1. Do fine-tuned embeddings form clusters that agree better with the roles than released ones?",
                "ARI × 100 of k-means", found, _cluster_sides, "a k-means on released and on fine-tuned embeddings"),
        _answer("RQ2. Do classifiers on fine-tuned embeddings label better than on released ones?",
                "F1-micro × 100 of the best of the five classifiers", found, _classifier_sides,
                "a classifier on released and on fine-tuned embeddings"),
        _answer("RQ3. Do classifiers on fine-tuned embeddings label better than a [CLS] classifier?",
                "F1-micro × 100, [CLS] classifier to best of the five,", found, _cls_sides,
                "both a [CLS] classifier and a classifier on fine-tuned embeddings"),
    ]  # fmt: skip


_Sides = tuple[Measured, Measured]


def _cluster_sides(pair: Pair) -> _Sides | None:
    return _both(score_of(pair.base, "kmeans", "ari"), score_of(pair.tuned, "kmeans", "ari"))


def _classifier_sides(pair: Pair) -> _Sides | None:
    return _both(*(score_of(group, top(pair.ours, state)[1], "f1-micro") for state, group in
                   (("base", pair.base), ("tuned", pair.tuned))))  # fmt: skip


def _cls_sides(pair: Pair) -> _Sides | None:
    tuned = score_of(pair.tuned, top(pair.ours, "tuned")[1], "f1-micro")
    return _both(score_of(pair.cls, CLS, "f1-micro"), tuned)


def _answer(
    question: str, what: str, found: Sequence[Pair], sides: Callable[[Pair], _Sides | None], needs: str
) -> Answer:
    """Give one answer: every pair must rise beyond its intervals for a plain yes."""
    measured = [(pair, both) for pair in found if (both := sides(pair))]
    if not measured:
        return Answer(question, "not testable", f"Not testable here: no run has {needs} of one backbone.")
    signs = [_direction(*both) for _, both in measured]
    parts = "; ".join(
        f"{number(100 * a.value)} to {number(100 * b.value)} with {pair.title} on {pair.corpus.name}"
        for pair, (a, b) in measured
    )
    verdict = "yes" if min(signs) > 0 else "no" if max(signs) < 0 else "mixed"
    clear = sum(abs(sign) == 2 for sign in signs)
    bounded = any(before.low is not None for _, (before, _) in measured)
    how = f"the intervals lie apart in {clear} of {len(signs)}" if bounded else "without intervals to judge it by"
    word = {"yes": "Yes", "no": "No", "mixed": "Undecided"}[verdict]
    return Answer(question, verdict, f"{word}: {what} goes from {parts}; {how}.")


def _direction(before: Measured, after: Measured) -> int:
    """Give 1 for a rise, -1 for a fall, twice that where the intervals lie apart, 0 for none."""
    if after.value == before.value:
        return 0
    sign = 1 if after.value > before.value else -1
    low, high = (before, after) if sign > 0 else (after, before)
    return sign * (2 if low.high is not None and high.low is not None and low.high < high.low else 1)


def _both(before: Measured | None, after: Measured | None) -> _Sides | None:
    if before is None or after is None or math.isnan(before.value) or math.isnan(after.value):
        return None
    return before, after
