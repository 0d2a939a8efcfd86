"""A hybrid of co-citation and text that ranks papers, in the way of Microsoft Academic's recommender.

Paper: Kanakia et al., arXiv 1905.08880: a number of co-citations becomes a similarity by a sigmoid, texts are compared
by a cosine, and the two lists are merged by those similarities. Differences: the cosine is of TF-IDF weights, not of
averaged word vectors inside clusters; a paper in both lists keeps the higher of its two similarities; slope and offset
of the sigmoid are settings, not fitted to users' judgements.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.retrieve import Scorer
from sectioncls.errors import InputError

__all__ = ["hybrid_scorer"]


def hybrid_scorer(
    text: Scorer, rows: Ids, edges: npt.ArrayLike, papers: int, *, slope: float = 0.4, offset: float = 5.0
) -> Scorer:
    """Give a scorer of queries, which are the papers ``rows``, against all ``papers``: the higher of two similarities.

    ``text`` scores the same queries by text. ``edges`` (m, 2) are rows, the first cites the second. Papers that n
    others cite together have the similarity 1 / (1 + exp(slope · (offset - n))); without a common citation text alone
    decides. Raises InputError for edges outside the papers.
    """
    from scipy.sparse import coo_array

    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < papers):
        raise InputError(f"a citation names a paper beyond {papers}", "citations")
    ones = np.ones(len(pairs), dtype=np.float32)
    cites = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(papers, papers)).tocsr()
    cites.data[:] = 1
    cited = cites.T.tocsr()

    def scores(asked: Ids) -> npt.NDArray[np.float64]:
        together = (cited[rows[asked]] @ cites).toarray()
        strength = 1 / (1 + np.exp(slope * (offset - together.astype(np.float64))))
        words = np.asarray(text(asked), dtype=np.float64)
        return np.where(together > 0, np.maximum(strength, words), words)

    return scores
