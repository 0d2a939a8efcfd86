"""InfoNCE over in-batch and hard negatives: each query's positive against all other candidates of the batch.

Papers: arXiv 2305.14232 (SciMult), section 3.2, whose loss is that of arXiv 2004.04906 (DPR), equation 2: the softmax
runs over the positives and hard negatives of all queries of the batch. A row is an *occurrence* of a text: ``text``
(B,) tells which text it is, ``group`` (B,) the number of its triple, ``role`` (B,) what it is there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

__all__ = ["NEGATIVE", "POSITIVE", "QUERY", "Known", "infonce_loss", "known_pairs"]

QUERY, POSITIVE, NEGATIVE = 0, 1, 2
"""What an occurrence is in its triple: the values of ``role``."""


class Known(NamedTuple):
    """Pairs of texts that are query and positive somewhere, in the batch or not: ``keys`` (p,) ascend."""

    keys: Tensor
    texts: int


def known_pairs(query: npt.ArrayLike, positive: npt.ArrayLike, texts: int) -> Known:
    """Give the pairs (query[i], positive[i]) of text numbers below ``texts``, for infonce_loss."""
    keys = np.asarray(query, dtype=np.int64) * texts + np.asarray(positive, dtype=np.int64)
    return Known(torch.from_numpy(np.unique(keys)), texts)


def infonce_loss(
    vectors: Tensor,
    text: Tensor,
    group: Tensor,
    role: Tensor,
    temperature: float = 1.0,
    *,
    known: Known | None = None,
    log_q: Tensor | None = None,
) -> Tensor:
    """Give the mean over queries of ``−log(e^{s(q,p)/τ} / Σ_c e^{s(q,c)/τ})``, s the dot product.

    ``vectors`` is (B, dim) in any float type (computed in float32 at least). The candidates c of a query are the
    positives and negatives of all groups, except its own text and its other positives: those of the batch, and the
    ``known`` ones. These are left out, never pushed away; so is a second occurrence of its positive. A group has one
    query and one positive. A query without a candidate but its positive has the loss zero; without a query the loss is
    zero with a graph.

    Batches hold frequent texts more often as negatives, so that scores learn to discount them. ``log_q`` (texts,), the
    logarithm of how often each text is a candidate, is taken off its scores while learning: what is learnt then is how
    likely a text is, not how much likelier than usual. Paper: Yi et al., RecSys 2019, equation 3.
    """
    with torch.autocast(vectors.device.type, enabled=False):
        rows = vectors.float() if vectors.dtype in (torch.bfloat16, torch.float16) else vectors
        queries, candidates = (role == QUERY).nonzero().squeeze(1), (role != QUERY).nonzero().squeeze(1)
        if not len(queries):
            return 0 * rows.sum()
        scores = (rows[queries] @ rows[candidates].T) / temperature
        if log_q is not None:
            scores = scores - log_q.to(scores)[text[candidates]]
        own = (group[queries][:, None] == group[candidates][None, :]) & (role[candidates] == POSITIVE)
        left_out = _positives(text, group, role, queries, candidates, known)
        left_out |= text[queries][:, None] == text[candidates][None, :]
        scores = scores.masked_fill(left_out & ~own, -torch.inf)
        return (torch.logsumexp(scores, dim=1) - scores[own]).mean()


def _positives(
    text: Tensor, group: Tensor, role: Tensor, queries: Tensor, candidates: Tensor, known: Known | None
) -> Tensor:
    """Say which candidates are positives of which queries, (queries, candidates)."""
    texts = int(text.max()) + 1 if known is None else known.texts
    pairs = text[queries][:, None] * texts + text[candidates][None, :]
    positives = (role == POSITIVE).nonzero().squeeze(1)
    # The query of each positive: both sorted by group stand side by side.
    asking = queries[torch.argsort(group[queries])]
    asked = positives[torch.argsort(group[positives])]
    found = torch.isin(pairs, text[asking] * texts + text[asked])
    if known is not None and len(known.keys):
        keys = known.keys.to(pairs.device)
        places = torch.searchsorted(keys, pairs).clamp_max(len(keys) - 1)
        found |= keys[places] == pairs
    return found
