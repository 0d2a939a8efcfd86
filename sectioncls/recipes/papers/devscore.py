"""Quick scores on the dev papers while training: what the choice of a state looks at, one number a task.

A task of triples ranks some hundred candidates for some dozen queries (mean average precision); a head foretells
(accuracy, mean average precision over labels, Kendall's tau). These numbers rank states of one training; the table of
results is made by the evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sectioncls.encoders import Encoder, Tokens, encode_tokens
from sectioncls.losses import HeadLoss, TaskHead

__all__ = ["CHOICE", "DevLists", "DevQuestion", "DevScorer", "DevTexts", "average_precision"]

Rows = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

CHOICE = "mean"
"""The dev score that a state is chosen by: the mean over the tasks."""


@dataclass(frozen=True, slots=True, eq=False)
class DevLists:
    """Candidates to rank; ``relevant`` and ``allowed`` are (queries, documents): a paper is no answer to itself."""

    name: str
    route: str
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    relevant: npt.NDArray[np.bool_]
    allowed: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class DevTexts:
    """Texts with what a head should say of them: as the targets of a Foretold."""

    name: str
    route: str
    texts: tuple[str, ...]
    targets: npt.NDArray[Any]
    loss: HeadLoss


DevQuestion: TypeAlias = DevLists | DevTexts


class DevScorer:
    """Questions tokenised once for one encoder; called, it gives one score a task and their mean.

    ``euclidean`` ranks by distance, as triplet margins do, not by dot product.
    """

    def __init__(self, encoder: Encoder, questions: Sequence[DevQuestion], *, euclidean: Sequence[str] = ()) -> None:
        self.questions = questions
        self.euclidean = frozenset(euclidean)
        self.tokens: list[tuple[Tokens, ...]] = []
        for question in questions:
            if isinstance(question, DevTexts):
                self.tokens.append((encoder.tokenise(question.texts, question.route),))
            else:
                sides = (("query", question.queries), ("document", question.documents))
                self.tokens.append(tuple(encoder.tokenise(texts, question.route, side) for side, texts in sides))

    def __call__(self, encoder: Encoder, heads: Mapping[str, TaskHead]) -> dict[str, float]:
        """Give {task: score} and the mean; a task that dev has nothing for is left out. {} where nothing is left."""
        scores: dict[str, float] = {}
        for question, tokens in zip(self.questions, self.tokens, strict=True):
            vectors = [encode_tokens(encoder, part) for part in tokens]
            if isinstance(question, DevTexts):
                outputs = heads[question.name].outputs(vectors[0])
                scores[question.name] = _foretold(outputs, question.targets, question.loss)
            else:
                near = _nearness(vectors[0], vectors[1], euclidean=question.name in self.euclidean)
                scores[question.name] = average_precision(near, question.relevant, question.allowed)
        return {**scores, CHOICE: float(np.mean(list(scores.values())))} if scores else {}


def average_precision(
    scores: npt.NDArray[Any], relevant: npt.NDArray[np.bool_], allowed: npt.NDArray[np.bool_] | None = None
) -> float:
    """Give the mean over rows of average precision; columns that are not ``allowed`` are left out.

    Equal scores stand in the order of the columns, rows without a relevant column do not count.
    """
    ranked = scores if allowed is None else np.where(allowed, scores, -np.inf)
    found = relevant if allowed is None else relevant & allowed
    hits = np.take_along_axis(found, np.argsort(-ranked, axis=1, kind="stable"), axis=1)
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    counts = hits.sum(1)
    some = counts > 0
    values = (precision * hits).sum(1)[some] / counts[some]
    return float(values.mean()) if len(values) else float("nan")


def _nearness(queries: Vectors, documents: Vectors, *, euclidean: bool) -> Vectors:
    products: Vectors = queries @ documents.T
    return products - 0.5 * (documents**2).sum(1)[None, :] if euclidean else products


def _foretold(outputs: Vectors, targets: npt.NDArray[Any], loss: HeadLoss) -> float:
    if loss == "ce":
        return float((outputs.argmax(1) == targets).mean())
    if loss == "bce":
        return average_precision(outputs, targets > 0)
    from scipy.stats import kendalltau

    value = float(kendalltau(outputs[:, 0], targets)[0])
    return 0.0 if value != value else value  # undefined where a head says the same of all
