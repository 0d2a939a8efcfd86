"""Simplified graph convolution: features of papers, smoothed over the citation graph; nothing is trained.

Paper: Wu et al., arXiv 1902.07153: ``S^K X`` with ``S = D^-1/2 (A + I) D^-1/2``, A undirected, D the degrees of A + I.
SPECTER (arXiv 2004.07180, table 1) and SciNCL print a row of it, which has the highest score on citations (91.6 MAP):
no text encoder can see the citations of the papers that are judged, a graph convolution that is given them can. Here
the graph is what may be learnt from, so that a test paper keeps its own features unless the recipe is transductive.
Features are latent semantic ones of title and abstract.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.words import unit_rows
from sectioncls.errors import InputError

__all__ = ["smooth_features"]


def smooth_features(features: npt.ArrayLike, edges: npt.ArrayLike, *, rounds: int = 2) -> npt.NDArray[np.float32]:
    """Give ``S^rounds`` times ``features`` (papers, dimensions) at unit length; ``edges`` (m, 2) are pairs of rows.

    Direction, repetition and loops of the edges don't matter. Raises InputError for edges outside the papers.
    """
    from scipy.sparse import coo_array, eye_array

    rows = np.asarray(features, dtype=np.float32)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < len(rows)):
        raise InputError(f"an edge names a paper beyond {len(rows)}", "citations")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = np.concatenate((pairs, pairs[:, ::-1]))
    ones = np.ones(len(both), dtype=np.float32)
    links = coo_array((ones, (both[:, 0], both[:, 1])), shape=(len(rows), len(rows))).tocsr()
    links.data[:] = 1
    links = (links + eye_array(len(rows), dtype=np.float32, format="csr")).tocsr()
    scale = (1 / np.sqrt(np.asarray(links.sum(axis=1)).ravel())).astype(np.float32)[:, None]
    for _ in range(rounds):
        rows = scale * (links @ (scale * rows))
    return unit_rows(rows)
