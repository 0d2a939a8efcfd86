"""SciDocs's recommender: a small network that learns from clicks which of the papers shown is the better one.

Paper: arXiv 2004.07180, section 4.4, with what its evaluation code does:

- Eleven features of a pair: cosine of the embeddings, overlap (Jaccard) of authors, citing papers, references and
  title words, who cites whom, age, relative age, citations, and the position, which the code sets to 0 for all.
- For that reason the propensity that weighs a click in training is the last one of the list for all clicks.
- 11 → 50 (ReLU, dropout 0.4) → 1 (sigmoid), margin ranking loss with margin 0.1 on (clicked, shown) pairs, Adadelta
  (rho 0.95), gradients cut at norm 5, batches of 128, 5 epochs, the epoch with the lowest loss on validation kept.
- Test: nDCG and P@1 of the clicked paper among those shown, each list weighed by 1 / propensity of the position
  that was clicked. A paper with an equal score counts half as ranked above.

Seed 7 as there; the generators differ, so single digits won't repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.intervals import mean_interval
from sectioncls.errors import InputError
from sectioncls.records import Score

__all__ = ["FEATURES", "Clicks", "click_scores", "clicks", "rank_of_clicked", "recommend"]

FEATURES = 10
"""Numbers of a pair beside the cosine, in any fixed order; the position (always 0) is among them."""

HIDDEN, DROPOUT, MARGIN, EPOCHS, BATCH, CLIP, SHOWN = 50, 0.4, 0.1, 5, 128, 5.0, 10

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Clicks:
    """Lists of papers shown for a query paper, end to end.

    ``query`` (lists,) and ``shown`` (papers,) are rows of embeddings; list i holds ``shown[ends[i-1]:ends[i]]`` in
    the order of its positions; ``clicked`` (lists,) is the place in the list that was clicked; ``features``
    (papers, FEATURES) describe each pair of query and shown paper.
    """

    query: Ids
    shown: Ids
    ends: Ids
    clicked: Ids
    features: Floats

    def __len__(self) -> int:
        return len(self.query)


def clicks(
    query: npt.ArrayLike, lists: Sequence[Sequence[int]], clicked: npt.ArrayLike, features: npt.ArrayLike
) -> Clicks:
    """Clicks of lists of rows; ``features`` holds one row for each shown paper, lists in order.

    Raises InputError where a clicked place lies outside its list or numbers don't fit together.
    """
    places = np.asarray(clicked, dtype=np.int64)
    lengths = np.array([len(one) for one in lists], dtype=np.int64)
    numbers = np.asarray(features, dtype=np.float64)
    queries = np.asarray(query, dtype=np.int64)
    if not len(lists) or not len(queries) == len(lists) == len(places):
        raise InputError(f"{len(queries)} queries, {len(lists)} lists, {len(places)} clicks", "clicks")
    if ((places < 0) | (places >= lengths)).any():
        raise InputError("a click outside its list", "clicks")
    if numbers.shape != (int(lengths.sum()), FEATURES):
        raise InputError(f"features of shape {numbers.shape}, expected {(int(lengths.sum()), FEATURES)}", "clicks")
    shown = np.concatenate([np.asarray(one, dtype=np.int64) for one in lists])
    return Clicks(queries, shown, np.cumsum(lengths), places, numbers)


def recommend(
    vectors: npt.ArrayLike,
    train: Clicks,
    dev: Clicks,
    test: Clicks,
    propensities: npt.ArrayLike,
    *,
    seed: int = 7,
) -> Floats:
    """Scores of the papers shown in ``test``, in its order, by a recommender trained on ``train``, chosen on ``dev``.

    ``vectors`` are the embeddings that all rows point into, zero rows where a paper has none.
    """
    import torch

    inputs = [torch.from_numpy(_inputs(np.asarray(vectors), part)) for part in (train, dev, test)]
    pairs = [torch.from_numpy(_pairs(part)) for part in (train, dev)]
    weight = float(_spread(propensities)[-1])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = _trained(torch, inputs, pairs, weight)
        with torch.inference_mode():
            return np.asarray(network(inputs[2])[:, 0].numpy(), dtype=np.float64)


def rank_of_clicked(test: Clicks, scores: npt.ArrayLike) -> Floats:
    """How many shown papers stand above the clicked one of each list (lists,); equal scores count half."""
    given = np.asarray(scores, dtype=np.float64)
    if given.shape != test.shown.shape:
        raise InputError(f"{len(test.shown)} papers shown but scores of shape {given.shape}", "clicks")
    above = np.empty(len(test), dtype=np.float64)
    for row, (start, end) in enumerate(zip(_starts(test), test.ends, strict=True)):
        mine, others = given[start + test.clicked[row]], np.delete(given[start:end], test.clicked[row])
        above[row] = (others > mine).sum() + (others == mine).sum() / 2
    return above


def click_scores(test: Clicks, scores: npt.ArrayLike, propensities: npt.ArrayLike, *, like: Score) -> list[Score]:
    """Rows ``adj-ndcg`` and ``adj-p@1``: means over lists weighed by 1 / propensity of the clicked position.

    ``propensities`` says how likely each position is clicked, whatever stands there.
    """
    above = rank_of_clicked(test, scores)
    spread = _spread(propensities)
    if test.clicked.max() >= len(spread):
        raise InputError(f"position {int(test.clicked.max()) + 1} but {len(spread)} propensities", "clicks")
    weights = 1 / spread[test.clicked]
    rows = []
    for metric, values in (("adj-ndcg", 1 / np.log2(2 + above)), ("adj-p@1", (above == 0).astype(np.float64))):
        low, high = mean_interval(values, weights) or (None, None)
        value = float((weights * values).sum() / weights.sum())
        rows.append(replace(like, metric=metric, value=value, low=low, high=high, n=len(test), unit="query"))
    return rows


def _trained(torch: Any, inputs: Sequence[Any], pairs: Sequence[Any], weight: float) -> Any:
    """The network of the epoch with the lowest loss on dev, ready to score."""
    nn = torch.nn
    network = nn.Sequential(
        nn.Linear(FEATURES + 1, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, 1), nn.Sigmoid()
    )
    optimiser = torch.optim.Adadelta(network.parameters(), lr=1.0, rho=0.95)
    criterion = nn.MarginRankingLoss(margin=MARGIN)

    def loss(features: Any, chosen: Any) -> Any:
        better, worse = network(features[chosen[:, 0]]), network(features[chosen[:, 1]])
        return criterion(better, worse, torch.ones_like(better)) / weight

    best, kept = float("inf"), None
    for _ in range(EPOCHS):
        network.train()
        for rows in torch.randperm(len(pairs[0])).split(BATCH):
            optimiser.zero_grad()
            loss(inputs[0], pairs[0][rows]).backward()
            nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            optimiser.step()
        network.eval()
        with torch.inference_mode():
            found = float(loss(inputs[1], pairs[1]))
        if found < best or kept is None:
            best, kept = found, {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(kept)
    network.eval()
    return network


def _inputs(vectors: npt.NDArray[Any], part: Clicks) -> npt.NDArray[np.float32]:
    """Features of the shown papers with the cosine of the embeddings in front."""
    lengths = np.diff(part.ends, prepend=0)
    left, right = vectors[np.repeat(part.query, lengths)].astype(np.float64), vectors[part.shown].astype(np.float64)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosine = np.einsum("ij,ij->i", left, right) / np.where(norms > 0, norms, 1)
    return np.concatenate([cosine[:, None], part.features], axis=1).astype(np.float32)


def _pairs(part: Clicks) -> Ids:
    """(clicked, shown) places of each list, at most SHOWN a list."""
    found = []
    for row, (start, end) in enumerate(zip(_starts(part), part.ends, strict=True)):
        better = start + part.clicked[row]
        found += [(better, other) for other in range(start, end) if other != better][:SHOWN]
    if not found:
        raise InputError("no list shows a second paper", "clicks")
    return np.array(found, dtype=np.int64)


def _starts(part: Clicks) -> Ids:
    return np.concatenate([[0], part.ends[:-1]]).astype(np.int64)


def _spread(propensities: npt.ArrayLike) -> Floats:
    """Propensities whose mean is 1."""
    given = np.asarray(propensities, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not (given > 0).all():
        raise InputError("propensities must be numbers above 0, one a position", "clicks")
    return np.asarray(given * len(given) / given.sum())
