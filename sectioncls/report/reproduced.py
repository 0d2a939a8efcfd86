"""Which printed numbers of released encoders come out to the digit, and why the others need not.

Only runs by the protocol ``paper`` are asked: any other changes rows or settings on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from sectioncls.render import signed
from sectioncls.report.published import load_published
from sectioncls.report.views import CLUSTERING, CorpusView, Group, Summary, method_name

__all__ = ["reproduced"]

_STEADY = ("svm", "knn")  # what they say hardly hangs on the order of rows, and on no random draw
_NAMES = {"ari": "ARI", "ami": "AMI", "silhouette": "silhouette"}
_WHY = (
    "The paper sorts sentences by length with a sort that leaves those of equal length in no fixed order, and prints "
    "no versions of its libraries: tree, forest, perceptron and k-means draw along the order of rows, support vectors "
    "and nearest neighbours hardly do."
)
_STRANGE = "As these two hang on neither, other embeddings or other rows are the likelier cause of their difference."


def reproduced(summary: Summary) -> list[str]:
    """Give a sentence or two for each released encoder with printed values on the same data; [] without any."""
    by_paper = {run.name for run in summary.runs if run.info.get("protocol") == "paper"}
    return [
        text
        for corpus in summary.corpora
        for group in corpus.groups
        if group.encoder is not None and group.encoder.state == "base" and by_paper & set(group.runs)
        for text in _told(corpus, group)
    ]


def _told(corpus: CorpusView, group: Group) -> Iterator[str]:
    # A classifier that learnt from other rows is another; clusters are of the test rows alone.
    other_train = any(" train " in note for note in corpus.comparison.notes)
    equal: list[str] = []
    unequal: list[tuple[str, str, float]] = []
    for row in group.rows:
        for metric, score in row.scores.items():
            if score.published is None or score.difference is None or (other_train and metric not in CLUSTERING):
                continue
            name = _NAMES[metric] if metric in _NAMES else method_name(row.method)
            apart = round(100 * score.value, 2) - round(100 * score.published, 2)
            if abs(apart) < 0.005:
                equal.append(name)
            else:
                unequal.append((name, row.method, apart))
    found = len(equal) + len(unequal)
    if not found or group.encoder is None:
        return
    text = f"{group.encoder.title} on {corpus.name}: {len(equal)} of {found} printed values come out to the digit"
    text += f" ({', '.join(equal)})." if equal else "."
    if unequal:
        text += f" Others do not: {', '.join(f'{name} {signed(apart)}' for name, _, apart in unequal)}. {_WHY}"
        if any(method in _STEADY for _, method, _ in unequal):
            text += f" {_STRANGE}"
    if other_train:
        text += f" Classifiers are left out: {load_published().short} learnt from another train split."
    yield text
