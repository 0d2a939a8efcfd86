"""Facets of papers: a vector per paper and role, from the sentences that our section model gives the role."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.lexical import bm25_scorer, tfidf_scorer
from sectioncls.downstream.rank import Judgements, QueryValues, judgements, measured_scores, query_scores
from sectioncls.downstream.retrieve import pair_scores, pair_similarities
from sectioncls.encoders import Encoder, encode
from sectioncls.errors import InputError, ModelError
from sectioncls.papersets import Papers, PaperSet, paper_texts
from sectioncls.predict import SectionModel, load_model
from sectioncls.predict.label import BOX
from sectioncls.recipes.observer import SILENT, Observer
from sectioncls.records import Score
from sectioncls.sentences import split_sentences
from sectioncls.staging import write_json
from sectioncls.vectors.facets import FACET_FILES, FACETS, facets_of
from sectioncls.vectors.index import Index, model_name

__all__ = ["facet_scores", "facet_values", "facet_vectors", "load_roles", "write_facets"]

Floats = npt.NDArray[np.float32]

# Papers whose sentences are held at once.
_CHUNK = 2048

MEASURES = ("map", "ndcg")

RELEVANT_FROM = 2
"""The grade from which a paper answers a query, as CSFCube's authors count."""


def load_roles(folder: str | Path | None = None) -> SectionModel:
    """Give the section model in a folder, the one in the box where none is named.

    Raises ModelError for a model whose labels belong to no facet, and where there is none.
    """
    if folder is None and not BOX.is_dir():
        raise ModelError("this installation carries no section model", todo="name one: --roles FOLDER")
    roles = load_model(folder)
    if not any(facets_of(label) for label in roles.labels):
        labels = ", ".join(roles.labels)
        raise ModelError(f"gives labels of no facet: {labels}", folder, f"facets: {', '.join(FACETS)}")
    return roles


def facet_vectors(
    encoder: Encoder, roles: SectionModel, titles: Sequence[str], sentences: Sequence[Sequence[str]]
) -> tuple[Floats, Floats]:
    """Give the vectors (facets, papers, dimensions) and shares (papers, facets) of papers: titles and sentences.

    Of a facet's sentences the mean is taken, each weighted by the probability that it has a role of the facet, and the
    vector of the title is added, both at unit length: out of their article sentences don't say what they are about. A
    share is the mean probability. Facets stand in the order of FACETS; a paper without sentences has zeros.
    """
    texts = [text for paper in sentences for text in paper]
    counts = np.array([len(paper) for paper in sentences], dtype=np.int64)
    owner = np.repeat(np.arange(len(sentences)), counts)
    weights = _weights(roles, texts, owner, [number for paper in sentences for number in range(len(paper))])
    vectors = encode(encoder, texts, "search", "document")
    sums = np.zeros((len(FACETS), len(sentences), encoder.dimension), dtype=np.float32)
    shares = np.zeros((len(sentences), len(FACETS)), dtype=np.float32)
    np.add.at(shares, owner, weights)
    for facet in range(len(FACETS)):
        np.add.at(sums[facet], owner, weights[:, facet, None] * vectors)
    named = _unit(encode(encoder, titles, "search", "document"))
    both = np.where((shares > 0).T[:, :, None], _unit(sums) + named, np.float32(0))
    shares /= np.maximum(counts, 1)[:, None].astype(np.float32)
    return both, shares


def _weights(roles: SectionModel, texts: Sequence[str], owner: npt.NDArray[np.int64], place: Sequence[int]) -> Floats:
    """Give the probability of every facet for every sentence, (sentences, facets)."""
    chances = roles.probabilities(texts, [str(paper) for paper in owner], place)
    counts = np.array([[facet in facets_of(label) for facet in FACETS] for label in roles.labels], dtype=np.float32)
    return np.asarray(chances @ counts, dtype=np.float32)


def write_facets(
    folder: Path,
    papers: Papers,
    encoder: Encoder,
    roles: SectionModel,
    index: Index,
    *,
    name: str | Path | None = None,
    observer: Observer = SILENT,
) -> None:
    """Write the facets of an index's papers into an empty folder (see vectors/facets.py).

    ``name`` is the folder of the section model ``roles``, None for the one in the box.
    """
    shape = (len(FACETS), len(papers), encoder.dimension)
    dense = np.lib.format.open_memmap(folder / "dense.npy", mode="w+", dtype=np.float32, shape=shape)
    shares = np.zeros((len(papers), len(FACETS)), dtype=np.float32)
    with observer.stage("encoding sentences", len(papers), "papers") as advance:
        for first in range(0, len(papers), _CHUNK):
            abstracts = papers.abstracts[first : first + _CHUNK]
            part = slice(first, first + len(abstracts))
            sentences = [[text[begin:end] for begin, end in split_sentences(text)] for text in abstracts]
            vectors, shares[part] = facet_vectors(encoder, roles, papers.titles[part], sentences)
            dense[:, part] = _unit(vectors) if index.similarity == "cosine" else vectors
            advance(len(abstracts))
    dense.flush()
    with (folder / "shares.npy").open("wb") as stream:
        np.save(stream, shares, allow_pickle=False)
    info = {
        "facets": list(FACETS),
        "labels": {facet: [label for label in roles.labels if facet in facets_of(label)] for facet in FACETS},
        "roles": "" if name is None else model_name(name),
        "papers": index.info["papers"]["fingerprint"],
        "encoder": index.info["encoder"]["fingerprint"],
        "without_sentences": int((shares.sum(axis=1) == 0).sum()),
        "files": list(FACET_FILES),
    }
    write_json(folder / "index.json", info)


def facet_scores(index: Index, papers: PaperSet, *, encoder: str = "", seed: int = 0) -> list[Score]:
    """Give MAP and nDCG of rankings by facet (facet_values), with intervals over queries.

    ``encoder`` names the index's encoder in the rows; ``seed`` is that of the resampling.
    """
    scores: list[Score] = []
    for task, methods in facet_values(index, papers).items():
        for method, values in methods.items():
            like = Score(
                metric="",
                value=float("nan"),
                corpus=papers.name,
                fingerprint=papers.info.fingerprint,
                task=f"facet:{task}",
                encoder="" if method in ("bm25", "tfidf") else encoder,
                method=method,
            )
            scores += query_scores(values, like=like, seed=seed)
    return scores


def facet_values(index: Index, papers: PaperSet) -> dict[str, dict[str, QueryValues]]:
    """Give {task: {method: value of each query}} of rankings by facet.

    The tasks are those of the set that bear a facet's name; each ranks the judged candidates of its query papers. The
    methods: ``bm25`` and ``tfidf`` of the whole texts, ``whole`` (vectors of title and abstract), ``facet`` (vectors of
    the facet), ``fused`` and ``related`` (what ``related`` gives without the facet and with it).

    Paper: arXiv 2103.12906 (CSFCube). Raises InputError for a set without such a task, or an index without facets.
    """
    table = papers.papers()
    texts = paper_texts(table)
    tasks = [task for task in papers.ranking_tasks() if task in FACETS]
    if not tasks or index.facets is None:
        raise InputError("has no ranking by facet" if not tasks else "has no facets", papers.path)
    found: dict[str, dict[str, QueryValues]] = {}
    for task in tasks:
        qrels = papers.qrels(task)
        judged = judgements(qrels.query_ids.tolist(), qrels.paper_rows, qrels.scores, table.ids)
        rows = np.array([index.row_of(query) for query in judged.query_ids], dtype=np.int64)
        asked, facet = rows[judged.query], index.facets.vectors(task)
        words = [texts[row] for row in rows]
        lists = {
            "bm25": pair_scores(bm25_scorer(words, texts), judged.query, judged.document, len(texts)),
            "tfidf": pair_scores(tfidf_scorer(words, texts), judged.query, judged.document, len(texts)),
            "whole": _nearness(index.dense, asked, judged, index),
            "facet": _nearness(facet, asked, judged, index),
            "fused": _as_found(index, judged, None),
            "related": _as_found(index, judged, task),
        }
        found[task] = {
            method: measured_scores(judged, scores, MEASURES, relevant_from=RELEVANT_FROM)
            for method, scores in lists.items()
        }
    return found


def _nearness(
    vectors: Floats, asked: npt.NDArray[np.int64], judged: Judgements, index: Index
) -> npt.NDArray[np.float64]:
    """Give how near the judged candidates are to the ``asked`` papers by some vectors of the index."""
    return pair_similarities(vectors, vectors, asked, judged.document, index.similarity)


def _as_found(index: Index, judged: Judgements, facet: str | None) -> npt.NDArray[np.float64]:
    """Give the score of every judged pair as ``related`` ranks the candidates; 0 for one that it does not find."""
    found = np.zeros(len(judged))
    for number, query in enumerate(judged.query_ids):
        places = np.flatnonzero(judged.query == number)
        among = judged.document[places]
        scores = {hit.id: hit.score for hit in index.related(query, len(index), facet=facet, among=among)}
        found[places] = [scores.get(index.ids[row], 0.0) for row in among]
    return found


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), np.float32(1e-12))
    return unit
