"""Baselines that are learnt here, from what a recipe may learn from: training papers and citations among them.

============  ========================================================================  =========================
name          what it is                                                                answers
============  ========================================================================  =========================
doc2vec       Doc2Vec (downstream/doc2vec.py; needs gensim)                             all tasks
fasttext      averages of fastText word vectors (downstream/fasttext.py; needs gensim)  all tasks
lsa           latent semantic analysis, what sgc smooths (downstream/latent.py)         all tasks
sgc           simplified graph convolution (downstream/sgc.py)                          all tasks
graph         the citation graph alone (mining/embeddings.py)                           all but search and topics
citeomatic    words learnt from citations (downstream/citeomatic.py)                    all tasks
kanakia       co-citation and TF-IDF (downstream/kanakia.py)                            rankings for query papers
cited         how often a paper is cited, whatever the query: the floor of rankings     rankings for query papers
============  ========================================================================  =========================

With ``transductive`` papers and citations of all splits are learnt from, as the published rows of SGC have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.arrays import Ids
from sectioncls.downstream.citeomatic import train_citeomatic
from sectioncls.downstream.doc2vec import train_doc2vec
from sectioncls.downstream.fasttext import train_fasttext
from sectioncls.downstream.kanakia import hybrid_scorer
from sectioncls.downstream.latent import fit_latent
from sectioncls.downstream.lexical import tfidf
from sectioncls.downstream.retrieve import Scorer
from sectioncls.downstream.sgc import smooth_features
from sectioncls.downstream.words import TextEmbedder, gensim_models
from sectioncls.errors import InputError
from sectioncls.mining.embeddings import embed_graph
from sectioncls.recipes.papers.baselines.answers import Fitted
from sectioncls.recipes.papers.material import Material

__all__ = ["FITTED", "check_fitted", "fit_baseline"]

# Dimensions of the graph's vectors: graphs of some thousands of papers need no more.
_GRAPH = 128


def fit_baseline(name: str, material: Material, seed: int) -> Fitted:
    """Learn the baseline called ``name`` (one of FITTED); everything drawn comes from ``seed``.

    Raises InputError where the set has nothing for it: no words, no citations to learn from.
    """
    return FITTED[name](material, seed)


def check_fitted(names: tuple[str, ...]) -> None:
    """Raise UsageError where one of the names needs a library that is not installed."""
    if {"doc2vec", "fasttext"} & set(names):
        gensim_models()


def _of_text(learn: Callable[[list[str], int], TextEmbedder]) -> Callable[[Material, int], Fitted]:
    def fit(material: Material, seed: int) -> Fitted:
        embed = learn(_learnt(material), seed)
        return Fitted(embed(material.texts), embed, facts={"papers": len(material.rows)})

    return fit


def _sgc(material: Material, seed: int) -> Fitted:
    edges = _citations(material)
    embed = fit_latent(_learnt(material), seed)
    vectors = smooth_features(embed(material.texts), edges)
    return Fitted(vectors, embed, linked=_linked(material, edges), facts={"citations": len(edges)})


def _graph(material: Material, seed: int) -> Fitted:
    graph = material.graph()
    found = embed_graph(graph, seed, method="average", dimensions=_GRAPH)
    vectors = np.zeros((len(material.table), _GRAPH), dtype=np.float32)
    vectors[material.rows] = found
    linked = np.zeros(len(material.table), dtype=np.bool_)
    linked[material.rows[graph.connected()]] = True
    return Fitted(vectors, linked=linked, facts={"citations": graph.edges})


def _citeomatic(material: Material, seed: int) -> Fitted:
    pairs = material.graph().rows()
    embed = train_citeomatic(_learnt(material), pairs, seed)
    return Fitted(embed(material.texts), embed, facts={"papers": len(material.rows), "citations": len(pairs)})


def _kanakia(material: Material, seed: int) -> Fitted:
    edges = _citations(material)
    texts = material.texts
    words = tfidf(texts)
    cited = np.zeros(len(texts), dtype=np.bool_)
    cited[edges[:, 1]] = True

    def rank(rows: Ids) -> Scorer:
        return hybrid_scorer(words([texts[row] for row in rows]), rows, edges, len(texts))

    return Fitted(rank=rank, linked=cited, facts={"citations": len(edges)})


def _cited(material: Material, seed: int) -> Fitted:
    edges = np.unique(_citations(material), axis=0)
    often = np.bincount(edges[:, 1], minlength=len(material.table)).astype(np.float64)
    return Fitted(rank=lambda rows: lambda asked: np.tile(often, (len(asked), 1)), facts={"citations": len(edges)})


def _learnt(material: Material) -> list[str]:
    return [material.texts[row] for row in material.rows]


def _citations(material: Material) -> Ids:
    """Give the citations that may be learnt from, (m, 2) of rows. Raises InputError where there are none."""
    edges = material.papers.citations(*material.learnt_splits)
    if not len(edges):
        raise InputError("no citations to learn from", "graph", "give papers of which some cite others")
    return edges


def _linked(material: Material, edges: Ids) -> npt.NDArray[np.bool_]:
    linked = np.zeros(len(material.table), dtype=np.bool_)
    linked[edges.ravel()] = True
    return linked


FITTED: Mapping[str, Callable[[Material, int], Fitted]] = {
    "doc2vec": _of_text(train_doc2vec),
    "fasttext": _of_text(train_fasttext),
    "lsa": _of_text(fit_latent),
    "sgc": _sgc,
    "graph": _graph,
    "citeomatic": _citeomatic,
    "kanakia": _kanakia,
    "cited": _cited,
}
