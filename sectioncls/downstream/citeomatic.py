"""A model in the way of Citeomatic: each word has a direction and a magnitude, learnt so that citing pairs are near.

Paper: Bhagavatula et al., arXiv 1802.08301: a text is the sum of its words' vectors at unit length; a triplet loss on
cosines; negatives are papers that lie near the query in the space as it is, found anew each epoch, and random ones.
SPECTER (arXiv 2004.07180, table 1) prints a row of it. Differences: only the embedding model (NNRank's second stage, a
ranker of pairs, has no vectors); one sum for title and abstract; words begin with their latent semantic directions,
weighted by TF-IDF, in place of word vectors learnt elsewhere; neighbours are exact; no boost for papers that are much
cited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.latent import fit_latent
from sectioncls.downstream.words import TextEmbedder, unit_rows
from sectioncls.errors import InputError
from sectioncls.vectors.topk import top_k

__all__ = ["train_citeomatic"]


def train_citeomatic(
    texts: Sequence[str],
    pairs: npt.ArrayLike,
    seed: int,
    *,
    dimensions: int = 128,
    epochs: int = 8,
    margin: float = 0.1,
    rate: float = 1e-3,
    batch: int = 256,
    neighbours: int = 20,
) -> TextEmbedder:
    """Learn from ``texts`` and ``pairs`` (m, 2) of rows, the first cites the second; give what embeds any texts.

    Each pair has two negatives: one of the query's ``neighbours`` nearest texts that it has no citation with, drawn
    anew each epoch in the space as it then is, and a random one. Raises InputError without pairs or words.
    """
    import torch

    edges = np.unique(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    if not len(edges):
        raise InputError("no citations to learn from", "graph", "give papers of which some cite others")
    latent = fit_latent(texts, seed, dimensions=dimensions)
    weights = latent.weights(texts)
    magnitude = torch.from_numpy(np.linalg.norm(latent.terms, axis=1)).requires_grad_()
    direction = torch.from_numpy(unit_rows(latent.terms)).requires_grad_()
    optimiser = torch.optim.Adam([magnitude, direction], lr=rate)
    random = np.random.default_rng((seed, len(edges)))
    linked = _keys(np.concatenate((edges, edges[:, ::-1])), len(texts))
    for _ in range(epochs):
        space = unit_rows(weights @ _terms(magnitude, direction))
        near = _near(space, edges[:, 0], linked, min(neighbours, len(texts) - 1), random)
        far = random.integers(len(texts), size=len(edges))
        order = random.permutation(len(edges))
        for start in range(0, len(order), batch):
            part = order[start : start + batch]
            columns = [edges[part, 0], edges[part, 1], near[part], far[part]]
            some, back = np.unique(np.concatenate(columns), return_inverse=True)
            vectors = _embedded(weights[some], magnitude, direction)
            query, positive, *negatives = (vectors[rows] for rows in np.split(back, 4))
            held = (query * positive).sum(1)
            losses = []
            for rows, vector in zip(columns[2:], negatives, strict=True):
                counts = torch.from_numpy(_apart(edges[part, 0], rows, linked, len(texts)))
                losses.append((torch.relu(margin + (query * vector).sum(1) - held) * counts).sum())
            optimiser.zero_grad()
            loss: Any = torch.stack(losses).sum() / (2 * len(part))
            loss.backward()
            optimiser.step()
    terms = _terms(magnitude, direction)

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return unit_rows(latent.weights(texts) @ terms)

    return embed


def _terms(magnitude: Any, direction: Any) -> npt.NDArray[np.float32]:
    """Give the vector of each word, (words, dimensions)."""
    from torch.nn import functional

    found: npt.NDArray[np.float32] = (magnitude[:, None] * functional.normalize(direction, dim=1)).detach().numpy()
    return found


def _embedded(weights: Any, magnitude: Any, direction: Any) -> Any:
    """Give unit rows of texts from their sparse weights, with gradients."""
    import torch
    from torch.nn import functional

    ids = torch.from_numpy(weights.indices.astype(np.int64))
    starts = torch.from_numpy(weights.indptr[:-1].astype(np.int64))
    share = torch.from_numpy(weights.data) * magnitude[ids]
    table = functional.normalize(direction, dim=1)
    return functional.normalize(
        functional.embedding_bag(ids, table, starts, mode="sum", per_sample_weights=share), dim=1
    )


def _near(space: npt.NDArray[np.float32], queries: Ids, linked: Ids, count: int, random: np.random.Generator) -> Ids:
    """Give for each query one of its ``count`` nearest rows that it has no link with; a random row where all have."""
    asked, back = np.unique(queries, return_inverse=True)
    _, found = top_k(space[asked], space, count, exclude=asked)
    free: npt.NDArray[np.bool_] = ~_inside(asked[:, None] * len(space) + found, linked)
    # The lowest of random numbers among the free ones: each is as likely.
    luck = np.where(free[back], random.random((len(queries), count)), 2.0)
    chosen: Ids = found[back, luck.argmin(axis=1)]
    none = ~np.asarray(free.any(axis=1))[back]
    chosen[none] = random.integers(len(space), size=int(none.sum()))
    return chosen


def _apart(queries: Ids, rows: Ids, linked: Ids, papers: int) -> npt.NDArray[np.float32]:
    """Give 1 for each row that is a negative of its query, 0 for the query itself and what it has a link with."""
    negative = (queries != rows) & ~_inside(queries * papers + rows, linked)
    return np.asarray(negative, dtype=np.float32)


def _inside(keys: Ids, linked: Ids) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isin(keys, linked))


def _keys(edges: Ids, papers: int) -> Ids:
    return np.unique(edges[:, 0] * papers + edges[:, 1])
