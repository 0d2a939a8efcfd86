"""What an evaluation gathers for one encoder on one test split: scores, and the tables that they are counted from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.audit import confident_labels
from sectioncls.corpora import Corpus, Split
from sectioncls.downstream import (
    ChoiceOfK,
    Classifier,
    LearningPoint,
    Protocol,
    agreement_scores,
    calibrate,
    classification_scores,
    clustering_scores,
    precision_recall,
    typical_terms,
)
from sectioncls.records import UNSEEN, Score

__all__ = ["Evaluation", "Sheet"]

Ids = npt.NDArray[np.int64]
Chances = npt.NDArray[np.floating[Any]]
Columns = dict[str, list[Any]]

_TERMS = 10


@dataclass(slots=True)
class Evaluation:
    """Score rows, and what they were counted from, as run tables: see TABLES in runs.py.

    ``settings`` are what a grid chose and who computed it, {encoder: {method: {name: value}}}, where there is news.
    """

    scores: list[Score] = field(default_factory=list)
    predictions: Columns = field(default_factory=dict)
    clusters: Columns = field(default_factory=dict)
    curves: Columns = field(default_factory=dict)
    descriptions: Columns = field(default_factory=dict)
    settings: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)


@dataclass(slots=True)
class Sheet:
    """The Evaluation of one encoder (``name``, "" for text baselines) on ``test``, as it fills.

    ``rules`` are the protocol's; scores bear the seed that they are added with. Tables hold the first seed only. Where
    ``unseen`` (a mask over test) leaves sentences out, predictions and clusters are scored on the others as well.
    """

    corpus: Corpus
    test: Split
    name: str
    rules: Protocol
    context: str = "none"
    unseen: npt.NDArray[np.bool_] | None = None
    result: Evaluation = field(default_factory=Evaluation)

    def add_predictions(
        self,
        method: str,
        predicted: Ids,
        *,
        seed: int,
        chances: Chances | None = None,
        classes: Sequence[int] = (),
        dev: tuple[Chances, Ids] | None = None,
    ) -> None:
        """Score predictions; with ``chances`` (n, classes) also how far these can be trusted, by ``dev``'s temperature.

        ``classes`` are the class ids of the columns of ``chances`` and of dev's.
        """
        like = self._like(method, seed)
        self.result.scores += classification_scores(
            self.test.labels, predicted, self.corpus.labels, like=like, groups=self._groups, more=self.rules.more
        )
        if (rest := self._unseen()) is not None:
            rows, groups = rest
            self._add_unseen(
                classification_scores(
                    self.test.labels[rows], predicted[rows], self.corpus.labels, like=like, groups=groups, more=False
                )
            )
        if chances is not None and self.rules.more:
            self._trust(like, chances, classes, dev)
        if seed != self.rules.seed:
            return
        unknown = [None] * len(predicted)
        values: Columns = {"predicted": [self.corpus.labels[label] for label in predicted], "probability": unknown}
        values |= {"own_probability": unknown, "suggested": unknown}
        if chances is not None:
            values |= self._doubts(chances, classes, predicted)
        self._rows(self.result.predictions, method, values)

    def add_clusters(self, method: str, ids: Ids, space: npt.ArrayLike, *, seed: int) -> None:
        """Score clusters of ``space`` and say what each is about."""
        self.result.scores += clustering_scores(
            space,
            self.test.labels,
            ids,
            like=self._like(method, seed),
            silhouette_of=self.rules.silhouette_of,
            silhouette_rows=self.rules.silhouette_rows,
            groups=self._groups,
            more=self.rules.more,
        )
        if (rest := self._unseen()) is not None:
            rows, groups = rest
            like = self._like(method, seed)
            self._add_unseen(agreement_scores(self.test.labels[rows], ids[rows], like=like, groups=groups))
        if seed != self.rules.seed:
            return
        self._rows(self.result.clusters, method, {"cluster": ids.tolist()})
        for described in typical_terms(self.test.texts, ids, most=_TERMS):
            for term, weight in described.terms:
                values = {"cluster": described.cluster, "size": described.size, "term": term, "weight": weight}
                _append(self.result.descriptions, {"encoder": self.name, "method": method, **values})

    def add_value(self, method: str, metric: str, value: float, **other: Any) -> None:
        """Add one score that has no predictions of its own; ``other`` are fields of Score."""
        row = replace(self._like(method, self.rules.seed), metric=metric, value=value)
        self.result.scores.append(replace(row, **other))

    def add_settings(self, method: str, model: Classifier) -> None:
        """Keep what a grid chose for a classifier, and its engine where that is not scikit-learn."""
        news = dict(model.settings)
        if model.engine != "scikit-learn":
            news["engine"] = model.engine
        if news:
            self.result.settings.setdefault(self.name, {})[method] = news

    def add_learning(self, method: str, curve: str, points: Iterable[LearningPoint]) -> None:
        """Add a curve of F1 by training sentences: x is the size asked for, n the sentences learnt from."""
        for point in points:
            for series, value in (("f1-micro", point.f1_micro), ("f1-macro", point.f1_macro)):
                self._point(method, curve, series, point.asked, value, point.rows, point.repeat)

    def add_choice_of_k(self, choice: ChoiceOfK) -> None:
        """Add what each number of clusters gave, and the two that are chosen."""
        for one in choice.tried:
            if one.silhouette is not None:
                self._point("kmeans", "k", "silhouette", one.k, one.silhouette, choice.rows)
            self._point("kmeans", "k", "gap", one.k, one.gap, choice.rows)
        for metric, k in (("k-by-silhouette", choice.by_silhouette), ("k-by-gap", choice.by_gap)):
            if k is not None:
                self.add_value("kmeans", metric, k, n=choice.rows)

    def _trust(self, like: Score, chances: Chances, classes: Sequence[int], dev: tuple[Chances, Ids] | None) -> None:
        """Rows and curves of calibration and of precision against recall."""
        columns = _columns(self.test.labels, classes)
        found = calibrate(chances, columns, None if dev is None else (dev[0], _columns(dev[1], classes)))
        row = replace(like, n=len(columns))
        values = {"ece": found.before, "ece-tempered": found.after, "temperature": found.temperature}
        self.result.scores += [
            replace(row, metric=name, value=value) for name, value in values.items() if value is not None
        ]
        curves = precision_recall(chances, self.test.labels, classes)
        averages = {self.corpus.labels[curve.label]: curve for curve in curves}
        mean = float(np.mean([curve.average_precision for curve in curves])) if curves else float("nan")
        self.result.scores.append(replace(row, metric="average-precision", value=mean))
        for label, curve in averages.items():
            one = replace(row, metric="average-precision", label=label, n=curve.n, value=curve.average_precision)
            self.result.scores.append(one)
        if like.seed != self.rules.seed:
            return
        for series, bins in (("before", found.bins_before), ("after", found.bins_after)):
            for part in bins:
                self._point(like.method, "reliability", series, part.probability, part.accuracy, part.n)
        for label, curve in averages.items():
            for recall, precision in zip(curve.recall, curve.precision, strict=True):
                self._point(like.method, "precision-recall", label, recall, precision, curve.n)

    def _point(self, method: str, curve: str, series: str, x: float, y: float, n: int, repeat: int = 0) -> None:
        row = {"encoder": self.name, "method": method, "curve": curve, "series": series, "repeat": repeat}
        _append(self.result.curves, {**row, "x": float(x), "y": float(y), "n": int(n)})

    def _rows(self, columns: Columns, method: str, values: Columns) -> None:
        """Add one block of rows, one a test sentence, to the columns of a run table."""
        test = self.test
        block: Columns = {
            "article_id": list(test.article_ids),
            "index": test.index.tolist(),
            "label": [self.corpus.labels[label] for label in test.labels],
            "encoder": [self.name] * len(test),
            "method": [method] * len(test),
            **values,
        }
        for column, rows in block.items():
            columns.setdefault(column, []).extend(rows)

    def _like(self, method: str, seed: int) -> Score:
        return Score(
            metric="",
            value=float("nan"),
            corpus=self.corpus.name,
            fingerprint=self.corpus.info.fingerprint,
            protocol=self.rules.name,
            encoder=self.name,
            context=self.context,
            method=method,
            seed=seed,
        )

    @property
    def _groups(self) -> tuple[str, ...] | None:
        return self.test.article_ids if self.corpus.info.has_articles else None

    def _unseen(self) -> tuple[Ids, tuple[str, ...] | None] | None:
        """The rows of test that no other split holds, with their articles; None where that is all of test or none."""
        if self.unseen is None or self.unseen.all() or not self.unseen.any():
            return None
        rows = np.flatnonzero(self.unseen)
        return rows, None if self._groups is None else tuple(self._groups[row] for row in rows)

    def _add_unseen(self, scores: Iterable[Score]) -> None:
        self.result.scores += [
            replace(score, split=UNSEEN)
            for score in scores
            if score.label is None  # of labels too few are left
        ]

    def _doubts(self, chances: Chances, classes: Sequence[int], predicted: Ids) -> Columns:
        """Give the probabilities of the predicted and of the given label, and another label where that is likelier."""
        own = _columns(self.test.labels, classes)
        known = np.flatnonzero(own >= 0)  # a label that train lacks can't be doubted
        given: list[float | None] = [None] * len(own)
        suggested: list[str | None] = [None] * len(own)
        better = confident_labels(chances[known], own[known])
        for row, other in zip(known.tolist(), better.tolist(), strict=True):
            given[row] = float(chances[row, own[row]])
            if other != own[row]:
                suggested[row] = self.corpus.labels[classes[other]]
        top = chances[np.arange(len(predicted)), _columns(predicted, classes)].tolist()
        return {"probability": top, "own_probability": given, "suggested": suggested}


def _append(columns: Columns, row: dict[str, Any]) -> None:
    for column, value in row.items():
        columns.setdefault(column, []).append(value)


def _columns(labels: Ids, classes: Sequence[int]) -> Ids:
    """The column of each row's label, -1 where it has none."""
    place = {int(label): column for column, label in enumerate(classes)}
    return np.array([place.get(int(label), -1) for label in labels], dtype=np.int64)
